/** Hexadecimal digits of bytes in a buffer. */
export function hexText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("hex");
}

/** A copy of bytes, so that the message need not be kept. */
export function copyOf(bytes: Uint8Array, start: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(start, end));
}
