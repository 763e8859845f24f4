import type { Place } from "@cdckit/driver";

/** Partitions by their topics, as requests name them. */
export function byTopic(places: readonly Place[]): readonly { readonly name: string; readonly partitions: readonly number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of places) {
    const partitions = topics.get(topic) ?? [];
    topics.set(topic, partitions);
    partitions.push(partition);
  }
  return [...topics].map(([name, partitions]) => ({ name, partitions }));
}
