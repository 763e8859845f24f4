import type { RecordHeaders } from "@cdckit/decode";
import { afterVarint, varintAt } from "./varint.ts";

/** Header => nameLength varint, name, valueLength varint, value. The bytes were checked, and `at` is where the number of headers stands. */
export function readHeaders(bytes: Uint8Array, at: number): RecordHeaders {
  const count = varintAt(bytes, at);
  const headers: (readonly [string, Uint8Array | null])[] = [];
  let next = afterVarint(bytes, at);
  for (let i = 0; i < count; i++) {
    const nameStart = afterVarint(bytes, next);
    const nameEnd = nameStart + varintAt(bytes, next);
    const valueLength = varintAt(bytes, nameEnd);
    const valueStart = afterVarint(bytes, nameEnd);
    next = valueStart + Math.max(0, valueLength);
    headers.push([textOf(bytes, nameStart, nameEnd), valueLength < 0 ? null : bytes.subarray(valueStart, next)]);
  }
  return headers;
}

/** Whether the headers have exactly these names, in this order. It is called for every record, so names are compared in their bytes. */
export function headerNamesInBytes(bytes: Uint8Array, at: number, names: readonly string[]): boolean {
  if (varintAt(bytes, at) !== names.length) {
    return false;
  }
  let next = afterVarint(bytes, at);
  for (let i = 0; i < names.length; i++) {
    const nameStart = afterVarint(bytes, next);
    const nameEnd = nameStart + varintAt(bytes, next);
    if (!isText(bytes, nameStart, nameEnd, names[i] as string)) {
      return false;
    }
    next = afterVarint(bytes, nameEnd) + Math.max(0, varintAt(bytes, nameEnd));
  }
  return true;
}

function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  const length = end - start;
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i] as number;
    if (byte >= 0x80) {
      return textOf(bytes, start, end) === text; // a name beyond ASCII: rare enough to decode it
    }
    if (byte !== text.charCodeAt(i)) {
      return false;
    }
  }
  return length === text.length;
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}
