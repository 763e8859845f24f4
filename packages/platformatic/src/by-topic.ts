import type { Place } from "@cdckit/driver";
import { listIn } from "./list-in.ts";

/** Partitions by their topics, as requests name them. */
export function byTopic(places: readonly Place[]): readonly { readonly name: string; readonly partitions: readonly number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of places) {
    listIn(topics, topic).push(partition);
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}
