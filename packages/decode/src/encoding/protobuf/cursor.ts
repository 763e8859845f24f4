/**
 * The primitives of Protobuf's binary encoding, for generated readers and for closures.
 *
 * Each function gets the position `p` and the end `e` of what it may read, and never reads at or after `e`. A function that returns a value
 * leaves the position after it in `Cursor.p`. The caller must take that position before it calls anything: a conversion may decode another
 * message with the same cursor.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import { minMeteredBytes, addCost, addRereadCost, costOf } from "./cost.ts";

/** What the functions of one reader share. */
export class Cursor {
  /** The position after the value that was read last. */
  p = 0;
  /** The cost of this message so far. Its limit is `maxCost`. */
  cost = 0;
  maxCost = 0;
  /** The first text keys that this message's maps had. See `addPairCost`. */
  keys: Set<string> | null = null;
  readonly maxDepth: number;
  readonly maxCostPerByte: number;
  readonly minMeteredBytes: number;
  readonly scratch: Uint8Array = new Uint8Array(8);
  readonly scratchView: DataView = new DataView(this.scratch.buffer);

  constructor(limits: Pick<ResolvedLimits, "maxDepth" | "maxCostPerByte">, minBytes: number = minMeteredBytes) {
    this.maxDepth = limits.maxDepth;
    this.maxCostPerByte = limits.maxCostPerByte;
    this.minMeteredBytes = minBytes;
  }
}

/** The wire types: the low three bits of a tag. */
export const wire = { varint: 0, eight: 1, length: 2, groupStart: 3, groupEnd: 4, four: 5 } as const;

// Positions are checked against `e` before each `b[p]!` below, so those elements are never undefined.

/** The length of the longest varint that is valid. */
const maxVarintBytes = 10;

/** A field's number and wire type. */
export function readTag(at: Cursor, b: Uint8Array, p: number, e: number): number {
  let tag = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (shift === 28 && byte > 0x0f) {
      break;
    }
    tag |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      at.p = p;
      tag >>>= 0;
      if (tag < 8) {
        throw malformed("a field with the number 0");
      }
      return tag;
    }
  }
  throw malformed("a tag of more than 32 bits");
}

/** The number of the next field, without moving the position. 0 if the bytes end before the tag does. */
export function peekNumber(b: Uint8Array, p: number, e: number): number {
  let tag = 0;
  for (let shift = 0; shift < 35 && p < e; shift += 7) {
    const byte = b[p++]!;
    tag |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      return tag >>> 3;
    }
  }
  return 0;
}

/** The low 32 bits of a varint, signed. */
export function readInt32(at: Cursor, b: Uint8Array, p: number, e: number): number {
  let bits = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    bits |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      at.p = p;
      return bits;
    }
  }
  at.p = skipVarintRest(b, p, e, maxVarintBytes - 5); // a negative int32 is written as a varint of 64 bits
  return bits;
}

export function readUint32(at: Cursor, b: Uint8Array, p: number, e: number): number {
  return readInt32(at, b, p, e) >>> 0;
}

export function readSint32(at: Cursor, b: Uint8Array, p: number, e: number): number {
  const bits = readInt32(at, b, p, e);
  return (bits >>> 1) ^ -(bits & 1);
}

export function readBool(at: Cursor, b: Uint8Array, p: number, e: number): boolean {
  const end = skipVarint(b, p, e);
  at.p = end;
  for (; p < end; p++) {
    if ((b[p]! & 0x7f) !== 0) {
      return true;
    }
  }
  return false;
}

/**
 * A varint is read as `high * 2**28 + low`, with 28 bits in `low`. If `high` is below 2**25, the sum is below 2**53, so a double holds it
 * exactly.
 */
const safeHigh = 0x200_0000;
const halfRange = 0x1000_0000;

/** A varint of 64 bits in two's complement. The result is a number if a double holds it exactly, otherwise a bigint. */
export function readInt64(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  const positive = readSafe(at, b, p, e);
  if (positive >= 0) {
    return positive;
  }
  readLongest(at, b, p, e);
  const { low, high } = longest;
  const value = high * wordRange + low;
  return isSafe(value) ? value : bigSigned(low, high);
}

export function readUint64(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  const value = readSafe(at, b, p, e);
  if (value >= 0) {
    return value;
  }
  readLongest(at, b, p, e);
  const { low, high } = longest;
  return high >= 0 && high < safeWord ? high * wordRange + low : BigInt.asUintN(64, bigSigned(low, high));
}

/**
 * A varint of 64 bits in zig-zag: the lowest bit is the sign. A negative value was written as `-2 * value - 1`, so it is read as `-(bits +
 * 1) / 2`.
 */
export function readSint64(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  const bits = readSafe(at, b, p, e);
  if (bits >= 0) {
    return bits % 2 === 0 ? bits / 2 : -(bits + 1) / 2;
  }
  readLongest(at, b, p, e);
  const sign = -(longest.low & 1);
  const low = (((longest.low >>> 1) | (longest.high << 31)) ^ sign) >>> 0;
  const high = (longest.high >>> 1) ^ sign;
  const value = high * wordRange + low;
  return isSafe(value) ? value : bigSigned(low, high);
}

/**
 * Reads a varint that a double holds exactly, or returns -1 and reads nothing if it is longer. The steps are written out instead of a loop:
 * the timestamps of CDC events are six bytes each. Seven bits a byte go into `low` (four bytes, 28 bits), the next ones into `high`,
 * because bit operations take 32 bits. Eight bytes must be there, so that no step has to check for the end.
 */
function readSafe(at: Cursor, b: Uint8Array, p: number, e: number): number {
  if (e - p < 8) {
    return readSafeWatched(at, b, p, e);
  }
  let byte = b[p]!;
  let low = byte & 0x7f;
  if (byte < 0x80) {
    at.p = p + 1;
    return low;
  }
  byte = b[p + 1]!;
  low |= (byte & 0x7f) << 7;
  if (byte < 0x80) {
    at.p = p + 2;
    return low;
  }
  byte = b[p + 2]!;
  low |= (byte & 0x7f) << 14;
  if (byte < 0x80) {
    at.p = p + 3;
    return low;
  }
  byte = b[p + 3]!;
  low |= (byte & 0x7f) << 21;
  if (byte < 0x80) {
    at.p = p + 4;
    return low;
  }
  return readSafeHigh(at, b, p + 4, low);
}

function readSafeHigh(at: Cursor, b: Uint8Array, p: number, low: number): number {
  let byte = b[p]!;
  let high = byte & 0x7f;
  if (byte < 0x80) {
    at.p = p + 1;
    return high * halfRange + low;
  }
  byte = b[p + 1]!;
  high |= (byte & 0x7f) << 7;
  if (byte < 0x80) {
    at.p = p + 2;
    return high * halfRange + low;
  }
  byte = b[p + 2]!;
  high |= (byte & 0x7f) << 14;
  if (byte < 0x80) {
    at.p = p + 3;
    return high * halfRange + low;
  }
  byte = b[p + 3]!;
  high |= (byte & 0x7f) << 21;
  if (byte >= 0x80 || high >= safeHigh) {
    return -1;
  }
  at.p = p + 4;
  return high * halfRange + low;
}

/** Reads the same varint near the end of the message, and checks for the end at every byte. */
function readSafeWatched(at: Cursor, b: Uint8Array, p: number, e: number): number {
  let value = 0;
  let scale = 1;
  for (let length = 1; length <= 7; length++) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) {
      at.p = p;
      return value;
    }
    scale *= 128;
  }
  return -1;
}

const wordRange = 0x1_0000_0000;
/** A number of 64 bits is `high * 2**32 + low`. If `high` is below 2**21, a double holds the number exactly. */
const safeWord = 0x20_0000;

/**
 * The words of the varint that `readLongest` read last: `low` is unsigned, `high` is signed. One object for all, so that none is allocated.
 */
const longest = { low: 0, high: 0 };
const wide = new DataView(new ArrayBuffer(8));

/**
 * Reads a varint of up to 64 bits into `longest`, and checks for the end at every byte. JavaScript shifts 32 bits at most, so the ten
 * groups of seven bits go into three words: bytes 0-3 into `low` (28 bits), bytes 4-7 into `middle` (28), bytes 8-9 into `high` (8). Then
 * the low 4 bits of `middle` complete the low 32 bits, and the rest of it and `high` make the high 32 bits. The tenth byte may hold one bit
 * only.
 */
function readLongest(at: Cursor, b: Uint8Array, p: number, e: number): void {
  let low = 0;
  let middle = 0;
  let high = 0;
  for (let i = 0; i < maxVarintBytes; i++) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (i < 4) {
      low |= (byte & 0x7f) << (i * 7);
    } else if (i < 8) {
      middle |= (byte & 0x7f) << (i * 7 - 28);
    } else if (i === 8 || byte <= 1) {
      high |= (byte & 0x7f) << (i * 7 - 56);
    } else {
      break;
    }
    if (byte < 0x80) {
      at.p = p;
      longest.low = (low | (middle << 28)) >>> 0;
      longest.high = (middle >>> 4) | (high << 24);
      return;
    }
  }
  throw malformed("a varint of more than 64 bits");
}

/** Makes one bigint. Shifts and additions of bigints would make five. */
function bigSigned(low: number, high: number): bigint {
  wide.setUint32(0, low, true);
  wide.setInt32(4, high, true);
  return wide.getBigInt64(0, true);
}

function isSafe(value: number): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

export function readFixed32(at: Cursor, b: Uint8Array, p: number, e: number): number {
  return readSfixed32(at, b, p, e) >>> 0;
}

export function readSfixed32(at: Cursor, b: Uint8Array, p: number, e: number): number {
  if (e - p < 4) {
    throw truncated();
  }
  at.p = p + 4;
  return b[p]! | (b[p + 1]! << 8) | (b[p + 2]! << 16) | (b[p + 3]! << 24);
}

export function readFixed64(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  const low = readFixed32(at, b, p, e);
  const high = readFixed32(at, b, p + 4, e);
  return high < safeWord ? high * wordRange + low : BigInt.asUintN(64, bigSigned(low, high | 0));
}

export function readSfixed64(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  const low = readFixed32(at, b, p, e);
  const high = readSfixed32(at, b, p + 4, e);
  const value = high * wordRange + low;
  return isSafe(value) ? value : bigSigned(low, high);
}

export function readFloat(at: Cursor, b: Uint8Array, p: number, e: number): number {
  if (e - p < 4) {
    throw truncated();
  }
  const scratch = at.scratch;
  scratch[0] = b[p]!;
  scratch[1] = b[p + 1]!;
  scratch[2] = b[p + 2]!;
  scratch[3] = b[p + 3]!;
  at.p = p + 4;
  return at.scratchView.getFloat32(0, true);
}

export function readDouble(at: Cursor, b: Uint8Array, p: number, e: number): number {
  if (e - p < 8) {
    throw truncated();
  }
  const scratch = at.scratch;
  for (let i = 0; i < 8; i++) {
    scratch[i] = b[p + i]!;
  }
  at.p = p + 8;
  return at.scratchView.getFloat64(0, true);
}

/** The end of the content whose length stands at `p`. All of the content is there. Its start is left in `Cursor.p`. */
export function readEnd(at: Cursor, b: Uint8Array, p: number, e: number): number {
  const length = readUint64(at, b, p, e);
  if (length > e - at.p) {
    throw truncated();
  }
  return at.p + (length as number); // a length that is not above `e - at.p` is a number, not a bigint
}

/** The position after a varint of at most 64 bits. */
function skipVarint(b: Uint8Array, p: number, e: number): number {
  return skipVarintRest(b, p, e, maxVarintBytes);
}

function skipVarintRest(b: Uint8Array, p: number, e: number, max: number): number {
  for (let left = max; left > 0; left--) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (byte < 0x80 && (left > 1 || byte <= 1)) {
      return p;
    }
  }
  throw malformed("a varint of more than 64 bits");
}

/** The position after a field's value, whose tag `tag` was read before. */
export function skipField(at: Cursor, b: Uint8Array, p: number, e: number, tag: number): number {
  switch (tag & 7) {
    case wire.varint:
      return skipVarint(b, p, e);
    case wire.eight:
      return skipBytes(p, e, 8);
    case wire.length:
      return readEnd(at, b, p, e);
    case wire.groupStart:
      groupEnd(at, b, p, e, tag);
      return at.p;
    case wire.four:
      return skipBytes(p, e, 4);
    case wire.groupEnd:
      throw malformed("the end of a group that did not begin");
    default:
      throw malformed("a wire type that does not exist");
  }
}

function skipBytes(p: number, e: number, count: number): number {
  if (e - p < count) {
    throw truncated();
  }
  return p + count;
}

/** The end of the content of the group that begins at `p`. The position after its end tag is left in `Cursor.p`. */
export function groupEnd(at: Cursor, b: Uint8Array, p: number, e: number, startTag: number): number {
  const open = [startTag];
  const from = p;
  for (;;) {
    const end = p;
    const tag = readTag(at, b, p, e);
    p = at.p;
    if ((tag & 7) === wire.groupStart) {
      open.push(tag);
      if (open.length > at.maxDepth) {
        throw tooDeep(at);
      }
    } else if ((tag & 7) !== wire.groupEnd) {
      p = skipField(at, b, p, e, tag);
    } else if (open.pop() !== tag - 1) {
      throw malformed("the end of a group that is not the innermost one");
    } else if (open.length === 0) {
      addRereadCost(at, end - from);
      at.p = p;
      return end;
    }
  }
}

const noBytes = Buffer.alloc(0); // shared: an empty Buffer has no bytes that a caller could change

/** Copies bytes into a Buffer of their own, and adds the cost of that. */
export function takeBytes(at: Cursor, b: Uint8Array, start: number, end: number): Buffer {
  const length = end - start;
  if (length === 0) {
    return noBytes;
  }
  addCost(at, costOf.buffer);
  const copy = Buffer.allocUnsafe(length);
  if (length > 32) {
    copy.set(b.subarray(start, end));
    return copy;
  }
  for (let i = 0; i < length; i++) {
    copy[i] = b[start + i]!;
  }
  return copy;
}

export function truncated(): DecodeError {
  return new DecodeError(
    "truncated",
    "expected more bytes of the Protobuf message, found its end; check whether it was cut, or written with another schema",
  );
}

export function malformed(found: string): DecodeError {
  return new DecodeError(
    "malformed",
    `expected a valid Protobuf message, found ${found}; check whether it was written with another schema`,
  );
}

export function missingField(): DecodeError {
  return malformed("no value of a field that its schema requires");
}

export function tooDeep(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected messages nested at most ${at.maxDepth} deep, found deeper ones; raise limits.maxDepth if they are valid`,
  );
}
