import { latin1 } from "../utf8-text.ts";

const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
/** The longest text that `String` makes of a double. */
const maxDoubleChars = 24;

/**
 * Whether the bytes are a number or a boolean exactly as JSON writes that value back. `1.10`, `12e5` and ` 7` are not: a text that is not
 * JSON may look like these, and two different texts must not become the same value.
 */
export function isCanonicalScalar(bytes: Uint8Array, start: number, end: number): boolean {
  if (isCanonicalInteger(bytes, start, end)) {
    return true;
  }
  if (end - start > maxDoubleChars) {
    return false;
  }
  const text = latin1(bytes, start, end);
  const number = Number(text);
  return Number.isFinite(number) ? String(number) === text : text === "true" || text === "false";
}

/** Integers of any length count, because they are exact. */
function isCanonicalInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const isNegative = bytes[start] === minus;
  const first = isNegative ? start + 1 : start;
  if (first >= end || (bytes[first] === zero && (isNegative || end - first > 1))) {
    return false;
  }
  for (let p = first; p < end; p++) {
    const byte = bytes[p] as number;
    if (byte < zero || byte > nine) {
      return false;
    }
  }
  return true;
}
