import { compressionOf } from "./compressions.ts";
import { crc32 } from "./crc32.ts";
import { crcMismatch, malformed, unsupportedMagic } from "./errors.ts";

/**
 * Message => offset int64, messageSize int32, crc uint32, magic int8, attributes int8, timestamp int64 (in format 1), keyLength int32, key,
 * valueLength int32, value. A length of -1 is null. messageSize counts what follows it, and the checksum is a CRC-32 of everything after it.
 * The magic stands where a record batch has it. https://kafka.apache.org/documentation/#messageset
 */
const at = { offset: 0, size: 8, crc: 12, magic: 16, attributes: 17, timestampOrKey: 18 } as const;

/** Bytes of a message before its size begins to count. */
const uncountedBytes = 12;

const compressionMask = 0x07;
const logAppendTimeFlag = 0x08;

/** Kafka has zstd since format 2 alone. */
const messageCompressions = ["none", "gzip", "snappy", "lz4"] as const;

/** The time of a message that has none, as Kafka's clients say it. */
const noTimestamp = -1n;

/** Bytes in which messages stand one after another. */
export interface MessageBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** One message of format 0 or 1. */
export interface Message {
  /** Of a compressed message: that of the last message inside. */
  readonly offset: bigint;
  readonly format: 0 | 1;
  readonly compression: (typeof messageCompressions)[number];
  /** The broker has set the time. In a compressed message, it is that of every message inside. */
  readonly isLogAppendTime: boolean;
  /** -1 in format 0. */
  readonly timestamp: bigint;
  /** Where it stands. The positions are in these. */
  readonly bytes: Uint8Array;
  readonly keyStart: number;
  /** -1 if there is no key. */
  readonly keyLength: number;
  readonly valueStart: number;
  /** -1 if there is no value. */
  readonly valueLength: number;
  readonly end: number;
}

/** Whether a message of format 0 or 1 stands at `start`, and no record batch. The caller has checked that the bytes reach to the magic. */
export function isMessage(view: DataView, start: number): boolean {
  return isMessageFormat(view.getInt8(start + at.magic));
}

/** The fewest bytes that a message of this format takes: an offset, a size, and fields without a key and a value. */
export function minMessageBytes(format: number): number {
  return format === 0 ? 26 : 34;
}

/** Where the message at `start` ends, as it says itself. Null if there is none, if it is not whole, or if it has a size that no message can have. */
export function endOfMessage(view: DataView, start: number): number | null {
  const left = view.byteLength - start;
  if (left < minMessageBytes(0) || !isMessage(view, start)) {
    return null;
  }
  const bytes = view.getInt32(start + at.size) + uncountedBytes;
  return bytes < minMessageBytes(view.getInt8(start + at.magic)) || bytes > left ? null : start + bytes;
}

/** The offset of the message at `start`. The caller has checked that the bytes reach beyond it. */
export function offsetOfMessage(view: DataView, start: number): bigint {
  return view.getBigInt64(start + at.offset);
}

/** Whether the message at `start` is compressed. The caller has checked that the bytes reach to its attributes. */
export function isCompressedMessage(view: DataView, start: number): boolean {
  return (view.getInt8(start + at.attributes) & compressionMask) !== 0;
}

/** Whether the checksum of the message is that of its bytes. */
export function isMessageIntact({ bytes, view }: MessageBytes, start: number, end: number): boolean {
  return crc32(bytes, start + at.magic, end) === view.getUint32(start + at.crc);
}

/** Reads the message at `start`, and trusts nothing in it. */
export function readMessage(source: MessageBytes, start: number, checkCrcs: boolean): Message {
  const { bytes, view } = source;
  const end = start + sizeOfMessage(view, start);
  if (checkCrcs) {
    checkCrc(source, start, end); // before anything that it covers is read
  }
  const format = view.getInt8(start + at.magic) === 0 ? 0 : 1;
  const attributes = view.getInt8(start + at.attributes);
  const keyAt = start + at.timestampOrKey + (format === 0 ? 0 : 8);
  const keyLength = lengthAt(view, keyAt, end, "the key of a message");
  const valueAt = keyAt + 4 + Math.max(0, keyLength);
  const valueLength = lengthAt(view, valueAt, end, "the value of a message");
  const valueStart = valueAt + 4;
  const fieldsEnd = valueStart + Math.max(0, valueLength);
  if (fieldsEnd !== end) {
    throw malformed("the length of a message", `${fieldsEnd - start} bytes, as its fields take`, end - start);
  }
  return {
    offset: offsetOfMessage(view, start),
    format,
    compression: compressionOf(attributes & compressionMask, messageCompressions),
    isLogAppendTime: format === 1 && (attributes & logAppendTimeFlag) !== 0,
    timestamp: format === 0 ? noTimestamp : view.getBigInt64(start + at.timestampOrKey),
    bytes,
    keyStart: keyAt + 4,
    keyLength,
    valueStart,
    valueLength,
    end,
  };
}

function isMessageFormat(magic: number): boolean {
  return magic === 0 || magic === 1;
}

/** How many bytes the message takes, as it says itself. */
function sizeOfMessage(view: DataView, start: number): number {
  const left = view.byteLength - start;
  if (left < minMessageBytes(0)) {
    throw malformed("the bytes of a message", `at least ${minMessageBytes(0)}`, left);
  }
  const magic = view.getInt8(start + at.magic);
  if (!isMessageFormat(magic)) {
    throw unsupportedMagic("0 or 1", magic);
  }
  const bytes = view.getInt32(start + at.size) + uncountedBytes;
  if (bytes < minMessageBytes(magic) || bytes > left) {
    throw malformed("the length of a message", `${minMessageBytes(magic)} to ${left} bytes`, bytes);
  }
  return bytes;
}

function checkCrc(source: MessageBytes, start: number, end: number): void {
  if (!isMessageIntact(source, start, end)) {
    throw crcMismatch(source.view.getUint32(start + at.crc), crc32(source.bytes, start + at.magic, end));
  }
}

/** The length of a key or a value, which must end at `end` or before. -1 if it is null. */
function lengthAt(view: DataView, position: number, end: number, what: string): number {
  const left = end - position - 4;
  if (left < 0) {
    throw malformed(what, "a length of 4 bytes", "the end of the message");
  }
  const length = view.getInt32(position);
  if (length < -1 || length > left) {
    throw malformed(what, `-1 to ${left} bytes`, length);
  }
  return length;
}
