import type { Place } from "@cdckit/driver";

/**
 * The transactional id of a group's partition. It begins with the name of the group and a dot, which is what users are given a right to. No other
 * partition of any group has the same one: two of the same id would fence each other off. Names of groups and of topics have dots, so that `a` and
 * `b.c` must not be taken for `a.b` and `c`. A colon, which no topic has in its name, tells where the name of a group with dots ends. Without dots it
 * needs none, and has none: an id that changes does not fence off the member of before.
 */
export function transactionalIdOf(groupId: string, { topic, partition }: Place): string {
  return `${groupId}.${groupId.includes(".") ? ":" : ""}${topic}.${partition}`;
}
