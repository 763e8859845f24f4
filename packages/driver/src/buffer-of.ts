/** The same bytes as a buffer of Node's, which clients ask for. Nothing is copied. */
export function bufferOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null || Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
