/** Where the headers of a record batch say what is needed to fetch on. `packages/record-batch` reads and checks all of it. */
const at = { batchLength: 8, leaderEpoch: 12, magic: 16, lastOffsetDelta: 23 } as const;
const uncountedBytes = 12;
const headerBytes = 61;

/** The end of the last whole record batch. */
export interface BatchesEnd {
  /** The offset after it. */
  readonly nextOffset: bigint;
  readonly leaderEpoch: number;
}

/**
 * The end of the whole record batches, read from their headers alone: the next fetch is sent before these batches are decompressed and checked.
 * Null if there is none, or if a header cannot be right.
 */
export function batchesEnd(bytes: Buffer): BatchesEnd | null {
  let end: BatchesEnd | null = null;
  for (let start = 0; start + headerBytes <= bytes.length; ) {
    const length = bytes.readInt32BE(start + at.batchLength) + uncountedBytes;
    const lastOffsetDelta = bytes.readInt32BE(start + at.lastOffsetDelta);
    if (bytes[start + at.magic] !== 2 || length < headerBytes || lastOffsetDelta < 0) {
      return null;
    }
    if (start + length > bytes.length) {
      break;
    }
    end = {
      nextOffset: bytes.readBigInt64BE(start) + BigInt(lastOffsetDelta) + 1n,
      leaderEpoch: bytes.readInt32BE(start + at.leaderEpoch),
    };
    start += length;
  }
  return end;
}
