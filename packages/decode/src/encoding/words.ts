/**
 * Comparing bytes with known ones several at a time, through a view: text eight bytes at a time, as doubles, and other bytes four at a time,
 * as integers. V8 compiles a fraction of the code, and runs it in a fraction of the time: `npm run bench -- decode` and `columns`.
 *
 * Two doubles are equal only if their bytes are, except for zeros of either sign, and for subnormal numbers if some native code has told the
 * processor to take them for zero. No eight bytes of text without control characters are one of these. They may be a NaN only if they are no
 * UTF-8, and a NaN is not equal to itself: such bytes count as different, and callers take their slow path.
 */

const noView = new DataView(new ArrayBuffer(0));

/** Positions in a longer view would not fit into 32 bits. */
const maxViewBytes = 0x7fff_ffff;

/**
 * A view of the bytes that were looked at last: `view.getInt32(offset + p, true)` is made of the four bytes from `bytes[p]` on. To make a view
 * takes as long as reading a small record. So one view of a whole ArrayBuffer is kept, because the records of a fetched batch share it. It
 * keeps that buffer alive until other bytes are read.
 */
class Words {
  view: DataView = noView;
  /** Where the bytes begin in the view. */
  offset = 0;
  #bytes: Uint8Array | null = null;
  #buffer: ArrayBufferLike | null = null;

  turnTo(bytes: Uint8Array): void {
    if (bytes === this.#bytes) {
      return;
    }
    const { buffer, byteOffset, byteLength } = bytes;
    if (byteLength === 0) {
      this.#forget(); // a client may have transferred or shrunk the buffer, and may fill the same array again
      return;
    }
    if (buffer.byteLength > maxViewBytes) {
      this.#forget();
      this.view = new DataView(buffer, byteOffset, byteLength);
      return;
    }
    if (buffer !== this.#buffer) {
      this.view = new DataView(buffer);
      this.#buffer = buffer;
    }
    this.offset = byteOffset;
    this.#bytes = bytes;
  }

  #forget(): void {
    this.view = noView;
    this.offset = 0;
    this.#bytes = null;
    this.#buffer = null;
  }
}

export const words: Words = new Words();

/** Above this length, one call of the runtime is cheaper than a loop. */
export const maxWordBytes = 512;
/** Below this length, a loop over the bytes is as good. */
export const minWordBytes = 8;

const firstPrintable = 0x20;

/** A view of text that is known in advance; null if it has control characters. */
export function viewOfText(bytes: Uint8Array): DataView | null {
  return bytes.every((byte) => byte >= firstPrintable) ? new DataView(bytes.buffer, bytes.byteOffset, bytes.length) : null;
}

/** Whether known text stands in the view: `length` bytes (eight or more), which must all be there. It must not have control characters. */
export function isSameText(known: DataView, place: number, view: DataView, start: number, length: number): boolean {
  const tail = length - 8; // the last word may overlap the one before it
  let i = 0;
  // Two words a step. An index that is cut to 32 bits needs no check for overflow.
  for (; i < tail - 8; i += 16) {
    if (
      known.getFloat64((place + i) | 0, true) !== view.getFloat64((start + i) | 0, true) ||
      known.getFloat64((place + i + 8) | 0, true) !== view.getFloat64((start + i + 8) | 0, true)
    ) {
      return false;
    }
  }
  const isSame = i >= tail || known.getFloat64(place + i, true) === view.getFloat64(start + i, true);
  return isSame && known.getFloat64(place + tail, true) === view.getFloat64(start + tail, true);
}

/** Whether known bytes stand in the view: `length` of them (four or more), which must all be there. */
export function areSameWords(known: DataView, place: number, view: DataView, start: number, length: number): boolean {
  const tail = length - 4; // the last word may overlap the one before it
  let i = 0;
  // Four words a step, and one test for them all.
  for (; i < tail - 12; i += 16) {
    const differing =
      (known.getInt32((place + i) | 0, true) ^ view.getInt32((start + i) | 0, true)) |
      (known.getInt32((place + i + 4) | 0, true) ^ view.getInt32((start + i + 4) | 0, true)) |
      (known.getInt32((place + i + 8) | 0, true) ^ view.getInt32((start + i + 8) | 0, true)) |
      (known.getInt32((place + i + 12) | 0, true) ^ view.getInt32((start + i + 12) | 0, true));
    if (differing !== 0) {
      return false;
    }
  }
  for (; i < tail; i += 4) {
    if (known.getInt32((place + i) | 0, true) !== view.getInt32((start + i) | 0, true)) {
      return false;
    }
  }
  return known.getInt32(place + tail, true) === view.getInt32(start + tail, true);
}

/**
 * The condition, as source, that this text (four bytes or more, without control characters) does not stand in a view. `view` and `position`
 * are the names of variables. It throws a RangeError if the view ends before the text could: callers take that for a miss.
 */
export function otherTextSource(text: Uint8Array, view: string, position: string): string {
  const known = new DataView(text.buffer, text.byteOffset, text.length);
  const wordBytes = text.length < 8 ? 4 : 8;
  const tests: string[] = [];
  for (let next = 0; next < text.length; next += wordBytes) {
    const at = Math.min(next, text.length - wordBytes); // the last word may overlap the one before it
    const read = wordBytes === 4 ? "getInt32" : "getFloat64";
    // An index that is cut to 32 bits needs no check for overflow.
    tests.push(`${view}.${read}((${position} + ${at}) | 0, true) !== ${known[read](at, true)}`);
  }
  return tests.join(" || ");
}
