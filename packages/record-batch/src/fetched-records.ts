/** The types of what goes in: what one Fetch response holds of one partition. */

/** A transaction that was aborted, as a Fetch response with the isolation level `read_committed` lists it. */
export interface AbortedTransaction {
  /** The id of the producer, which its record batches name. */
  readonly producerId: bigint;
  /** The offset of its first record in this partition. It may be below the offset that was asked for. */
  readonly firstOffset: bigint;
}

/**
 * What one Fetch response holds of one partition. `Assignment` is whatever the driver wants to find again at each {@link RecordSet}: the
 * assignment for which it fetched.
 */
export interface FetchedRecords<Assignment = unknown> {
  /** The name of the topic, for errors. */
  readonly topic: string;
  /** The number of the partition, from 0, for errors. */
  readonly partition: number;
  /** The driver's own, which each record set gets as it is. */
  readonly assignment: Assignment;
  /**
   * Record batches as the broker sent them, one after another. The last one may be incomplete. The bytes are not copied: they must stay as
   * they are for as long as a record set, or an event that was decoded from it, is in use.
   */
  readonly bytes: Uint8Array;
  /** The offset that was asked for. Brokers send whole batches: records below this offset are left out. */
  readonly fromOffset: bigint;
  /**
   * As the response lists them, in any order. Empty if it lists none, and with the isolation level `read_uncommitted`. The list is complete
   * for the offsets of its response, so nothing needs to be remembered from one response to the next.
   */
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** The offset after the partition's last readable record. */
  readonly highWatermark: bigint | null;
}
