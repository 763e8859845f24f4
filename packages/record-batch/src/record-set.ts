import type { RecordBatch, RecordWalk } from "@cdckit/decode";

/**
 * The records of consecutive record batches of one partition, in offset order. They are checked and decompressed, and the records that a
 * consumer must not see are left out. It has what the consumer's port asks of a `FetchedBatch`. A set may have no records: control batches,
 * aborted transactions and gaps of compaction move `nextOffset` alone.
 */
export interface RecordSet<Assignment = unknown> extends RecordBatch {
  /** The driver's own, of the response that it came from. */
  readonly assignment: Assignment;
  /** Starts before the first record. Every call starts a new walk, which makes neither an object nor a slice for a record. It never throws. */
  walk(): RecordWalk;
  /** How many records the walk gives. */
  readonly recordCount: number;
  /** The bytes of its record batches after decompression. */
  readonly byteLength: number;
  /** The bytes of its record batches as they were fetched, before decompression. */
  readonly wireBytes: number;
  /** The offset after the last record batch, whatever was left out of it. The next set begins here. */
  readonly nextOffset: bigint;
  /** The offset after the partition's last readable record, as the response said it; null if it did not. */
  readonly highWatermark: bigint | null;
  /** The leader epoch in which the last batch was written. Null if the batch does not say it. */
  readonly lastLeaderEpoch: number | null;
  /** The leader epoch in which the record's batch was written. Null if the batch does not say it. */
  leaderEpochAt(record: number): number | null;
}
