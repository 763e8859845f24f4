import { malformed, RecordBatchError } from "./errors.ts";

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

/** Bytes of a batch before `batchLength` begins to count. The length of the oldest message formats counts from the same place. */
const uncountedBytes = 12;

/** Where the bytes begin that the checksum is made of, from the start of the batch. */
export const checkedFrom: number = at.attributes;

/** How many bytes the header takes. */
export const headerBytes: number = at.records;

/** Compressions by their number in the attributes. */
export const compressionNames = ["none", "gzip", "snappy", "lz4", "zstd"] as const;

const compressionMask = 0x07;
const logAppendTimeFlag = 0x08;
const transactionalFlag = 0x10;
const controlFlag = 0x20;

/** The offset after the last record must be an offset, too. */
const maxOffset = 2n ** 63n - 1n;

/** The compression of the batch at `start`. Undefined if its header is not whole, or names none that exists. */
export function compressionAt(view: DataView, start: number): (typeof compressionNames)[number] | undefined {
  return start + headerBytes <= view.byteLength ? compressionNames[view.getInt16(start + at.attributes) & compressionMask] : undefined;
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
 * How many bytes the batch at `start` takes, as it says itself. Null if the bytes end before it says so. A length that no batch can have, and
 * a message format that is not read, are errors.
 */
export function sizeOfBatch(view: DataView, start: number): number | null {
  if (view.byteLength - start < at.crc) {
    return null;
  }
  checkMagic(view.getInt8(start + at.magic));
  const bytes = view.getInt32(start + at.batchLength) + uncountedBytes;
  if (bytes < headerBytes) {
    throw malformed("its length", `at least ${headerBytes} bytes`, bytes);
  }
  return bytes;
}

/** The first offset of the batch at `start`. Null if the bytes end before it. */
export function baseOffsetAt(view: DataView, start: number): bigint | null {
  return view.byteLength - start < 8 ? null : view.getBigInt64(start + at.baseOffset);
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
  for (let start = 0; view.byteLength - start >= headerBytes; ) {
    const bytes = view.getInt32(start + at.batchLength) + uncountedBytes;
    const lastOffsetDelta = view.getInt32(start + at.lastOffsetDelta);
    const lastOffset = view.getBigInt64(start + at.baseOffset) + BigInt(lastOffsetDelta);
    const canBe = view.getInt8(start + at.magic) === 2 && bytes >= headerBytes && lastOffsetDelta >= 0 && lastOffset < maxOffset;
    if (!canBe || bytes > view.byteLength - start || !isIntact(start, start + bytes)) {
      break;
    }
    if (lastOffset >= (end?.nextOffset ?? fromOffset)) {
      end = { nextOffset: lastOffset + 1n, leaderEpoch: leaderEpochOf(view.getInt32(start + at.partitionLeaderEpoch)) };
    }
    start += bytes;
  }
  return end;
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
    compression: compressionOf(attributes),
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

function checkMagic(magic: number): void {
  if (magic === 2) {
    return;
  }
  const detail =
    magic === 0 || magic === 1
      ? `it is written in message format ${magic}, from before Kafka 0.11, and only format 2 is read. Write the topic again with Kafka 0.11 or newer, or start after these records`
      : `expected message format 2, found ${magic}. Fetch it again. If it stays so, the log on the broker is damaged, or its Kafka is newer than this package`;
  throw new RecordBatchError("unsupported-magic", detail, { expected: 2, found: magic });
}

function compressionOf(attributes: number): (typeof compressionNames)[number] {
  const code = attributes & compressionMask;
  const name = compressionNames[code];
  if (name === undefined) {
    throw new RecordBatchError(
      "unsupported-compression",
      `expected one of the compressions 0 to ${compressionNames.length - 1}, found ${code}. Use a newer version of this package, or another compression in the producer`,
      { expected: `0 to ${compressionNames.length - 1}`, found: code },
    );
  }
  return name;
}
