import { skipByteOrderMark } from "./byte-order-mark.ts";
import { missed, stringEnd, stringText } from "./cursor.ts";

const quoteByte = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The text of an object's member, in place: the last one with this name, as in parsing. Null if the text is not an object or lacks the member.
 * The text must have been parsed, so that it is known to be JSON.
 */
export function memberText(bytes: Uint8Array, start: number, end: number, name: string): Uint8Array | null {
  let p = afterSpace(bytes, skipByteOrderMark(bytes, start, end));
  if (bytes[p] !== openBrace) {
    return null;
  }
  let found: Uint8Array | null = null;
  p = afterSpace(bytes, p + 1);
  while (bytes[p] === quoteByte) {
    const close = stringEnd(bytes, p + 1, end);
    const key = stringText(bytes, p + 1, close);
    const value = afterSpace(bytes, afterMark(bytes, close + 1, colon));
    const after = valueEnd(bytes, value, end);
    found = key === name ? bytes.subarray(value, after) : found;
    p = afterSpace(bytes, afterMark(bytes, after, comma));
  }
  return found;
}

function afterSpace(bytes: Uint8Array, p: number): number {
  let next = p;
  while (isSpace(bytes[next])) {
    next++;
  }
  return next;
}

/** The position after space and this mark; if something else stands there, the position of that. */
function afterMark(bytes: Uint8Array, p: number, mark: number): number {
  const next = afterSpace(bytes, p);
  return bytes[next] === mark ? next + 1 : next;
}

function valueEnd(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  for (let p = start; p < end; p++) {
    switch (bytes[p]) {
      case quoteByte:
        p = stringEnd(bytes, p + 1, end);
        if (p === missed) {
          return end;
        }
        break;
      case openBrace:
      case openBracket:
        depth++;
        break;
      case closeBrace:
      case closeBracket:
        if (depth === 0) {
          return p; // a number or a word ends where the object around it ends
        }
        depth--;
        break;
      case comma:
        if (depth === 0) {
          return p;
        }
        continue;
      default:
        continue;
    }
    if (depth === 0) {
      return p + 1;
    }
  }
  return end;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
