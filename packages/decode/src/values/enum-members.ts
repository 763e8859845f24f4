import type { Conversion } from "./conversion.ts";

/**
 * A column of Debezium's Enum, whose schema lists its members with commas between; a comma inside of a member is `\,` there. Null if no member
 * has one. MySQL and MariaDB log a member's number, and Debezium looks it up in that list: a change has `a\, b` where the snapshot has `a, b`. As
 * they stand, a delete by such a key would not find the row of the snapshot.
 */
export function enumConversion(allowed: string | undefined): Conversion | null {
  const escaped = (allowed ?? "").split(/(?<!\\),/).filter((member) => member.includes("\\,"));
  const members = new Map(escaped.map((member) => [member, member.replaceAll("\\,", ",")]));
  return members.size === 0 ? null : { text: (text) => members.get(text) ?? text };
}
