import type { PartitionAssignment } from "@cdckit/consumer";
import { Assignments, type HeldPartition } from "@cdckit/driver";
import type { RecordSetReader } from "@cdckit/record-batch";
import type { ReadReplica } from "./read-replica.ts";

/** What one fetch has brought of a partition. */
export interface Fetched {
  readonly sets: RecordSetReader<PartitionAssignment>;
  readonly byteLength: number;
  /** Null if the headers of its batches cannot be right. Nothing is fetched ahead then. */
  readonly end: bigint | null;
  /** It may be handed over: its topic was checked, and what reading it needs is loaded. */
  isReady: boolean;
}

/** From this offset on, what was handed over was written in this leader epoch; -1 if that is not known. */
export interface EpochStart {
  readonly from: bigint;
  readonly epoch: number;
}

/** A partition that this member holds, and how far it was read. */
export interface Held extends HeldPartition<Fetched> {
  /** The offset after what was handed over; -1 until the start is known. */
  next: bigint;
  /** The offset at which the next fetch begins. */
  fetchFrom: bigint;
  /** The leader epoch of the last batch before `fetchFrom`; -1 if it is not known. */
  lastEpoch: number;
  /** The leader epochs of what was handed over. A new one begins when the leader moves. */
  epochs: EpochStart[];
  /** A fetch of it is under way. */
  isFetching: boolean;
  /** The consumer is not ready for the next batch. */
  isAtWork: boolean;
  /** No fetch before this time, because the last one has failed. */
  retryAtMs: number;
  /** How often the batch at `next` could not be read. */
  failedReads: number;
  /** At least so many bytes of it are asked for. */
  neededBytes: number;
  /** Null if it is read from its leader. */
  readReplica: ReadReplica | null;
  /** Until this time it is read from its leader alone. */
  leaderOnlyUntilMs: number;
}

/** The partitions that this member holds. A rebalance takes and gives only those that move. */
export type HeldPartitions = Assignments<Held>;

export function heldPartitions(): HeldPartitions {
  return new Assignments<Held>({
    hold: (held) => ({
      ...held,
      next: -1n,
      fetchFrom: -1n,
      lastEpoch: -1,
      epochs: [],
      isFetching: false,
      isAtWork: false,
      retryAtMs: 0,
      failedReads: 0,
      neededBytes: 0,
      readReplica: null,
      leaderOnlyUntilMs: 0,
    }),
    positionOf: ({ next }) => (next < 0n ? null : next),
  });
}

/** How many fetched bytes of it wait for the consumer. */
export function aheadBytes({ ahead }: Held): number {
  return ahead.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/** The partition goes on at this offset, and whatever was fetched of it is forgotten. `epoch`: of the record before it, if that is known. */
export function placeAt(held: Held, offset: bigint, epoch = -1): void {
  held.ahead.length = 0;
  held.next = offset;
  held.fetchFrom = offset;
  held.lastEpoch = epoch;
  held.epochs = [{ from: offset - 1n, epoch }];
}

/** Everything below this offset is handed over. `epoch`: of the record before it. */
export function advanceTo(held: Held, offset: bigint, epoch: number): void {
  if (held.epochs.at(-1)?.epoch !== epoch) {
    held.epochs.push({ from: held.next, epoch });
  }
  held.next = offset;
}

/**
 * The leader epoch of the record before an offset; -1 if it is not known. Between two leaders it may be that of the second one, if what was handed
 * over at once is of both. A fetch that names a later epoch than that of its record is refused only if the log has lost that epoch.
 */
export function epochBefore({ epochs }: Held, offset: bigint): number {
  return epochs.findLast(({ from }) => from < offset)?.epoch ?? -1;
}
