import { damaged } from "./output-limit.ts";

/** Where the reader of a stream of bits stands is a number of bits, and a word holds this many whichever bit of a byte they begin at. */
const wordBits = 25;

export function corrupt(what: string): Error {
  return damaged("zstd", what);
}

/** Bits from the first byte on, the lowest bit of each first: probabilities are written so. Behind the end there are none. */
export class ForwardBits {
  readonly #bytes: Buffer;
  readonly #end: number;
  /** In bits, from the start of the bytes. */
  #at: number;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#end = end;
    this.#at = start * 8;
  }

  /** Where the next whole byte begins. It may be behind the end. */
  get nextByte(): number {
    return (this.#at + 7) >>> 3;
  }

  /** At most {@link wordBits}. */
  read(count: number): number {
    const bits = wordAt(this.#bytes, this.#at, count);
    this.#at += count;
    if (this.nextByte > this.#end) {
      throw corrupt("a table ends too early");
    }
    return bits;
  }

  /** So many bits are read again. */
  rewind(count: number): void {
    this.#at -= count;
  }
}

/** Bits from the last one on: what Huffman and FSE wrote. The highest bit that is set in the last byte marks their end. */
export class BackwardBits {
  readonly #bytes: Buffer;
  readonly #start: number;
  /** Below 0 if more were read than there are: those that are missing are read as zeros. */
  left: number;

  constructor(bytes: Buffer, start: number, end: number) {
    const last = end > start ? (bytes[end - 1] as number) : 0;
    if (last === 0) {
      throw corrupt("a stream of bits has no mark at its end");
    }
    this.#bytes = bytes;
    this.#start = start * 8;
    this.left = (end - start) * 8 - 8 + 31 - Math.clz32(last);
  }

  /** At most {@link wordBits}. */
  read(count: number): number {
    const bits = this.peek(count);
    this.left -= count;
    return bits;
  }

  /** The same bits, which are still to be read. */
  peek(count: number): number {
    const at = this.left - count;
    if (at >= 0) {
      return wordAt(this.#bytes, this.#start + at, count);
    }
    return this.left <= 0 ? 0 : wordAt(this.#bytes, this.#start, this.left) << -at;
  }

  /** More of them than a word has. */
  readLong(count: number): number {
    if (count <= wordBits) {
      return this.read(count);
    }
    const high = this.read(count - 16);
    return high * 0x1_00_00 + this.read(16);
  }
}

/** Bytes behind the end count as zeros: `undefined` does so in all of these operations. */
function wordAt(bytes: Buffer, bit: number, count: number): number {
  const at = bit >>> 3;
  const word =
    (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
  return (word >>> (bit & 7)) & ((1 << count) - 1);
}
