import type { Admin } from "kafkajs";

/** What a group has committed of a topic, by partition; those without a commit are left out. */
export async function committedOffsets(admin: Admin, groupId: string, topic: string): Promise<ReadonlyMap<number, bigint>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const committed = found?.partitions.filter(({ offset }) => offset !== "-1") ?? [];
  return new Map(committed.map(({ partition, offset }) => [partition, BigInt(offset)]));
}
