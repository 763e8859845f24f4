import { isUtf8 } from "node:buffer";
import { DecodeError } from "../errors.ts";
import { areSame, keep } from "./same-bytes.ts";

/** The longest text that a memo remembers. PostgreSQL's longest name has 63 bytes, MySQL's has 64 characters. */
const maxRememberedBytes = 128;
/** Up to this length, a loop over the bytes is faster than the runtime's own ASCII test. */
const maxScannedBytes = 96;

/** The text of these bytes. Throws if they are not UTF-8. */
export function readText(b: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length === uuidLength) {
    return uuidText(b, start) ?? anyText(b, start, end);
  }
  return length <= maxFewBytes && isAscii(b, start, end) ? fewText(b, start, length) : anyText(b, start, end);
}

/** The text of bytes that are known to be ASCII. */
export function asciiText(b: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length <= maxFewBytes) {
    return fewText(b, start, length);
  }
  return (length === uuidLength ? uuidText(b, start) : null) ?? latin1(b, start, end);
}

/** The last text of one column. Equal bytes give the same string object, so that it can be compared by identity. */
export class TextMemo {
  #text = "";
  readonly #bytes = new Uint8Array(maxRememberedBytes);

  read(b: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length === this.#text.length && areSame(this.#bytes, 0, b, start, length)) {
      return this.#text;
    }
    const text = readText(b, start, end);
    if (text.length === length && length <= maxRememberedBytes) {
      this.#text = text; // it has as many characters as bytes, so it is ASCII
      keep(this.#bytes, 0, b, start, length);
    }
    return text;
  }
}

/** Throws if a text that is not needed yet is not UTF-8. Most texts are short and ASCII, so one loop over the bytes is enough. */
export function checkText(b: Uint8Array, start: number, end: number): void {
  if ((end - start > maxScannedBytes || !isAscii(b, start, end)) && !isUtf8(b.subarray(start, end))) {
    throw invalidUtf8(b, start, end);
  }
}

/** Node's own slicing methods, which `toString` calls after it has checked its arguments. They accept any Uint8Array. */
interface SliceMethods {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  utf8Slice(this: Uint8Array, start: number, end: number): string;
}
const { latin1Slice, utf8Slice } = Buffer.prototype as unknown as SliceMethods;

/** The bytes as text of ISO-8859-1: one character for each byte. */
export function latin1(b: Uint8Array, start: number, end: number): string {
  return latin1Slice.call(b, start, end);
}

function anyText(b: Uint8Array, start: number, end: number): string {
  if (end - start <= maxScannedBytes && isAscii(b, start, end)) {
    return latin1Slice.call(b, start, end);
  }
  const text = utf8Slice.call(b, start, end);
  // The runtime decodes invalid bytes as U+FFFD. If the text contains U+FFFD, the bytes are checked, because it may have been sent.
  if (text.includes("\ufffd") && !isUtf8(b.subarray(start, end))) {
    throw invalidUtf8(b, start, end);
  }
  return text;
}

/** The runtime slices longer texts, except UUIDs. */
const maxFewBytes = 12;

/** The text of at most 12 ASCII bytes. One call of `fromCharCode` takes a fifth of the time of the runtime's slicing. */
function fewText(b: Uint8Array, p: number, length: number): string {
  // biome-ignore format: one line per length
  switch (length) {
    case 0: return "";
    case 1: return String.fromCharCode(b[p]!);
    case 2: return String.fromCharCode(b[p]!, b[p + 1]!);
    case 3: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!);
    case 4: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!);
    case 5: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!);
    case 6: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!);
    case 7: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!);
    case 8: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!, b[p + 7]!);
    case 9: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!, b[p + 7]!, b[p + 8]!);
    case 10: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!, b[p + 7]!, b[p + 8]!, b[p + 9]!);
    case 11: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!, b[p + 7]!, b[p + 8]!, b[p + 9]!, b[p + 10]!);
    case 12: return String.fromCharCode(b[p]!, b[p + 1]!, b[p + 2]!, b[p + 3]!, b[p + 4]!, b[p + 5]!, b[p + 6]!, b[p + 7]!, b[p + 8]!, b[p + 9]!, b[p + 10]!, b[p + 11]!);
    default: return latin1Slice.call(b, p, p + length);
  }
}

/** `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` */
const uuidLength = 36;

/** A text with the length of a UUID, or null if it is not ASCII. One call of `fromCharCode` is faster than the runtime's slicing. */
function uuidText(b: Uint8Array, p: number): string | null {
  // biome-ignore format: one line per four bytes
  const c0 = b[p]!, c1 = b[p + 1]!, c2 = b[p + 2]!, c3 = b[p + 3]!,
    c4 = b[p + 4]!, c5 = b[p + 5]!, c6 = b[p + 6]!, c7 = b[p + 7]!,
    c8 = b[p + 8]!, c9 = b[p + 9]!, c10 = b[p + 10]!, c11 = b[p + 11]!,
    c12 = b[p + 12]!, c13 = b[p + 13]!, c14 = b[p + 14]!, c15 = b[p + 15]!,
    c16 = b[p + 16]!, c17 = b[p + 17]!, c18 = b[p + 18]!, c19 = b[p + 19]!,
    c20 = b[p + 20]!, c21 = b[p + 21]!, c22 = b[p + 22]!, c23 = b[p + 23]!,
    c24 = b[p + 24]!, c25 = b[p + 25]!, c26 = b[p + 26]!, c27 = b[p + 27]!,
    c28 = b[p + 28]!, c29 = b[p + 29]!, c30 = b[p + 30]!, c31 = b[p + 31]!,
    c32 = b[p + 32]!, c33 = b[p + 33]!, c34 = b[p + 34]!, c35 = b[p + 35]!;
  // biome-ignore format: as above
  const bits =
    c0 | c1 | c2 | c3 | c4 | c5 | c6 | c7 | c8 | c9 | c10 | c11 |
    c12 | c13 | c14 | c15 | c16 | c17 | c18 | c19 | c20 | c21 | c22 | c23 |
    c24 | c25 | c26 | c27 | c28 | c29 | c30 | c31 | c32 | c33 | c34 | c35;
  // biome-ignore format: as above
  return bits > 0x7f ? null : String.fromCharCode(
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11,
    c12, c13, c14, c15, c16, c17, c18, c19, c20, c21, c22, c23,
    c24, c25, c26, c27, c28, c29, c30, c31, c32, c33, c34, c35,
  );
}

function isAscii(b: Uint8Array, start: number, end: number): boolean {
  let bits = 0;
  let p = start;
  for (; p + 4 <= end; p += 4) {
    bits |= b[p]! | b[p + 1]! | b[p + 2]! | b[p + 3]!;
  }
  for (; p < end; p++) {
    bits |= b[p]!;
  }
  return bits < 0x80;
}

/** The offset of the first byte that is not part of a character of UTF-8, or the end. */
function firstNotUtf8(b: Uint8Array, start: number, end: number): number {
  let p = start;
  while (p < end) {
    const length = characterLength(b, p, end);
    if (length === 0) {
      return p;
    }
    p += length;
  }
  return p;
}

/** The length of the character at `p`, or 0 if there is none: RFC 3629 limits the second byte after four of the lead bytes. */
function characterLength(b: Uint8Array, p: number, end: number): number {
  const lead = b[p]!;
  if (lead < 0x80) {
    return 1;
  }
  const length = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (length === 0 || p + length > end) {
    return 0;
  }
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = b[p + 1]!;
  if (second < lowest || second > highest) {
    return 0;
  }
  for (let i = p + 2; i < p + length; i++) {
    if ((b[i]! & 0xc0) !== 0x80) {
      return 0;
    }
  }
  return length;
}

/** What was found instead of UTF-8, and what it may be: for an error, without any of the bytes. `what`: the whole that the offset is in. */
export function notUtf8Text(b: Uint8Array, start: number, end: number, what: string): string {
  return `other bytes at byte ${firstNotUtf8(b, start, end) - start} of the ${what}; check whether it is in another character set, such as ISO-8859-1`;
}

function invalidUtf8(b: Uint8Array, start: number, end: number): DecodeError {
  return new DecodeError(
    "invalid-utf8",
    `expected text in UTF-8, found ${notUtf8Text(b, start, end, "text")}, or the message was written with another schema`,
  );
}
