/**
 * The primitives of Avro's binary encoding, for generated readers and for closures.
 *
 * Each function gets the position `p` and the end `e` of what it may read, and never reads at or after `e`. A function that returns a value
 * leaves the position after it in `Cursor.p`. The caller must take that position before it calls anything: a conversion may decode another
 * message with the same cursor.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import { maxDecimalBytes } from "../../values/decimal.ts";

/** What the functions of one reader share. */
export class Cursor {
  /** The position after the value that was read last. */
  p = 0;
  /** The position at which the block that was opened last must end, or -1 if the block does not state its size. */
  blockEnd = -1;
  /** How many values without bytes this message had so far. */
  zeroByteItems = 0;
  /** The cost of the collections' items in this message so far. Its limit is `maxCost`. */
  cost = 0;
  maxCost = 0;
  readonly maxZeroByteItems: number;
  readonly maxDepth: number;
  readonly maxCostPerByte: number;
  readonly scratch: Uint8Array = new Uint8Array(8);
  readonly scratchView: DataView = new DataView(this.scratch.buffer);

  constructor(limits: Pick<ResolvedLimits, "maxZeroByteItems" | "maxDepth" | "maxCostPerByte">) {
    this.maxZeroByteItems = limits.maxZeroByteItems;
    this.maxDepth = limits.maxDepth;
    this.maxCostPerByte = limits.maxCostPerByte;
  }
}

// Positions are checked against `e` before each `b[p]!` below, so those elements are never undefined.

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

/**
 * A zig-zag varint of at most 64 bits. The result is a number if a double holds it exactly, otherwise a bigint. The steps are written out
 * instead of a loop, because timestamps are eight bytes each. Seven bits a byte go into `low` (four bytes, 28 bits), the next four bytes
 * into `high`, because bit operations take 32 bits; `zigZag` joins the halves in a double. Ten bytes must be there, so that no step has to
 * check for the end.
 */
export function readLong(at: Cursor, b: Uint8Array, p: number, e: number): number | bigint {
  if (e - p < maxVarintBytes) {
    return readLongWatched(at, b, p, e);
  }
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

/** The length of the longest varint that is valid. */
const maxVarintBytes = 10;

/** Reads the same varint near the end of the message, and checks for the end at every byte. */
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

/**
 * The magnitude is `high * 2**27` plus the upper 27 bits of `low`; the lowest bit of `low` is the sign. If `high` is below 2**26, the
 * magnitude is below 2**53, so a double holds it exactly.
 */
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
    return zigZag(low, high); // a small value with more bytes than it needs
  }
  const bits = (BigInt(top) << 56n) | (BigInt(high) << 28n) | BigInt(low);
  return (bits & 1n) === 0n ? bits >> 1n : -(bits >> 1n) - 1n;
}

/** The position after a varint of at most 32 bits. */
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
 * The position after a varint of at most 64 bits. Four bytes are tested at once: if the high bit is set in all of them, the varint ends
 * after them.
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

/** Skips the same varint near the end of the message, and checks for the end at every byte. At most `max` bytes may follow. */
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

/** The length of a string or of bytes, all of which are there. */
export function readLength(at: Cursor, b: Uint8Array, p: number, e: number): number {
  const length = readLong(at, b, p, e);
  if (length < 0) {
    throw malformed("a negative length");
  }
  if (length > e - at.p) {
    throw truncated();
  }
  return length as number; // a length that is not above `e - at.p` is a number, not a bigint
}

/** The index of a union's branch or of an enum's symbol. */
export function readIndex(at: Cursor, b: Uint8Array, p: number, e: number, count: number): number {
  const index = readLong(at, b, p, e);
  if (index < 0 || index >= count) {
    throw malformed(`a branch or symbol other than the ${count} of the schema`);
  }
  return index as number; // an index below `count` is a number, not a bigint
}

/**
 * Opens a block of an array or a map and returns how many items it has; 0 ends the collection. `minBytes` is the fewest bytes that an item
 * takes. If that is 0, the bytes do not limit the count, so the message's budget of items without bytes does. `cost` is the minimum cost of
 * an item. The count is checked before any item is read, so that a few bytes cannot announce a billion items.
 */
export function openBlock(at: Cursor, b: Uint8Array, p: number, e: number, minBytes: number, cost: number): number {
  let count = readLong(at, b, p, e);
  let position = at.p;
  at.blockEnd = -1;
  if (count < 0) {
    count = -count; // safe for -2**63 too: it is a bigint, which does not overflow
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
  const known = count as number; // the checks above bound it by a number
  addCost(at, blockCost + known * cost);
  return known;
}

/** Adds the cost of the values of a message that holds several, before the first one is read. */
export function openSequence(at: Cursor, length: number, count: number, minBytes: number): void {
  if (count * minBytes > length) {
    throw truncated();
  }
  if (minBytes === 0) {
    countZeroBytes(at, count);
  }
  addCost(at, count * rowCost);
}

/** A row's object, its slot in the list and the event that it becomes. What is in its columns is bounded by its schema. */
const rowCost = 200;

/** Checks that a block has the size that it states. */
export function closeBlock(blockEnd: number, p: number): void {
  if (blockEnd >= 0 && blockEnd !== p) {
    throw malformed("a block that does not have the size that it states");
  }
}

/** How many items the first block has, without moving the position; -1 if the count takes more than one byte. */
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

/** Takes values without bytes from the message's budget. */
export function countZeroBytes(at: Cursor, count: number): void {
  at.zeroByteItems += count;
  if (at.zeroByteItems > at.maxZeroByteItems) {
    throw tooManyItems(at);
  }
}

/** The cost budget of a message of `length` bytes. */
export function costBudget(at: Cursor, length: number): number {
  return at.maxCostPerByte * Math.max(length, minMeteredBytes);
}

const minMeteredBytes = 1_048_576;

/** Takes a cost from the message's budget. */
export function addCost(at: Cursor, cost: number): void {
  at.cost += cost;
  if (at.cost > at.maxCost) {
    throw new DecodeError(
      "limit-exceeded",
      `expected an Avro message whose arrays and maps cost at most ${at.maxCostPerByte} ns for each of its bytes, found a higher cost: too many values that are (almost) empty; raise limits.maxCostPerByte if the message is valid, or check whether it was written with another schema`,
    );
  }
}

/**
 * Adds the additional cost of long bytes that are converted. The time to make a decimal's text grows with the square of its length, up to
 * the longest decimal that is read. All other conversions take less.
 */
export function addLongCost(at: Cursor, length: number): void {
  if (length > shortBytes) {
    const squared = Math.min(length, maxDecimalBytes) ** 2;
    addCost(at, squared * squareCost);
  }
}

const shortBytes = 64;
const squareCost = 0.2;

/** The cost of opening a block. It is counted like that of the items. */
const blockCost = 90;

/**
 * Adds the additional cost of a block of a map's entries after `before` others. An object with thousands of keys is stored in a hash table
 * that must grow, and the runtime interns each key.
 */
export function addEntriesCost(at: Cursor, before: number, count: number): void {
  if (before + count > manyEntries) {
    addCost(at, count * manyEntriesCost);
  }
}

const manyEntries = 1_000;
const manyEntriesCost = 1_100;

/** A list for the items of a first block, whose count is known. */
export function listOf(count: number): unknown[] {
  return count > maxPlaces ? [] : new Array<unknown>(count);
}

/** Longer lists grow while they are filled: the runtime stores a very long list that is created with its length in a slow table. */
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

const noBytes = Buffer.alloc(0); // shared: an empty Buffer has no bytes that a caller could change

/** Copies bytes into a Buffer of their own. */
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

export function truncated(): DecodeError {
  return new DecodeError(
    "truncated",
    "expected more bytes of the Avro value, found its end; check whether the message was cut, or written with another schema",
  );
}

export function trailing(): DecodeError {
  return new DecodeError(
    "trailing-bytes",
    "expected the end of the bytes after the Avro value, found more; check whether the message was written with another schema",
  );
}

export function malformed(found: string): DecodeError {
  return new DecodeError(
    "malformed",
    `expected a valid Avro value, found ${found}; check whether the message was written with another schema`,
  );
}

export function tooDeep(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected values nested at most ${at.maxDepth} deep, found deeper ones; raise limits.maxDepth if they are valid`,
  );
}

function tooManyItems(at: Cursor): DecodeError {
  return new DecodeError(
    "limit-exceeded",
    `expected at most ${at.maxZeroByteItems} items without bytes in a message, found more; raise limits.maxZeroByteItems if they are valid`,
  );
}
