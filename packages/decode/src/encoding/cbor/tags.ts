import { dateText, secondsPerDay, timestampText } from "../../values/calendar.ts";
import { decimalText, isScale } from "../../values/decimal-text.ts";
import type { PlainCursor } from "../plain-cursor.ts";
import { uuidBytes, uuidOf } from "./uuid.ts";

/** The longest wide integer that is read, in bytes: 1,001 digits. The time to make its text grows faster than its length. */
const maxIntegerBytes = 416;
const uuidTag = 37;
/** The first byte of a string of 16 bytes. */
const stringOfUuid = 0x50;
/** Shifts an exponent to a number of digits with the same cost: a zero that is copied is much cheaper than a digit that is computed. */
const cheapDigitBits = 6;
/** Wide integers of fewer bytes are read without making a text of their digits. */
const maxPlainBytes = 6;

/**
 * Reads the item after a tag, with the semantics of the tag (RFC 8949, section 3.4; RFC 8943 for days). An unknown tag, or one that does
 * not change the value, leaves the item unchanged.
 */
export function readTagged(c: PlainCursor, tag: number | bigint, readItem: () => unknown): unknown {
  if (tag === uuidTag && c.bytes[c.position] === stringOfUuid && c.end - c.position > uuidBytes) {
    c.position++;
    c.convert();
    return uuidOf(c.bytes, c.take(uuidBytes)); // read in place, because lists may have thousands
  }
  const item = readItem();
  switch (tag) {
    case 1:
      return epochText(c, item);
    case 2:
      return narrowed(wideInteger(c, item));
    case 3:
      return narrowed(-1n - wideInteger(c, item));
    case 4:
      return decimalFraction(c, item);
    case 5:
      return bigFloat(c, item);
    case uuidTag:
      return Buffer.isBuffer(item) ? uuid(c, item) : item;
    case 100:
      return daysText(c, item);
    default:
      return item; // 0, 1004 (dates) and 32 (URIs) are text already; 55799 marks a message as CBOR
  }
}

function epochText(c: PlainCursor, item: unknown): string {
  if (typeof item !== "number" || !Number.isFinite(item) || Math.abs(item) > Number.MAX_SAFE_INTEGER) {
    throw c.invalid("a number of seconds within 2^53 of the epoch after tag 1");
  }
  c.convert();
  const whole = Math.floor(item);
  // A double holds today's seconds exactly to a quarter of a microsecond, so more digits would be rounding noise.
  const micros = Math.round((item - whole) * 1_000_000);
  const seconds = micros === 1_000_000 ? whole + 1 : whole;
  const days = Math.floor(seconds / secondsPerDay);
  return `${timestampText(days, seconds - days * secondsPerDay, micros === 1_000_000 ? 0 : micros * 1_000)}Z`;
}

function daysText(c: PlainCursor, item: unknown): string {
  if (typeof item !== "number" || !Number.isSafeInteger(item)) {
    throw c.invalid("an integer number of days after tag 100");
  }
  c.convert();
  return dateText(item);
}

function wideInteger(c: PlainCursor, item: unknown): bigint {
  if (!Buffer.isBuffer(item) || item.length > maxIntegerBytes) {
    throw c.invalid(`a byte string of at most ${maxIntegerBytes} bytes after a tag for a wide integer`);
  }
  c.convert();
  if (item.length <= maxPlainBytes) {
    return item.length === 0 ? 0n : BigInt(item.readUIntBE(0, item.length));
  }
  return BigInt(`0x${item.toString("hex")}`);
}

function narrowed(value: bigint): number | bigint {
  const narrow = Number(value);
  return Number.isSafeInteger(narrow) ? narrow : value;
}

/** `[exponent, mantissa]` to the base of ten, as exact text with its scale. */
function decimalFraction(c: PlainCursor, item: unknown): string {
  const [exponent, mantissa] = partsOf(c, item, 4);
  if (!isScale(-exponent)) {
    throw c.invalid("an exponent within bounds after tag 4");
  }
  c.convert(Math.abs(exponent) >> cheapDigitBits); // the exponent becomes zeros, which are only copied
  return decimalText(mantissa, -exponent || 0);
}

const maxBinaryExponent = 1_074;

/** `[exponent, mantissa]` to the base of two. A power of 1/2 is a decimal with as many digits as its exponent, so the text is exact. */
function bigFloat(c: PlainCursor, item: unknown): string {
  const [exponent, mantissa] = partsOf(c, item, 5);
  if (Math.abs(exponent) > maxBinaryExponent) {
    throw c.invalid(`an exponent from -${maxBinaryExponent} to ${maxBinaryExponent} after tag 5`);
  }
  c.convert(Math.abs(exponent)); // an exponent of a few bytes makes hundreds of digits
  return exponent >= 0
    ? (mantissa << BigInt(exponent)).toString()
    : withoutZeros(decimalText(mantissa * 5n ** BigInt(-exponent), -exponent));
}

/** Removes the zeros at the end of a text that has a point. */
function withoutZeros(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x30) {
    end--;
  }
  return text.slice(0, text.charCodeAt(end - 1) === 0x2e ? end - 1 : end);
}

function partsOf(c: PlainCursor, item: unknown, tag: number): readonly [exponent: number, mantissa: bigint] {
  const [exponent, mantissa, ...more] = Array.isArray(item) ? (item as unknown[]) : [];
  const isExactInteger = (typeof mantissa === "number" && Number.isSafeInteger(mantissa)) || typeof mantissa === "bigint";
  if (typeof exponent !== "number" || !Number.isSafeInteger(exponent) || !isExactInteger || more.length > 0) {
    throw c.invalid(`an integer exponent and an integer mantissa after tag ${tag}`);
  }
  return [exponent, BigInt(mantissa)];
}

function uuid(c: PlainCursor, item: Buffer): string {
  if (item.length !== uuidBytes) {
    throw c.invalid("16 bytes after tag 37 (a UUID)");
  }
  return uuidOf(item, 0);
}
