/** Bytes as tests and vectors write them: text stands for its UTF-8, and a list for its parts, one after the other. */
export type WrittenBytes = string | Uint8Array | HexBytes | Base64Bytes | readonly WrittenBytes[];

/** Two digits a byte; spaces between them count for nothing. */
export interface HexBytes {
  /** The digits, in either case. */
  readonly hex: string;
}

/** Bytes, written as base64. */
export interface Base64Bytes {
  /** The bytes in base64. */
  readonly base64: string;
}

/** What is written as bytes: `bytesOf([{ hex: "0000000007" }, '{"id":1}'])`. Null is Kafka's null. */
export function bytesOf(written: WrittenBytes): Buffer;
export function bytesOf(written: WrittenBytes | null): Buffer | null;
export function bytesOf(written: WrittenBytes | null): Buffer | null {
  if (written === null || written instanceof Buffer) {
    return written;
  }
  if (typeof written === "string" || written instanceof Uint8Array) {
    return Buffer.from(written as Uint8Array); // whichever of the two it is
  }
  if (isParts(written)) {
    return Buffer.concat(written.map((part) => bytesOf(part)));
  }
  return "hex" in written ? Buffer.from(written.hex.replaceAll(" ", ""), "hex") : Buffer.from(written.base64, "base64");
}

function isParts(written: HexBytes | Base64Bytes | readonly WrittenBytes[]): written is readonly WrittenBytes[] {
  return Array.isArray(written);
}
