import { compressionNames, compressionOf } from "./compressions.ts";
import { malformed, unsupportedMagic } from "./errors.ts";
import { endOfMessage, isCompressedMessage, isMessage, minMessageBytes } from "./message.ts";

/**
 * RecordBatch => baseOffset int64, batchLength int32, partitionLeaderEpoch int32, magic int8, crc uint32, attributes int16, lastOffsetDelta
 * int32, baseTimestamp int64, maxTimestamp int64, producerId int64, producerEpoch int16, baseSequence int32, recordCount int32, records.
 * batchLength counts what follows it, and the checksum is that of everything after it.
 * https://kafka.apache.org/documentation/#recordbatch
 */
const at = {
  baseOffset: 0,
  batchLength: 8,
  partitionLeaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  recordCount: 57,
  records: 61,
} as const;

/** Bytes of a batch before `batchLength` begins to count. The size of a message of format 0 or 1 stands in the same place, and counts from there, too. */
const uncountedBytes = 12;

/** Where the bytes begin that the checksum is made of, from the start of the batch. */
export const checkedFrom: number = at.attributes;

/** How many bytes the header takes. */
export const headerBytes: number = at.records;

const compressionMask = 0x07;
const logAppendTimeFlag = 0x08;
const transactionalFlag = 0x10;
const controlFlag = 0x20;

/** The offset after the last record must be an offset, too. */
export const maxOffset: bigint = 2n ** 63n - 1n;

/** The compression of the record batch at `start`. Undefined if its header is not whole, names none that exists, or is one of a message. */
export function compressionAt(view: DataView, start: number): (typeof compressionNames)[number] | undefined {
  const isComplete = start + headerBytes <= view.byteLength && !isMessage(view, start);
  return isComplete ? compressionNames[view.getInt16(start + at.attributes) & compressionMask] : undefined;
}

export interface BatchHeader {
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly lastOffsetDelta: number;
  /** -1 if the batch does not say it. */
  readonly leaderEpoch: number;
  readonly compression: (typeof compressionNames)[number];
  /** The broker has set the time: `maxTimestamp` is that of every record. */
  readonly isLogAppendTime: boolean;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
  readonly baseTimestamp: bigint;
  readonly maxTimestamp: bigint;
  readonly producerId: bigint;
  readonly recordCount: number;
}

/**
 * How many bytes the batch at `start` takes, as it says itself; or the message, if one of format 0 or 1 stands there. Null if the bytes end before it
 * says so. A length that it cannot have, and a message format that does not exist, are errors.
 */
export function sizeOfBatch(view: DataView, start: number): number | null {
  if (view.byteLength - start < at.crc) {
    return null;
  }
  const bytes = view.getInt32(start + at.batchLength) + uncountedBytes;
  const minBytes = minBytesOf(view.getInt8(start + at.magic));
  if (bytes < minBytes) {
    throw malformed("its length", `at least ${minBytes} bytes`, bytes);
  }
  return bytes;
}

/**
 * The first offset of the batch at `start`, or of the message. Null if the bytes end before it, and for a compressed message, which names only its last
 * offset.
 */
export function baseOffsetAt(view: DataView, start: number): bigint | null {
  const left = view.byteLength - start;
  const isUnnamed = left >= minMessageBytes(0) && isMessage(view, start) && isCompressedMessage(view, start);
  return left < 8 || isUnnamed ? null : view.getBigInt64(start + at.baseOffset);
}

/** The checksum that the batch at `start` says it has. The caller has checked that the batch is whole. */
export function crcAt(view: DataView, start: number): number {
  return view.getUint32(start + at.crc);
}

/** The end of the last whole batch of a response, by what the headers say. */
export interface BatchesEnd {
  /** The offset after it. */
  readonly nextOffset: bigint;
  /** Null if the batch does not say it. */
  readonly leaderEpoch: number | null;
}

/**
 * The end of the last whole batch whose header can be. It comes before the first batch that `isIntact` does not accept. Null if there is none, or
 * if it ends at `fromOffset` or below: whoever goes on there reads what it has read before.
 */
export function endOfBatches(
  view: DataView,
  fromOffset: bigint,
  isIntact: (start: number, end: number) => boolean = () => true,
): BatchesEnd | null {
  let end: BatchesEnd | null = null;
  let start = 0;
  for (let batch = extentAt(view, start); batch !== null && isIntact(start, start + batch.bytes); batch = extentAt(view, start)) {
    if (batch.lastOffset >= (end?.nextOffset ?? fromOffset)) {
      end = { nextOffset: batch.lastOffset + 1n, leaderEpoch: batch.leaderEpoch };
    }
    start += batch.bytes;
  }
  return end;
}

/** What a batch takes of the bytes, and of the log. */
interface Extent {
  readonly bytes: number;
  readonly lastOffset: bigint;
  readonly leaderEpoch: number | null;
}

/** That of the batch at `start`, or of the message. Null if it is not whole, or if its header cannot be. */
function extentAt(view: DataView, start: number): Extent | null {
  const messageEnd = endOfMessage(view, start);
  const extent =
    messageEnd === null
      ? batchExtent(view, start)
      : { bytes: messageEnd - start, lastOffset: view.getBigInt64(start + at.baseOffset), leaderEpoch: null };
  return extent !== null && extent.lastOffset < maxOffset ? extent : null;
}

function batchExtent(view: DataView, start: number): Extent | null {
  const left = view.byteLength - start;
  if (left < headerBytes || view.getInt8(start + at.magic) !== 2) {
    return null;
  }
  const bytes = view.getInt32(start + at.batchLength) + uncountedBytes;
  const lastOffsetDelta = view.getInt32(start + at.lastOffsetDelta);
  if (bytes < headerBytes || bytes > left || lastOffsetDelta < 0) {
    return null;
  }
  const lastOffset = view.getBigInt64(start + at.baseOffset) + BigInt(lastOffsetDelta);
  return { bytes, lastOffset, leaderEpoch: leaderEpochOf(view.getInt32(start + at.partitionLeaderEpoch)) };
}

/** The epoch as a batch has it, which is below zero if the batch does not say it. */
export function leaderEpochOf(epoch: number): number | null {
  return epoch < 0 ? null : epoch;
}

/** Reads the header. The caller has checked that the batch is whole. */
export function readHeader(view: DataView, start: number): BatchHeader {
  const attributes = view.getInt16(start + at.attributes);
  const baseOffset = view.getBigInt64(start + at.baseOffset);
  const lastOffsetDelta = view.getInt32(start + at.lastOffsetDelta);
  return {
    baseOffset,
    lastOffset: baseOffset + BigInt(lastOffsetDelta),
    lastOffsetDelta,
    leaderEpoch: view.getInt32(start + at.partitionLeaderEpoch),
    compression: compressionOf(attributes & compressionMask, compressionNames),
    isLogAppendTime: (attributes & logAppendTimeFlag) !== 0,
    isTransactional: (attributes & transactionalFlag) !== 0,
    isControl: (attributes & controlFlag) !== 0,
    baseTimestamp: view.getBigInt64(start + at.baseTimestamp),
    maxTimestamp: view.getBigInt64(start + at.maxTimestamp),
    producerId: view.getBigInt64(start + at.producerId),
    recordCount: view.getInt32(start + at.recordCount),
  };
}

/** Checks what the header says of itself. `minOffset` is the offset after the batch before it. */
export function checkHeader({ baseOffset, lastOffset, lastOffsetDelta, recordCount }: BatchHeader, minOffset: bigint): void {
  if (baseOffset < minOffset) {
    throw malformed("its first offset", `${minOffset} or higher`, baseOffset);
  }
  if (lastOffsetDelta < 0 || lastOffset >= maxOffset) {
    throw malformed("its last offset", `${baseOffset} to ${maxOffset}`, lastOffset);
  }
  if (recordCount < 0 || recordCount > lastOffsetDelta + 1) {
    throw malformed("its number of records", `0 to ${lastOffsetDelta + 1}`, recordCount);
  }
}

/** The fewest bytes that a batch of this message format takes. */
function minBytesOf(magic: number): number {
  if (magic === 2) {
    return headerBytes;
  }
  if (magic === 0 || magic === 1) {
    return minMessageBytes(magic);
  }
  throw unsupportedMagic("0 to 2", magic);
}
