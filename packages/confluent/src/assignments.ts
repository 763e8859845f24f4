import { Assignments, type HeldPartition } from "@cdckit/driver";
import type { MessageBatch } from "./message-batch.ts";

/** A partition that this member holds, and what the client does with it. */
export interface Held extends HeldPartition<MessageBatch> {
  /** The offset of the next record or later, as far as batches were taken from the client; -1 until the start is known. */
  next: number;
  /** The last record below `next` that came since the partition was moved, and its leader epoch; null if none has, or if it does not say it. */
  last: { readonly offset: number; readonly leaderEpoch: number } | null;
  /** The offset from which the client fetches it when it gets it. */
  placedFrom: number;
  /** The client fetches it. */
  isPlaced: boolean;
  /** In how many of librdkafka's last reports in a row it has stopped fetching by itself. */
  stoppedReports: number;
  /** Enough of it waits: the client does not fetch more of it. */
  isHeld: boolean;
  /** The consumer is not ready for the next batch. */
  isAtWork: boolean;
  aheadBytes: number;
}

/** The partitions that this member holds. A rebalance takes and gives only those that move. */
export type HeldPartitions = Assignments<Held>;

export function heldPartitions(): HeldPartitions {
  return new Assignments<Held>({
    hold: (held, old) => ({
      ...held,
      next: -1,
      last: null,
      placedFrom: -1,
      isPlaced: old?.isPlaced ?? false,
      stoppedReports: 0,
      isHeld: false,
      isAtWork: false,
      aheadBytes: 0,
    }),
    positionOf: ({ next }) => (next < 0 ? null : BigInt(next)),
  });
}
