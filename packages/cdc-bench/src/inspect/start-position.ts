import { InvalidArgumentError } from "commander";
import type { Cluster, PartitionExtent, TopicExtent } from "../load/cluster.ts";
import { refuseMissingPartitions } from "../offsets/missing-partitions.ts";
import { planOffsets } from "../offsets/offset-plan.ts";
import { type OffsetTarget, parseOffsetTarget } from "../offsets/offset-target.ts";

/** Where the reading of each partition begins: at what `offsets --reset` takes, or so many offsets before the end. */
export type InspectStart = OffsetTarget | { readonly kind: "last"; readonly offsets: bigint };

/**
 * `earliest`, `latest`, `-20` (the last 20 offsets of each partition), an offset, a time in ISO 8601, or so long ago (`2h`).
 * @throws InvalidArgumentError for anything else
 */
export function parseInspectStart(text: string, nowMs: () => number = Date.now): InspectStart {
  if (/^-[1-9]\d{0,17}$/.test(text)) {
    return { kind: "last", offsets: BigInt(text.slice(1)) };
  }
  try {
    return parseOffsetTarget(text, nowMs);
  } catch {
    throw new InvalidArgumentError(
      "It must be earliest, latest, -20 (the last 20 offsets of each partition), an offset, a time such as 2026-11-22T08:00:00Z, or a time back such as 2h.",
    );
  }
}

/** What of a topic is read: each partition from its start on. A partition that was not chosen starts at its end. */
export async function selectExtent(
  cluster: Pick<Cluster, "offsetsAt">,
  extent: TopicExtent,
  start: InspectStart,
  chosen: readonly number[],
): Promise<TopicExtent> {
  const { topic, partitions } = extent;
  refuseMissingPartitions(topic, partitions, chosen);
  const isChosen = ({ partition }: PartitionExtent): boolean => chosen.length === 0 || chosen.includes(partition);
  const starts = await startsOf(cluster, topic, partitions.filter(isChosen), start);
  const moved = partitions.map((one) => ({ ...one, startOffset: starts.get(one.partition) ?? one.endOffset }));
  return { topic, partitions: moved, maxRecords: moved.reduce((sum, { startOffset, endOffset }) => sum + endOffset - startOffset, 0n) };
}

async function startsOf(
  cluster: Pick<Cluster, "offsetsAt">,
  topic: string,
  partitions: readonly PartitionExtent[],
  start: InspectStart,
): Promise<ReadonlyMap<number, bigint>> {
  if (start.kind === "last") {
    return new Map(partitions.map((one) => [one.partition, beforeEnd(one, start.offsets)]));
  }
  const byTime = start.kind === "time" ? await cluster.offsetsAt(topic, start.timestampMs) : new Map<number, bigint>();
  const positions = partitions.map((one) => ({ topic, ...one, stableOffset: one.endOffset, committed: null }));
  const planned = planOffsets(positions, start, ({ partition, endOffset }) => {
    const found = byTime.get(partition) ?? endOffset;
    // Records may have been written since the end was asked for.
    return found < endOffset ? found : endOffset;
  });
  return new Map(planned.map(({ partition, next }) => [partition, next]));
}

/** Not in records: compaction and transactions leave offsets without them. */
function beforeEnd({ startOffset, endOffset }: PartitionExtent, offsets: bigint): bigint {
  const offset = endOffset - offsets;
  return offset > startOffset ? offset : startOffset;
}
