import { malformed } from "./errors.ts";

const maxVarintBytes = 5;
const maxVarlongBytes = 10;

/** Reads the decompressed records of one batch, and trusts nothing in them. The bytes end where the records end. */
export class CheckedReader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** A zigzag varint of at most 32 bits. */
  varint(what: string): number {
    let value = 0;
    for (let i = 0; i < maxVarintBytes; i++) {
      const byte = this.bytes[this.at];
      if (byte === undefined) {
        throw malformed(what, "a varint", "the end of the batch");
      }
      this.at++;
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw malformed(what, `a varint of at most ${maxVarintBytes} bytes`, "a longer one");
  }

  /** Moves on after a varint of at most 64 bits. */
  skipVarlong(what: string): void {
    const end = this.at + maxVarlongBytes;
    while (this.at < end) {
      const byte = this.bytes[this.at];
      if (byte === undefined) {
        throw malformed(what, "a varlong", "the end of the batch");
      }
      this.at++;
      if (byte < 0x80) {
        return;
      }
    }
    throw malformed(what, `a varlong of at most ${maxVarlongBytes} bytes`, "a longer one");
  }

  /** Moves on after so many bytes, which may not reach beyond `end`. */
  skip(length: number, end: number, what: string): void {
    if (length < 0 || length > end - this.at) {
      throw malformed(what, `0 to ${end - this.at} bytes`, length);
    }
    this.at += length;
  }
}
