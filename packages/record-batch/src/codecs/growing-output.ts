import { BlockCopier } from "./block-copier.ts";
import { damaged, tooLarge } from "./output-limit.ts";

/** Where batches are unpacked before their size is known. It is kept while it is small, and is in use by one batch at a time. */
let scratch: Buffer = Buffer.alloc(0);
const largestScratch = 4_194_304;

/**
 * The output grows with the blocks, because a frame need not say its size. It is copied to its size at the end: what a batch does not fill would
 * be held as long as one of its records is.
 */
export class GrowingOutput {
  readonly #codec: string;
  readonly #packedBytes: number;
  readonly #limit: number;
  #source: Buffer | null = null;
  /** From the source to the buffer. A batch may have hundreds of thousands of blocks: those of one source get one. */
  #copier: BlockCopier | null = null;
  buffer: Buffer = scratch;
  length = 0;

  constructor(codec: string, packedBytes: number, limit: number) {
    this.#codec = codec;
    this.#packedBytes = packedBytes;
    this.#limit = limit;
  }

  /** What copies literals of the source, and matches. It may be used until more room is made. */
  copierFrom(source: Buffer): BlockCopier {
    if (this.#copier === null || this.#source !== source) {
      this.#source = source;
      this.#copier = new BlockCopier(source, this.buffer);
    }
    return this.#copier;
  }

  /** Makes room for a block of at most `bytes`, and returns the end of the room: the limit, if it leaves less. */
  reserve(bytes: number): number {
    const end = Math.min(this.length + bytes, this.#limit);
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(end, this.buffer.length * 2)));
      this.buffer.copy(grown, 0, 0, this.length);
      this.buffer = grown;
      this.#copier = null;
    }
    return end;
  }

  /** So many bytes follow. Throws `batch-too-large` if the limit does not leave them. */
  checkLimit(bytes: number): void {
    if (bytes > this.#limit - this.length) {
      throw tooLarge(this.#codec, this.#packedBytes, this.#limit);
    }
  }

  /** The error of a block that did not fit: it exceeds the limit, or the block size of its own frame. */
  overflow(roomEnd: number): Error {
    return roomEnd === this.#limit
      ? tooLarge(this.#codec, this.#packedBytes, this.#limit)
      : damaged(this.#codec, "a block is larger than its frame allows");
  }

  /** The bytes, in memory of their own. */
  take(): Buffer {
    if (this.buffer.length > largestScratch) {
      return this.buffer.subarray(0, this.length);
    }
    scratch = this.buffer;
    const taken = Buffer.allocUnsafeSlow(this.length);
    this.buffer.copy(taken, 0, 0, this.length);
    return taken;
  }
}
