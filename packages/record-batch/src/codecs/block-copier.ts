/** Up to so many bytes, a loop is faster than a call into the runtime. Measured by the suite `record-batch`. */
const loopUpTo = 128;
const wordBytes = 4;
/** Below this distance, a call would copy too little at a time. */
const shortestRepeat = 48;

/**
 * Copies literals from a source, which holds those of one compressed block or more, and matches. Short ones are copied in words of four bytes, and so up to three bytes after them in `out`
 * may be written too: what a block becomes is written in order, and those bytes are written after that.
 */
export class BlockCopier {
  readonly #source: Buffer;
  readonly #out: Buffer;
  readonly #sourceWords: DataView;
  readonly #outWords: DataView;
  /** Words from here on may be read, or written, without reaching beyond the end. */
  readonly #lastFrom: number;
  readonly #lastTo: number;

  constructor(source: Buffer, out: Buffer) {
    this.#source = source;
    this.#out = out;
    this.#sourceWords = new DataView(source.buffer, source.byteOffset, source.length);
    this.#outWords = new DataView(out.buffer, out.byteOffset, out.length);
    this.#lastFrom = source.length - loopUpTo;
    this.#lastTo = out.length - loopUpTo;
  }

  /** Copies `length` bytes from `from` in the source to `to`. The caller has checked that they lie within both. */
  literal(from: number, to: number, length: number): void {
    if (length > loopUpTo) {
      this.#source.copy(this.#out, to, from, from + length);
    } else if (from > this.#lastFrom || to > this.#lastTo) {
      const source = this.#source;
      const out = this.#out;
      for (let i = 0; i < length; i++) {
        out[to + i] = source[from + i] as number; // within bounds, by the contract above
      }
    } else {
      const source = this.#sourceWords;
      const out = this.#outWords;
      for (let i = 0; i < length; i += wordBytes) {
        out.setInt32(to + i, source.getInt32(from + i, true), true);
      }
    }
  }

  /**
   * Copies `length` bytes from `distance` bytes before `to`. If source and target overlap, the bytes repeat. The caller has checked that both lie
   * within `out`.
   */
  match(to: number, distance: number, length: number): void {
    const from = to - distance;
    if (length <= loopUpTo && distance >= wordBytes && to <= this.#lastTo) {
      const out = this.#outWords;
      for (let i = 0; i < length; i += wordBytes) {
        out.setInt32(to + i, out.getInt32(from + i, true), true);
      }
      return;
    }
    const out = this.#out;
    if (length <= loopUpTo || distance < shortestRepeat) {
      for (let i = 0; i < length; i++) {
        out[to + i] = out[from + i] as number; // within bounds, by the contract above
      }
      return;
    }
    // Each round copies what is there already, so that nothing is read before it is written.
    let copied = 0;
    while (copied < length) {
      const part = Math.min(distance + copied, length - copied);
      out.copyWithin(to + copied, from, from + part);
      copied += part;
    }
  }
}
