/**
 * The records of one batch in decompressed bytes. A record's handle is its position in the bytes of its segment, and `firstHandle` before it:
 * the segments of a set stand one after another as if they were one array of bytes.
 */
export interface Segment {
  /** They end where the records end. */
  readonly bytes: Uint8Array;
  /** Where the first record begins that was asked for. */
  readonly start: number;
  readonly firstHandle: number;
  readonly baseOffset: bigint;
  /** Null if the batch does not say it. */
  readonly leaderEpoch: number | null;
  readonly baseTimestamp: bigint;
  /** The time of every record, if the broker has set it. */
  readonly logAppendTime: bigint | null;
}

/** The segment in which a record with this handle lies. `segments` is not empty. */
export function segmentOf(segments: readonly Segment[], handle: number): Segment {
  let low = 0;
  let high = segments.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((segments[middle] as Segment).firstHandle <= handle) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return segments[low] as Segment; // within bounds: low is never above the last index
}
