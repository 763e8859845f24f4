import { words } from "../words.ts";

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;
const firstWide = 0x80;

/** 1 for each byte that means itself in a JSON string: ASCII except quote, backslash and control characters. */
const plainBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (isText(byte) && byte < firstWide ? 1 : 0));
/** The same, and bytes of characters outside of ASCII. */
const textBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (isText(byte) ? 1 : 0));

function isText(byte: number): boolean {
  return byte >= firstPrintable && byte !== quote && byte !== backslash;
}

/** Most texts are not longer, and a loop over their bytes is as good. */
const loopBytes = 32;

/** The position of the first byte from `p` on that is not plain ASCII: a quote, a backslash, a control character or none of ASCII. `end` if there is none. */
export function plainRunEnd(bytes: Uint8Array, p: number, end: number): number {
  const loopEnd = p + loopBytes < end ? p + loopBytes : end;
  while (p < loopEnd && plainBytes[bytes[p] as number] === 1) {
    p++;
  }
  return p === loopEnd && p < end ? longRunEnd(bytes, p, end, plainBytes, -1) : p;
}

/** The position of the first quote, backslash or control character from `p` on. `end` if there is none. */
export function textRunEnd(bytes: Uint8Array, p: number, end: number): number {
  const loopEnd = p + loopBytes < end ? p + loopBytes : end;
  while (p < loopEnd && textBytes[bytes[p] as number] === 1) {
    p++;
  }
  return p === loopEnd && p < end ? longRunEnd(bytes, p, end, textBytes, 0) : p;
}

/**
 * Looks at sixteen bytes a step. For a byte x below 0x80, the highest bit of x - n is set if x < n, so that of (x ^ n) - 1 is if x is n; `& ~word`
 * leaves other bytes out. What a byte borrows reaches only bytes after it, when the step has ended the search already. If `ending` is -1, a byte
 * of 0x80 or more ends the run as well.
 */
function longRunEnd(bytes: Uint8Array, start: number, end: number, runBytes: Uint8Array, ending: number): number {
  // The same value in each byte of a word. Here and not above: a bundler makes variables of constants, and V8 then looks them up at each use.
  const spaces = 0x20202020;
  const quotes = 0x22222222;
  const backslashes = 0x5c5c5c5c;
  const ones = 0x01010101;
  const highBits = 0x80808080;
  words.turnTo(bytes);
  const { view, offset } = words;
  const last = Math.min(end, bytes.length); // a client may have shrunk the buffer
  let p = start;
  for (; p + 16 <= last; p += 16) {
    const at = offset + p;
    const a = view.getInt32(at, true);
    const b = view.getInt32((at + 4) | 0, true); // an index that is cut to 32 bits needs no check for overflow
    const c = view.getInt32((at + 8) | 0, true);
    const d = view.getInt32((at + 12) | 0, true);
    const found =
      (((a - spaces) | ((a ^ quotes) - ones) | ((a ^ backslashes) - ones)) & ~a) |
      (((b - spaces) | ((b ^ quotes) - ones) | ((b ^ backslashes) - ones)) & ~b) |
      (((c - spaces) | ((c ^ quotes) - ones) | ((c ^ backslashes) - ones)) & ~c) |
      (((d - spaces) | ((d ^ quotes) - ones) | ((d ^ backslashes) - ones)) & ~d);
    if (((found | ((a | b | c | d) & ending)) & highBits) !== 0) {
      break;
    }
  }
  while (p < last && runBytes[bytes[p] as number] === 1) {
    p++;
  }
  return p;
}

/** Text in a view: `view.getInt32(viewOffset + p, true)` is made of the four bytes from `bytes[p]` on. */
export interface TextInView {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly viewOffset: number;
  readonly end: number;
}

/** A text that goes on for longer is looked at sixteen bytes a step from there on. */
export const nearBytes = 48;

/** The same as {@link plainRunEnd}. Four bytes are looked at together, as in {@link longRunEnd}. */
export function plainRunEndIn(c: TextInView, start: number): number {
  const { bytes, view, viewOffset, end } = c;
  const ones = 0x01010101;
  let p = start;
  for (const last = Math.min(end, start + nearBytes) - 4; p <= last; p += 4) {
    const word = view.getInt32((viewOffset + p) | 0, true);
    const found = ((((word - 0x20202020) | ((word ^ 0x22222222) - ones) | ((word ^ 0x5c5c5c5c) - ones)) & ~word) | word) & 0x80808080;
    if (found !== 0) {
      return p + bytesBefore(found);
    }
  }
  return plainRunEnd(bytes, p, end);
}

/** The position of the first byte from `start` on that is no digit; `end` if there is none. */
export function digitRunEnd(bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  while (p < end && (bytes[p] as number) >= 0x30 && (bytes[p] as number) <= 0x39) {
    p++;
  }
  return p;
}

/**
 * The same as {@link digitRunEnd}, four bytes a step. `x ^ 0x30` is a digit's value, and with
 * 0x76 more, whatever is above nine has its highest bit set. What that carries reaches only bytes after it.
 */
export function digitRunEndIn(c: TextInView, start: number): number {
  const { bytes, view, viewOffset, end } = c;
  let p = start;
  for (const last = end - 4; p <= last; p += 4) {
    const digits = view.getInt32((viewOffset + p) | 0, true) ^ 0x30303030;
    const found = ((digits + 0x76767676) | digits) & 0x80808080;
    if (found !== 0) {
      return p + bytesBefore(found);
    }
  }
  return digitRunEnd(bytes, p, end);
}

/** How many bytes of a word come before the first one whose highest bit is set, where no other bits are. */
export function bytesBefore(found: number): number {
  return (31 - Math.clz32(found & -found)) >> 3;
}

/** The number of four digits, in a word of their values: of two digits at a time, then of both pairs. Other bits of their bytes do not count. */
export function fourDigits(word: number): number {
  const digits = word & 0x0f0f0f0f;
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00ff00ff;
  return Math.imul(pairs & 0xff, 100) + (pairs >>> 16);
}
