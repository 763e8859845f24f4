/** The start of the text after its byte order mark, which readers of JSON may skip (RFC 8259, section 8.1). */
export function skipByteOrderMark(bytes: Uint8Array, start: number, end: number): number {
  return end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf ? start + 3 : start;
}
