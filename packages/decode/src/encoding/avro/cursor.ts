/**
 * The primitives of Avro's binary encoding, for generated readers and for closures alike.
 *
 * Each takes the position `p` and the end `e` of what may be read, and never reads at or beyond `e`. What gives a value leaves the
 * position behind it in `Cursor.p`, where the caller takes it before it calls anything else: a conversion may decode another message.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { TextCache } from "../text-cache.ts";

/** What the functions of one reader share. */
export class Cursor {
  /** Behind the value that was read last. */
  p = 0;
  /** Where the block that was opened last must end, or -1 where it does not say. */
  blockEnd = -1;
  /** Values of no bytes in this message so far. */
  zeroByteItems = 0;
  /** What the items of collections cost in this message so far, and may cost. */
  cost = 0;
  maxCost = 0;
  readonly maxZeroByteItems: number;
  readonly maxDepth: number;
  readonly maxCostPerByte: number;
  readonly texts: TextCache;
  readonly scratch: Uint8Array = new Uint8Array(8);
  readonly scratchView: DataView = new DataView(this.scratch.buffer);

  constructor(limits: Pick<ResolvedLimits, "maxZeroByteItems" | "maxDepth" | "maxCostPerByte">, texts: TextCache) {
    this.texts = texts;
    this.maxZeroByteItems = limits.maxZeroByteItems;
    this.maxDepth = limits.maxDepth;
    this.maxCostPerByte = limits.maxCostPerByte;
  }
}

// A position below `e` is inside the bytes, so the element reads below are never undefined.

/** A zig-zag varint of at most 32 bits. */
export function readInt(at: Cursor, b: Uint8Array, p: number, e: number): number {
  let bits = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    bits |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      at.p = p;
      return (bits >>> 1) ^ -(bits & 1);
    }
  }
  if (p >= e) {
    throw truncated();
  }
  const last = b[p++]!;
  if (last > 0x0f) {
    throw malformed("an int of more than 32 bits");
  }
  bits |= last << 28;
  at.p = p;
  return (bits >>> 1) ^ -(bits & 1);
}

/** A zig-zag varint of at most 64 bits: a number where that is exact, a bigint else. */
export function readLong(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  if (e - p < maxVarintBytes) {
    return readLongWatched(at, b, p, e);
  }
  // 28 bits a half: shifts stay in 32-bit integers, and the halves meet in a double. Written out, as timestamps are eight bytes each.
  let byte = b[p]!;
  let low = byte & 0x7f;
  if (byte < 0x80) {
    at.p = p + 1;
    return (low >>> 1) ^ -(low & 1);
  }
  byte = b[p + 1]!;
  low |= (byte & 0x7f) << 7;
  if (byte < 0x80) {
    at.p = p + 2;
    return (low >>> 1) ^ -(low & 1);
  }
  byte = b[p + 2]!;
  low |= (byte & 0x7f) << 14;
  if (byte < 0x80) {
    at.p = p + 3;
    return (low >>> 1) ^ -(low & 1);
  }
  byte = b[p + 3]!;
  low |= (byte & 0x7f) << 21;
  if (byte < 0x80) {
    at.p = p + 4;
    return (low >>> 1) ^ -(low & 1);
  }
  return readHighHalf(at, b, p + 4, e, low);
}

function readHighHalf(at: Cursor, b: Uint8Array, p: number, e: number, low: number): number | bigint {
  let byte = b[p]!;
  let high = byte & 0x7f;
  if (byte < 0x80) {
    at.p = p + 1;
    return zigZag(low, high);
  }
  byte = b[p + 1]!;
  high |= (byte & 0x7f) << 7;
  if (byte < 0x80) {
    at.p = p + 2;
    return zigZag(low, high);
  }
  byte = b[p + 2]!;
  high |= (byte & 0x7f) << 14;
  if (byte < 0x80) {
    at.p = p + 3;
    return zigZag(low, high);
  }
  byte = b[p + 3]!;
  high |= (byte & 0x7f) << 21;
  if (byte < 0x80) {
    at.p = p + 4;
    return high < safeHigh ? zigZag(low, high) : exactLong(low, high, 0);
  }
  return readLongest(at, b, p + 4, e, low, high);
}

/** The longest varint that is no error. */
const maxVarintBytes = 10;

/** The same near the end, watching for it at every byte. */
function readLongWatched(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 56; shift += 7) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (shift < 28) {
      low |= (byte & 0x7f) << shift;
    } else {
      high |= (byte & 0x7f) << (shift - 28);
    }
    if (byte < 0x80) {
      at.p = p;
      return exactLong(low, high, 0);
    }
  }
  return readLongest(at, b, p, e, low, high);
}

/** Below this, the high half leaves a magnitude that a double holds exactly: 27 bits of the low half, 26 of this. */
const safeHigh = 0x400_0000;

function zigZag(low: number, high: number): number | bigint {
  const magnitude = high * 0x800_0000 + (low >>> 1);
  if ((low & 1) === 0) {
    return magnitude;
  }
  return magnitude === Number.MAX_SAFE_INTEGER ? -0x20_0000_0000_0000n : -magnitude - 1;
}

function readLongest(at: Cursor, b: Uint8Array, p: number, e: number, low: number, high: number): number | bigint {
  let top = 0;
  for (let shift = 0; shift < 14; shift += 7) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (shift === 7 && byte > 1) {
      throw malformed("a long of more than 64 bits");
    }
    top |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  at.p = p;
  return exactLong(low, high, top);
}

function exactLong(low: number, high: number, top: number): number | bigint {
  if (top === 0 && high < safeHigh) {
    return zigZag(low, high); // padded with bytes that say nothing
  }
  const bits = (BigInt(top) << 56n) | (BigInt(high) << 28n) | BigInt(low);
  return (bits & 1n) === 0n ? bits >> 1n : -(bits >> 1n) - 1n;
}

/** The position behind a varint of at most 32 bits. */
export function skipInt(b: Uint8Array, p: number, e: number): number {
  for (let length = 1; length <= 5; length++) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (byte < 0x80 && (length < 5 || byte <= 0x0f)) {
      return p;
    }
  }
  throw malformed("an int of more than 32 bits");
}

/**
 * The position behind a varint of at most 64 bits. Bytes are looked at together: a bit that all of them have says that none is the last.
 */
export function skipLong(b: Uint8Array, p: number, e: number): number {
  if (e - p < 8) {
    return skipLongWatched(b, p, e, maxVarintBytes);
  }
  if ((b[p]! & b[p + 1]! & b[p + 2]! & b[p + 3]!) < 0x80) {
    return b[p]! < 0x80 ? p + 1 : b[p + 1]! < 0x80 ? p + 2 : b[p + 2]! < 0x80 ? p + 3 : p + 4;
  }
  if ((b[p + 4]! & b[p + 5]! & b[p + 6]! & b[p + 7]!) < 0x80) {
    return b[p + 4]! < 0x80 ? p + 5 : b[p + 5]! < 0x80 ? p + 6 : b[p + 6]! < 0x80 ? p + 7 : p + 8;
  }
  return skipLongWatched(b, p + 8, e, maxVarintBytes - 8);
}

/** The same near the end, watching for it at every byte; `max` of them are left. */
function skipLongWatched(b: Uint8Array, p: number, e: number, max: number): number {
  for (let left = max; left > 0; left--) {
    if (p >= e) {
      throw truncated();
    }
    const byte = b[p++]!;
    if (byte < 0x80 && (left > 1 || byte <= 1)) {
      return p;
    }
  }
  throw malformed("a long of more than 64 bits");
}

/** The length of a string or of bytes, which are there. */
export function readLength(at: Cursor, b: Uint8Array, p: number, e: number): number {
  const length = readLong(at, b, p, e);
  if (length < 0) {
    throw malformed("a negative length");
  }
  if (length > e - at.p) {
    throw truncated();
  }
  return length as number; // not above a number
}

/** Which branch of a union, or which symbol of an enum. */
export function readIndex(at: Cursor, b: Uint8Array, p: number, e: number, count: number): number {
  const index = readLong(at, b, p, e);
  if (index < 0 || index >= count) {
    throw malformed(`a branch or symbol other than the ${count} of the schema`);
  }
  return index as number; // below a number
}

/**
 * Opens a block of an array or a map: how many items follow, 0 behind the last. `minBytes` is the least that an item takes; where that is
 * nothing, the items are bounded by what the message has left of its budget. `cost` is what each of them costs at least.
 */
export function openBlock(at: Cursor, b: Uint8Array, p: number, e: number, minBytes: number, cost: number): number {
  let count = readLong(at, b, p, e);
  let position = at.p;
  at.blockEnd = -1;
  if (count < 0) {
    count = -count; // of a bigint too: it has no least value that cannot be negated
    const size = readLength(at, b, position, e);
    position = at.p;
    at.blockEnd = position + size;
  }
  if (minBytes > 0) {
    if (count > (e - position) / minBytes) {
      throw truncated();
    }
  } else if (count > at.maxZeroByteItems - at.zeroByteItems) {
    throw tooManyItems(at);
  }
  const known = count as number; // bounded by one
  addCost(at, blockCost + known * cost);
  return known;
}

/** Meters the values of a message that holds several, before the first is read. */
export function openSequence(at: Cursor, length: number, count: number, minBytes: number): void {
  if (count * minBytes > length) {
    throw truncated();
  }
  if (minBytes === 0) {
    countZeroBytes(at, count);
  }
  addCost(at, count * rowCost);
}

/** A row's object, its place in the list, and the event that it becomes. What is in its columns is as wide as its schema. */
const rowCost = 200;

/** Checks that a block that stated its size had it. */
export function closeBlock(blockEnd: number, p: number): void {
  if (blockEnd >= 0 && blockEnd !== p) {
    throw malformed("a block of another size than it states");
  }
}

/** How many items the first block has, or -1 where it has many: a glance, before anything is read. */
export function peekCount(b: Uint8Array, p: number, e: number): number {
  let bits = 0;
  for (let shift = 0; shift < 28 && p < e; shift += 7) {
    const byte = b[p++]!;
    bits |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      return Math.abs((bits >>> 1) ^ -(bits & 1));
    }
  }
  return -1;
}

/** Takes values of no bytes from the message's budget. */
export function countZeroBytes(at: Cursor, count: number): void {
  at.zeroByteItems += count;
  if (at.zeroByteItems > at.maxZeroByteItems) {
    throw tooManyItems(at);
  }
}

/** What the items of a message of `length` bytes may cost. */
export function costBudget(at: Cursor, length: number): number {
  return at.maxCostPerByte * Math.max(length, minMeteredBytes);
}

const minMeteredBytes = 1_048_576;

/** Takes what values cost from the message's budget. */
export function addCost(at: Cursor, cost: number): void {
  at.cost += cost;
  if (at.cost > at.maxCost) {
    throw new DecodeError(
      "limit-exceeded",
      `the arrays and maps of the message cost more than ${at.maxCostPerByte} ns for each of its bytes: they hold more values of next to no bytes than any message should; was it written with another schema? Raise limits.maxCostPerByte if not`,
    );
  }
}

/**
 * Takes what long bytes cost beyond the usual where something is made of them. Making a decimal's text takes longer with the square of its
 * length, up to the longest that is read; all else takes less.
 */
export function addLongCost(at: Cursor, length: number): void {
  if (length > shortBytes) {
    const squared = Math.min(length, maxDecimalBytes) ** 2;
    addCost(at, squared * squareCost);
  }
}

const shortBytes = 64;
const maxDecimalBytes = 416;
const squareCost = 0.2;

/** What it takes to open a block, metered as its items are. */
const blockCost = 90;

/**
 * Takes what the entries of a block of a map cost beyond the usual, behind `before` others. Few maps have thousands of keys: those are kept
 * in a table that grows, and each key in one of the whole runtime.
 */
export function addEntriesCost(at: Cursor, before: number, count: number): void {
  if (before + count > manyEntries) {
    addCost(at, count * manyEntriesCost);
  }
}

const manyEntries = 1_000;
const manyEntriesCost = 1_100;

/** A first block's items, whose number is known. */
export function listOf(count: number): unknown[] {
  return count > maxPlaces ? [] : new Array<unknown>(count);
}

/** Lists of more items grow with them: the runtime keeps very large ones that start empty in a slow table. */
const maxPlaces = 4_194_304;

export function readFloat(at: Cursor, b: Uint8Array, p: number): number {
  const scratch = at.scratch;
  scratch[0] = b[p]!;
  scratch[1] = b[p + 1]!;
  scratch[2] = b[p + 2]!;
  scratch[3] = b[p + 3]!;
  return at.scratchView.getFloat32(0, true);
}

export function readDouble(at: Cursor, b: Uint8Array, p: number): number {
  const scratch = at.scratch;
  for (let i = 0; i < 8; i++) {
    scratch[i] = b[p + i]!;
  }
  return at.scratchView.getFloat64(0, true);
}

const noBytes = Buffer.alloc(0); // one for all: there is nothing in it to change

/** A Buffer of its own. */
export function copyBytes(b: Uint8Array, start: number, end: number): Buffer {
  const length = end - start;
  if (length === 0) {
    return noBytes;
  }
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

/** Whether these bytes are those: a length that differs is the cheap and usual answer. */
export function sameBytes(expected: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  if (end - start !== expected.length) {
    return false;
  }
  for (let i = 0; i < expected.length; i++) {
    if (expected[i] !== b[start + i]) {
      return false;
    }
  }
  return true;
}

export function truncated(): DecodeError {
  return new DecodeError("truncated", "expected more bytes of the Avro value; was the message cut, or written with another schema?");
}

export function trailing(): DecodeError {
  return new DecodeError("trailing-bytes", "the Avro value ends before its bytes do; was the message written with another schema?");
}

export function malformed(found: string): DecodeError {
  return new DecodeError("malformed", `found ${found} in the Avro value; was the message written with another schema?`);
}

export function tooDeep(at: Cursor): DecodeError {
  return new DecodeError("limit-exceeded", `values are nested deeper than ${at.maxDepth}; raise limits.maxDepth if they should be`);
}

function tooManyItems(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `the message has more than ${at.maxZeroByteItems} items of no bytes; raise limits.maxZeroByteItems if it should have`,
  );
}
