import { areSame, keep } from "./same-bytes.ts";
import { areSameWords, isSameText, maxWordBytes, minWordBytes, words } from "./words.ts";

/** Fields after so many bytes of a block are read each time. */
const maxBytes = 1_024;
/** If fields have changed, the whole block is remembered anew after so many messages: a field that changed once may stay the same again. */
const messagesBetween = 64;

const comma = 0x2c;
const closingBrace = 0x7d;

/**
 * How fields are written. Text, as in JSON: a number could have more digits, so a comma or a brace must follow a field. Binary, as in Avro: the
 * bytes of a field say where it ends.
 */
export type FieldBytes = "text" | "binary";

/**
 * Remembers the fields of a block as they were in an earlier message: `{"version":"3.5.0","connector":"mysql"` and so on, or the
 * same in Avro. Most fields of a source block stay the same for hours, and in a snapshot all of them do. Fields that follow one another and did
 * not change are compared as one run of bytes, which takes a fraction of the time of reading them. A field that did change is read each time,
 * and divides the run.
 *
 * Equal bytes are judged equally, so a field is moved over only if it was read before. `npm run bench -- columns` measures what that is worth.
 */
export class BlockMemo {
  /** The position after the fields that were moved over. */
  pos = 0;
  /** The texts of the remembered fields that the plan peeks at, in the order of the plan. */
  readonly texts: (string | null | undefined)[] = [];
  /** What the plan made of these texts. Undefined while they are not known. */
  head: unknown = undefined;
  readonly #isKept: readonly boolean[];
  readonly #isText: boolean;
  readonly #bytes: Buffer = Buffer.alloc(maxBytes);
  readonly #view: DataView = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, maxBytes);
  /** Where each field begins in the bytes; the last one is the end of them all. */
  readonly #starts: Int32Array;
  /** For each field, the first one from there on that is to be read. */
  readonly #runEnds: Int32Array;
  #isLearning = true;
  #isFresh = false;
  #hasChanged = false;
  #messages = 0;

  /** `isKept`: which fields of the block are remembered. */
  constructor(isKept: readonly boolean[], made: FieldBytes) {
    this.#isKept = isKept;
    this.#isText = made === "text";
    this.#starts = new Int32Array(isKept.length + 1);
    this.#runEnds = new Int32Array(isKept.length);
  }

  /** The number of the first field that must be read, of a block that begins at `p`. */
  begin(b: Uint8Array, p: number, end: number): number {
    this.#isFresh = false;
    if (this.#hasChanged && ++this.#messages >= messagesBetween) {
      this.#isLearning = true;
      this.head = undefined;
    }
    return this.next(b, p, end, 0);
  }

  /** The number of the first field that must be read, if the field of this number begins at `p`. Sets `pos` to where it begins. */
  next(b: Uint8Array, p: number, end: number, field: number): number {
    this.pos = p;
    if (this.#isLearning || field >= this.#runEnds.length) {
      return field;
    }
    const runEnd = this.#runEnds[field] as number;
    if (runEnd === field) {
      return field;
    }
    const from = this.#starts[field] as number;
    const length = (this.#starts[runEnd] as number) - from;
    if (this.#stands(b, p, end, from, length)) {
      this.pos = p + length;
      return runEnd;
    }
    return this.#firstChanged(b, p, end, field);
  }

  /** Remembers the field of this number as it stands from `start` to `end`, if the block is remembered at this message. */
  keep(b: Uint8Array, start: number, end: number, field: number): void {
    if (!this.#isLearning) {
      return;
    }
    const from = this.#starts[field] as number;
    const to = Math.min(from + end - start, maxBytes + 1); // one more marks a field that has no room, and those after it
    this.#starts[field + 1] = to;
    if (to <= maxBytes) {
      keep(this.#bytes, from, b, start, end - start);
    }
    if (field === this.#runEnds.length - 1) {
      this.#learned();
    }
  }

  keepText(index: number, text: string | null | undefined): void {
    if (this.#isLearning) {
      this.texts[index] = text;
    }
  }

  /** Remembers what was made of the texts, if they were remembered at this message. */
  keepHead(head: unknown): void {
    if (this.#isFresh) {
      this.head = head;
    }
  }

  #learned(): void {
    let runEnd = this.#runEnds.length;
    for (let field = runEnd - 1; field >= 0; field--) {
      if (this.#isKept[field] !== true || (this.#starts[field + 1] as number) > maxBytes) {
        runEnd = field;
      }
      this.#runEnds[field] = runEnd;
    }
    this.#isLearning = false;
    this.#isFresh = true;
    this.#hasChanged = false;
    this.#messages = 0;
  }

  #firstChanged(b: Uint8Array, start: number, end: number, first: number): number {
    let field = first;
    let p = start;
    const last = (this.#runEnds[first] as number) - 1;
    for (; field < last; field++) {
      const from = this.#starts[field] as number;
      const length = (this.#starts[field + 1] as number) - from;
      if (!this.#stands(b, p, end, from, length)) {
        break;
      }
      p += length;
    }
    // If all others are the same, it is the last one.
    for (let before = field; before >= 0 && (this.#runEnds[before] as number) > field; before--) {
      this.#runEnds[before] = field;
    }
    this.#hasChanged = true;
    this.pos = p;
    return field;
  }

  /** Whether these remembered fields stand at `p`. */
  #stands(b: Uint8Array, p: number, end: number, from: number, length: number): boolean {
    const after = p + length;
    if (after > end || (this.#isText && (after === end || (b[after] !== comma && b[after] !== closingBrace)))) {
      return false;
    }
    if (length > maxWordBytes) {
      return this.#bytes.compare(b, p, after, from, from + length) === 0;
    }
    if (length < minWordBytes) {
      return areSame(this.#bytes, from, b, p, length);
    }
    words.turnTo(b); // other bytes may have been read since the last field
    const start = words.offset + p;
    return this.#isText
      ? isSameText(this.#view, from, words.view, start, length)
      : areSameWords(this.#view, from, words.view, start, length);
  }
}
