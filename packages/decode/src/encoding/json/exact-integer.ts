import { isLittleEndian } from "../../values/wide-integer.ts";
import { latin1 } from "../utf8-text.ts";

const minus = 0x2d;
const zero = 0x30;
/** All integers with this many digits are below 2^64. */
const maxDigitsOf64Bits = 19;
const lowDigits = 9;
const lowPower = 1_000_000_000;
const halfWord = 65_536;
const word = 4_294_967_296;

const wide = new BigUint64Array(1);
const halves = new Uint32Array(wide.buffer);
const low = isLittleEndian() ? 0 : 1;

/**
 * The integer of these digits with an optional minus: a number if a double holds it, otherwise a bigint. Making a bigint of a text takes
 * several times as long as making it of two words of 32 bits. int64 columns and nanosecond clocks fit into two words.
 */
export function exactInteger(bytes: Uint8Array, start: number, end: number): number | bigint {
  const isNegative = bytes[start] === minus;
  const first = isNegative ? start + 1 : start;
  if (end - first > maxDigitsOf64Bits) {
    return ofText(latin1(bytes, start, end));
  }
  const middle = Math.max(first, end - lowDigits);
  const high = digits(bytes, first, middle);
  const rest = digits(bytes, middle, end);
  const double = high * lowPower + rest;
  if (double <= Number.MAX_SAFE_INTEGER) {
    return isNegative ? -double : double;
  }
  const magnitude = ofParts(high, rest);
  return isNegative ? -magnitude : magnitude;
}

/**
 * Computes `high * 10**9 + rest` as a bigint of 64 bits. The product can exceed 2**53, so `high` is split at 16 bits: each partial product
 * is then exact in a double, and the carries are added by hand.
 */
function ofParts(high: number, rest: number): bigint {
  const lowProduct = (high % halfWord) * lowPower + rest;
  const highProduct = Math.floor(high / halfWord) * lowPower;
  const lowSum = lowProduct + (highProduct % halfWord) * halfWord;
  halves[low] = lowSum % word;
  halves[1 - low] = Math.floor(highProduct / halfWord) + Math.floor(lowSum / word);
  return wide[0] as bigint;
}

function digits(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let p = start; p < end; p++) {
    value = value * 10 + (bytes[p] as number) - zero;
  }
  return value;
}

/** Text with more digits than 64 bits hold. It has no leading zeros, because JSON does not allow them. */
function ofText(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
