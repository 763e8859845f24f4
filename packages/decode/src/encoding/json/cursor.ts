import { DecodeError } from "../../errors.ts";
import { asciiText, latin1, readText as readUtf8 } from "../utf8-text.ts";
import { words } from "../words.ts";
import { isLong } from "./integer-range.ts";
import { exactInteger } from "./exact-integer.ts";
import { bytesBefore, digitRunEnd, digitRunEndIn, fourDigits, nearBytes, plainRunEnd, plainRunEndIn, textRunEnd } from "./text-run.ts";

const noBytes = new Uint8Array(0);
const noView = new DataView(noBytes.buffer);

/**
 * The position of a fast reader in JSON text. Fast readers do not throw if the text is not as they expect: they set `pos` to {@link missed}
 * and leave the record to the slow reader, which accepts all of JSON and has the error messages.
 */
export class JsonCursor {
  bytes: Uint8Array;
  /** The same bytes, to compare eight at a time: `view.getFloat64(viewOffset + p, true)` begins with `bytes[p]`. */
  view: DataView = noView;
  viewOffset = 0;
  pos = 0;
  end = 0;
  /** Whether the last nested value contains numbers that are kept as text. */
  hasTexts = false;

  constructor() {
    this.bytes = noBytes;
  }

  /**
   * What the reader makes of these bytes; null if it misses. What it throws is a miss, too: a value that cannot be converted (its name may be
   * repeated, and then only the last value counts), or a text that ends too early at the end of its buffer.
   */
  read(fast: (c: JsonCursor) => unknown, bytes: Uint8Array, start: number, end: number): unknown {
    try {
      words.turnTo(bytes);
      this.bytes = bytes;
      this.view = words.view;
      this.viewOffset = words.offset;
      this.pos = start;
      this.end = end;
      return fast(this);
    } catch {
      this.pos = missed;
      return null;
    } finally {
      this.bytes = noBytes; // a topic without new messages must not keep its last batch in memory
      this.view = noView;
    }
  }
}

export const missed = -1;

const quoteByte = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;

/** The position of the quote that ends the string at `p`, if the string is plain ASCII; otherwise {@link missed}. */
export function plainStringEnd(bytes: Uint8Array, p: number, end: number): number {
  const close = plainRunEnd(bytes, p, end);
  return close < end && bytes[close] === quoteByte ? close : missed;
}

/** The same, four bytes a step. */
export function plainStringEndIn(c: JsonCursor, p: number): number {
  const close = plainRunEndIn(c, p);
  return close < c.end && c.bytes[close] === quoteByte ? close : missed;
}

/** Reads a string, or null. */
export function readText(c: JsonCursor): string | null {
  return c.bytes[c.pos] === quoteByte ? (readSimple(c) as string | null) : readNull(c); // null if it misses
}

/** Reads a string with escapes or characters outside of ASCII. */
function readEscapedText(c: JsonCursor): string | null {
  const close = stringEnd(c.bytes, c.pos + 1, c.end);
  if (close === missed) {
    c.pos = missed;
    return null;
  }
  try {
    const text = stringText(c.bytes, c.pos + 1, close);
    c.pos = close + 1;
    return text;
  } catch {
    c.pos = missed; // the slow reader finds the same error and throws it
    return null;
  }
}

/**
 * The position of the quote that ends the string at `p`, which may have escapes; {@link missed} if there is none, or if the string has a
 * control character.
 */
export function stringEnd(bytes: Uint8Array, p: number, end: number): number {
  let close = textRunEnd(bytes, p, end);
  while (close < end && bytes[close] === backslash) {
    close = textRunEnd(bytes, close + 2, end);
  }
  return close < end && bytes[close] === quoteByte ? close : missed;
}

/** The text between two quotes, with its escapes resolved. Throws if it is not UTF-8 or has an invalid escape. */
export function stringText(bytes: Uint8Array, start: number, end: number): string {
  const text = readUtf8(bytes, start, end);
  return text.includes("\\") ? unescape(text) : text;
}

function unescape(text: string): string {
  try {
    // The engine's parser resolves the escapes. The text cannot end the string early, because its end was found above.
    return JSON.parse(`"${text}"`) as string;
  } catch (cause) {
    // The error has only the cause's name, because the cause's message quotes the text, which is data.
    throw new DecodeError("malformed", `expected a JSON escape, found one that JSON does not know (${(cause as Error).name})`);
  }
}

function readNull(c: JsonCursor): null {
  const { bytes, pos } = c;
  const isNull = bytes[pos] === 0x6e && bytes[pos + 1] === 0x75 && bytes[pos + 2] === 0x6c && bytes[pos + 3] === 0x6c;
  c.pos = isNull ? pos + 4 : missed;
  return null;
}

/** Reads true, false or null. */
export function readBoolean(c: JsonCursor): boolean | null {
  const { bytes, pos } = c;
  const first = bytes[pos];
  if (first === 0x74 && bytes[pos + 1] === 0x72 && bytes[pos + 2] === 0x75 && bytes[pos + 3] === 0x65) {
    c.pos = pos + 4;
    return true;
  }
  if (first === 0x66 && bytes[pos + 1] === 0x61 && bytes[pos + 2] === 0x6c && bytes[pos + 3] === 0x73 && bytes[pos + 4] === 0x65) {
    c.pos = pos + 5;
    return false;
  }
  return readNull(c);
}

/**
 * The longest integer that is read. The time to make a bigint grows faster than the number of its digits. The longest decimal that
 * PostgreSQL allows a column to declare has as many digits.
 */
export const maxDigits = 1_001;

/** Reads an integer exactly: a number if a double holds it, otherwise a bigint. Null for null. Misses a fraction or an exponent. */
export function readInteger(c: JsonCursor): number | bigint | null {
  const first = c.bytes[c.pos] as number;
  const isNumber = first === minus || (first >= zero && first <= nine);
  const value = isNumber ? (readSimple(c) as number | bigint | null) : readNull(c);
  return value === 0 ? 0 : value; // -0 is 0
}

/**
 * Reads a string, a number, a boolean or null: nearly every value of a row. Misses a fraction or an exponent. Looks at four bytes a step, as
 * {@link plainRunEndIn} and {@link digitRunEndIn} do.
 *
 * It is one function, and longer than what V8 inlines. A shorter one was inlined at some calls of a reader and not at others, by the order in which
 * V8 compiled the two, and its own parts were called there: it took a tenth longer to read a row.
 */
export function readSimple(c: JsonCursor): string | number | bigint | boolean | null {
  const { bytes, view, viewOffset, pos, end } = c;
  const highBits = 0x80808080;
  let found = 0;
  if (bytes[pos] === quoteByte) {
    const ones = 0x01010101;
    let close = pos + 1;
    for (const last = Math.min(end, pos + nearBytes) - 4; close <= last; close += 4) {
      const word = view.getInt32((viewOffset + close) | 0, true);
      found = ((((word - 0x20202020) | ((word ^ 0x22222222) - ones) | ((word ^ 0x5c5c5c5c) - ones)) & ~word) | word) & highBits;
      if (found !== 0) {
        break;
      }
    }
    close = found === 0 ? plainRunEnd(bytes, close, end) : close + bytesBefore(found);
    if (close >= end || bytes[close] !== quoteByte) {
      return readEscapedText(c);
    }
    c.pos = close + 1;
    return asciiText(bytes, pos + 1, close);
  }
  const first = bytes[pos] === minus ? pos + 1 : pos;
  let p = first;
  let value = 0;
  for (const last = end - 4; p <= last; p += 4) {
    const digits = view.getInt32((viewOffset + p) | 0, true) ^ 0x30303030;
    found = ((digits + 0x76767676) | digits) & highBits;
    if (found !== 0) {
      const count = bytesBefore(found);
      if (count !== 0) {
        value = value * (count === 1 ? 10 : count === 2 ? 100 : 1_000) + fourDigits(digits << (32 - 8 * count));
        p += count;
      }
      break;
    }
    value = value * 10_000 + fourDigits(digits);
  }
  for (let digit = 0; found === 0 && p < end && (digit = (bytes[p] as number) - zero) >= 0 && digit <= 9; p++) {
    value = value * 10 + digit;
  }
  if (p === first) {
    return first === pos ? readBoolean(c) : miss(c);
  }
  return integerTo(c, p, first, value);
}

/** The integer whose digits go from `first` to `p`, after its sign. `value` is exact if a double holds it, and more than those it holds if not. */
function integerTo(c: JsonCursor, p: number, first: number, value: number): number | bigint | null {
  const { bytes, pos, end } = c;
  if ((bytes[first] === zero && p - first > 1) || isFraction(bytes[p], p < end) || p - first > maxDigits) {
    return miss(c);
  }
  c.pos = p;
  if (value > Number.MAX_SAFE_INTEGER) {
    return exactInteger(bytes, pos, p);
  }
  return first === pos ? value : -value; // without a type, -0 stays -0 as in JSON.parse
}

function isFraction(byte: number | undefined, inside: boolean): boolean {
  return inside && (byte === 0x2e || byte === 0x65 || byte === 0x45);
}

function miss(c: JsonCursor): null {
  c.pos = missed;
  return null;
}

/** 1 for each byte that can be part of a JSON number. */
export const numberBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2b || byte === minus || byte === 0x2e || byte === 0x45 || byte === 0x65 ? 1 : 0,
);

/*
 * number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "+" / "-" ] 1*digit ]      (RFC 8259, section 6)
 */

/** The end of the JSON number at `p`; {@link missed} if there is none, or if more characters of a number follow it. */
export function jsonNumberEnd(bytes: Uint8Array, p: number, end: number): number {
  const first = bytes[p] === minus ? p + 1 : p;
  let close = digitRunEnd(bytes, first, end);
  if (close === first || (bytes[first] === zero && close > first + 1)) {
    return missed;
  }
  if (close < end && bytes[close] === point) {
    close = someDigitsEnd(bytes, close + 1, end);
  }
  if (close !== missed && close < end && ((bytes[close] as number) | 0x20) === 0x65) {
    const sign = bytes[close + 1];
    close = someDigitsEnd(bytes, sign === plus || sign === minus ? close + 2 : close + 1, end);
  }
  return close !== missed && (close >= end || numberBytes[bytes[close] as number] === 0) ? close : missed;
}

function someDigitsEnd(bytes: Uint8Array, p: number, end: number): number {
  const close = digitRunEnd(bytes, p, end);
  return close > p ? close : missed;
}

/** Reads the text of a number in any form; null for null. */
function readNumberText(c: JsonCursor): string | null {
  const { bytes, pos, end } = c;
  if (numberBytes[bytes[pos] as number] !== 1) {
    return readNull(c);
  }
  c.pos = jsonNumberEnd(bytes, pos, end);
  return c.pos === missed ? null : latin1(bytes, pos, c.pos);
}

/** Reads any number as a double, or null. */
export function readDouble(c: JsonCursor): number | null {
  const text = readNumberText(c);
  if (text === null || c.pos === missed) {
    return null;
  }
  const value = Number(text);
  return Number.isFinite(value) ? value : miss(c);
}

/** Rounds a double to a float. Misses if it is out of a float's range. */
export function toFloat(c: JsonCursor, value: number): number {
  const float = Math.fround(value);
  if (!Number.isFinite(float)) {
    c.pos = missed; // the slow reader throws the error
  }
  return float;
}

/**
 * Moves over a string, a number, a boolean or null. The blocks around a row consist of these. It is as strict as reading: an invalid value
 * must be an error, also if nobody asks for it.
 */
export function skipScalar(c: JsonCursor): void {
  const first = c.bytes[c.pos] as number;
  if (first === quoteByte) {
    skipText(c);
    return;
  }
  const close = plainScalarEnd(c, c.pos);
  if (close !== missed) {
    c.pos = close;
  } else if (first === minus || (first >= zero && first <= nine)) {
    skipNumber(c);
  } else {
    readBoolean(c);
  }
}

/**
 * The end of a scalar in its usual spelling: plain ASCII text, a short integer, null. {@link missed} for any other, which may be a scalar
 * all the same. It does not move the cursor, because most columns of a row may be skipped.
 */
export function plainScalarEnd(c: JsonCursor, p: number): number {
  const { bytes, end } = c;
  const first = bytes[p] as number;
  if (first === quoteByte) {
    const close = plainStringEndIn(c, p + 1);
    return close === missed ? missed : close + 1;
  }
  if (first > zero && first <= nine) {
    const close = digitRunEndIn(c, p + 1);
    return close - p <= maxDigits && (close === end || numberBytes[bytes[close] as number] === 0) ? close : missed;
  }
  const isNull = first === 0x6e && bytes[p + 1] === 0x75 && bytes[p + 2] === 0x6c && bytes[p + 3] === 0x6c;
  return isNull && p + 4 < end ? p + 4 : missed;
}

/** Moves over a string or null. */
export function skipTextOrNull(c: JsonCursor): void {
  if (c.bytes[c.pos] === quoteByte) {
    skipText(c);
  } else {
    readNull(c);
  }
}

/** All integers of fewer digits have 64 bits, and so have those of this many digits that do not begin with a nine. */
const maxLongDigits = 19;
const nine = 0x39;

/** Moves over an integer of 64 bits or null. */
export function skipLong(c: JsonCursor): void {
  const { bytes, pos, end } = c;
  const first = bytes[pos] === minus ? pos + 1 : pos;
  const byte = bytes[first] as number;
  if (byte > zero && byte <= nine) {
    const p = digitRunEndIn(c, first);
    if (p - first <= maxLongDigits - (byte === nine ? 1 : 0) && (p === end || numberBytes[bytes[p] as number] === 0)) {
      c.pos = p;
      return;
    }
  }
  skipLongSlowly(c);
}

function skipLongSlowly(c: JsonCursor): void {
  const value = readInteger(c);
  if (value !== null && !isLong(value)) {
    miss(c);
  }
}

/** A text with escapes is passed over once: Debezium's source blocks have one, `sequence`, that changes with every record. */
function skipText(c: JsonCursor): void {
  const close = asciiStringEnd(c);
  if (close === missed) {
    readEscapedText(c); // outside of ASCII, only reading finds invalid UTF-8
  } else {
    c.pos = close + 1;
  }
}

/** The end of the string at the cursor, of ASCII characters and valid escapes; {@link missed} for any other string. */
function asciiStringEnd(c: JsonCursor): number {
  const { bytes, pos, end } = c;
  let close = plainRunEndIn(c, pos + 1);
  while (close < end && bytes[close] === backslash) {
    const next = escapeEnd(bytes, close + 1, end);
    if (next === missed) {
      return missed;
    }
    close = plainRunEndIn(c, next);
  }
  return close < end && bytes[close] === quoteByte ? close : missed;
}

/** 1 for each byte that is an escape with the backslash before it. */
const simpleEscapes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => ('"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0));

/** The position after the escape whose backslash is before `p`. */
function escapeEnd(bytes: Uint8Array, p: number, end: number): number {
  if (simpleEscapes[bytes[p] as number] === 1) {
    return p + 1;
  }
  const close = p + 5;
  const isUnicode = bytes[p] === 0x75 && close <= end && /^[0-9a-fA-F]{4}$/.test(latin1(bytes, p + 1, close));
  return isUnicode ? close : missed;
}

/** Misses numbers that reading would refuse: those with too many digits, or out of a double's range. */
function skipNumber(c: JsonCursor): void {
  const { bytes, pos, end } = c;
  c.pos = jsonNumberEnd(bytes, pos, end);
  if (c.pos - pos > 1 && !Number.isFinite(Number(latin1(bytes, pos, c.pos)))) {
    c.pos = missed;
  }
}
