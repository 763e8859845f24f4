import { areSame, keep } from "../same-bytes.ts";

/** Longer fields are not remembered. */
const maxBytes = 128;
/** A field that differed this many times in a row is remembered only once in a while. */
const patience = 8;
const onceIn = 64;

/**
 * Remembers a text field as it was in the last message: `,"name":"text"`. Most fields of a source block stay the same for hours, and
 * comparing their bytes takes less time than reading them.
 */
export class FieldMemo {
  /** The number of remembered bytes; 0 if there are none. */
  length = 0;
  /** The value of the remembered field. */
  text: string | null | undefined = undefined;
  readonly #bytes = new Uint8Array(maxBytes);
  #misses = 0;

  /** Whether the remembered field stands at `p`. The bytes may end before the field does. */
  stands(b: Uint8Array, p: number): boolean {
    const { length } = this;
    return length > 0 && p + length <= b.length && areSame(this.#bytes, 0, b, p, length);
  }

  /** Remembers the field from `start` to `end` if it is text. Text ends with a quote, so no longer field begins with the same bytes. */
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
