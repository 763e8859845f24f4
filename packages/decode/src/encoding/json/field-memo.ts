import { areSame, keep } from "../same-bytes.ts";

/** Longer fields are not remembered. */
const maxBytes = 128;
/** A field that has been another each time for so long is remembered once in a while only. */
const patience = 8;
const onceIn = 64;

/**
 * A field of text as it stood in the last message: `,"name":"text"`. In a block that says where rows come from, most fields say the same
 * for hours, and comparing their bytes takes less than reading them.
 */
export class FieldMemo {
  /** In bytes; 0 while there is none. */
  length = 0;
  /** What was read of it. */
  text: string | null | undefined = undefined;
  readonly #bytes = new Uint8Array(maxBytes);
  #misses = 0;

  /** Whether it stands at `p`, where bytes may end. */
  stands(b: Uint8Array, p: number): boolean {
    const { length } = this;
    return length > 0 && p + length <= b.length && areSame(this.#bytes, 0, b, p, length);
  }

  /** Remembers the field from `start` to `end` where it is text, which no other text's beginning can be taken for: it ends in a quote. */
  keep(b: Uint8Array, start: number, end: number, text: string | null | undefined): void {
    this.#misses = this.length === 0 ? 0 : this.#misses + 1;
    if (this.#misses > patience && this.#misses % onceIn !== 0) {
      return;
    }
    const isText = b[end - 1] === 0x22 && end - start <= maxBytes;
    this.length = isText ? end - start : 0;
    this.text = text;
    keep(this.#bytes, 0, b, start, this.length);
  }
}
