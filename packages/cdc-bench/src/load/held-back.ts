import type { TopicExtent } from "./cluster.ts";

/** What of a topic nobody reads yet, because transactions are open. */
export interface HeldBack {
  readonly topic: string;
  /** Offsets between the last stable offset and the high watermark. Those of markers are among them, and of other producers. */
  readonly offsets: bigint;
  readonly partitions: readonly number[];
}

/**
 * What is behind the ends of these extents, which are last stable offsets. A high watermark that is asked for afterwards may also be above one of
 * them because records were written meanwhile. So the ends are asked for once more: where one has not moved, a transaction is open.
 */
export async function findHeldBack(
  extents: readonly TopicExtent[],
  askHighs: (topics: readonly string[]) => Promise<ReadonlyMap<string, ReadonlyMap<number, bigint>>>,
  askAgain: (topics: readonly string[]) => Promise<readonly TopicExtent[]>,
): Promise<readonly HeldBack[]> {
  const highs = await askHighs(extents.map(({ topic }) => topic));
  const behind = ({ topic, partitions }: TopicExtent): ReadonlyMap<number, bigint> =>
    new Map(
      partitions
        .map(({ partition, endOffset }) => [partition, (highs.get(topic)?.get(partition) ?? endOffset) - endOffset] as const)
        .filter(([, offsets]) => offsets > 0n),
    );
  const suspects = extents.filter((extent) => behind(extent).size > 0);
  if (suspects.length === 0) {
    return [];
  }
  const later = new Map((await askAgain(suspects.map(({ topic }) => topic))).map((extent) => [extent.topic, endsOf(extent)]));
  return suspects.flatMap((extent) => {
    const { topic } = extent;
    const ends = endsOf(extent);
    const open = [...behind(extent)].filter(([partition]) => later.get(topic)?.get(partition) === ends.get(partition));
    return open.length === 0
      ? []
      : [{ topic, offsets: open.reduce((sum, [, offsets]) => sum + offsets, 0n), partitions: open.map(([partition]) => partition) }];
  });
}

/** What open transactions hold back behind the ends of these extents: a sentence without its full stop for each topic that has one, by topic. */
export async function heldBackNotes(
  cluster: { heldBackOf(extents: readonly TopicExtent[]): Promise<readonly HeldBack[]> },
  extents: readonly TopicExtent[],
): Promise<ReadonlyMap<string, string>> {
  return new Map((await cluster.heldBackOf(extents)).map((held) => [held.topic, heldBackNote(held)]));
}

/** In one sentence. */
export function heldBackNote({ topic, offsets, partitions }: HeldBack): string {
  const count = `${offsets.toLocaleString("en-US")} offset${offsets === 1n ? "" : "s"}`;
  const where = `partition${partitions.length === 1 ? "" : "s"} ${partitions.join(", ")}`;
  return `${topic}: an open transaction holds back ${count} of ${where}: they are read after it ends, by its producer or by its transaction.timeout.ms`;
}

function endsOf({ partitions }: TopicExtent): ReadonlyMap<number, bigint> {
  return new Map(partitions.map(({ partition, endOffset }) => [partition, endOffset]));
}
