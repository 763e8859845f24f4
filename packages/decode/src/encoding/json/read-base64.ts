import { base64Length, decodeBase64 } from "./base64.ts";
import { type JsonCursor, missed, plainStringEndIn, readText } from "./cursor.ts";

/**
 * The buffer into which a column's base64 text is decoded, for conversions that read bytes in place. All readers share it: the next call
 * overwrites it, so nothing may keep it.
 */
export const scratch: { bytes: Buffer } = { bytes: Buffer.alloc(256) };

const maxScratchBytes = 65_536;

/** Decodes a base64 string into {@link scratch} and returns the number of bytes; -1 for null. */
export function readBase64(c: JsonCursor): number {
  const start = c.pos + 1;
  const close = c.bytes[c.pos] === 0x22 ? plainStringEndIn(c, start) : missed;
  if (close === missed) {
    readText(c); // null, a miss, or a string that is not plain ASCII, which is no base64
    c.pos = c.bytes[start - 1] === 0x22 ? missed : c.pos;
    return -1;
  }
  const length = base64Length(c.bytes, start, close);
  if (length > scratch.bytes.length && length <= maxScratchBytes) {
    scratch.bytes = Buffer.alloc(maxScratchBytes);
  }
  if (length < 0 || length > scratch.bytes.length || !decodeBase64(c.bytes, start, scratch.bytes, length)) {
    c.pos = missed;
    return -1;
  }
  c.pos = close + 1;
  return length;
}

/** Decodes a base64 string into a new buffer; null for null. */
export function readBase64Buffer(c: JsonCursor): Buffer | null {
  const start = c.pos + 1;
  const close = c.bytes[c.pos] === 0x22 ? plainStringEndIn(c, start) : missed;
  const length = close === missed ? -1 : base64Length(c.bytes, start, close);
  if (length < 0) {
    readText(c);
    c.pos = c.bytes[start - 1] === 0x22 ? missed : c.pos;
    return null;
  }
  const target = Buffer.allocUnsafe(length);
  c.pos = decodeBase64(c.bytes, start, target, length) ? close + 1 : missed;
  return target;
}
