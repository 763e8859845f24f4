import { isUtf8 } from "node:buffer";
import { DecodeError } from "../../errors.ts";

const slotCount = 1_024;
/** Longer texts seldom repeat, and comparing them costs what making them costs. */
const longestCached = 32;

/**
 * ASCII texts that were read before. Columns repeat their values (states, codes, names), and comparing bytes with a remembered string is
 * several times cheaper than asking the runtime for a new one. Direct-mapped and of fixed size: a text that collides replaces the other.
 */
export class TextCache {
  readonly slots: string[] = new Array<string>(slotCount).fill("");
}

/** The text of these bytes; an error where they are not UTF-8. */
export function readText(cache: TextCache, b: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length > longestCached) {
    return freshText(b, start, end);
  }
  if (length < 2) {
    return length === 0 ? "" : shortestText(b[start]!);
  }
  const slot = slotOf(b, start, end);
  const known = cache.slots[slot]!;
  if (isAsciiText(known, b, start, length)) {
    return known;
  }
  const text = freshText(b, start, end);
  if (text.length === length) {
    cache.slots[slot] = text; // as many characters as bytes: ASCII
  }
  return text;
}

/** One column's last text: the same string again for the same bytes, so that it can be compared by identity. */
export class TextMemo {
  #last = "";

  read(cache: TextCache, b: Uint8Array, start: number, end: number): string {
    if (isAsciiText(this.#last, b, start, end - start)) {
      return this.#last;
    }
    const text = readText(cache, b, start, end);
    if (text.length === end - start) {
      this.#last = text;
    }
    return text;
  }
}

/** Whether an ASCII text has these bytes. */
function isAsciiText(text: string, b: Uint8Array, start: number, length: number): boolean {
  if (text.length !== length) {
    return false;
  }
  for (let i = 0; i < length; i++) {
    if (text.charCodeAt(i) !== b[start + i]) {
      return false;
    }
  }
  return true;
}

/** A slot by a few of the bytes. What lands in the wrong one is read anew, so this need not be good, only cheap. */
function slotOf(b: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const middle = start + (length >>> 1);
  const mixed = b[end - 1]! + b[end - 2]! * 31 + b[middle]! * 961 + b[start]! * 7_919 + length * 104_729;
  return (mixed ^ (mixed >>> 10)) & (slotCount - 1);
}

function shortestText(byte: number): string {
  if (byte > 0x7f) {
    throw invalidUtf8();
  }
  return String.fromCharCode(byte);
}

/** Node's own slicing method: what `toString` calls after looking at its arguments. Callable on any Uint8Array. */
const utf8Slice = (Buffer.prototype as unknown as { utf8Slice(this: Uint8Array, start: number, end: number): string }).utf8Slice;

function freshText(b: Uint8Array, start: number, end: number): string {
  const text = utf8Slice.call(b, start, end);
  // Invalid bytes come out as U+FFFD, and so does a U+FFFD that was sent.
  if (text.includes("\ufffd") && !isUtf8(b.subarray(start, end))) {
    throw invalidUtf8();
  }
  return text;
}

function invalidUtf8(): DecodeError {
  return new DecodeError("invalid-utf8", "a string of the Avro value is not UTF-8; was the message written with another schema?");
}
