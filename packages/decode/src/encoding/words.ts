/**
 * Comparing eight bytes at a time, as doubles. A comparison of two doubles takes about as long as one of two bytes, and V8 compiles an eighth of
 * the code. Benches: `npm run bench -- decode` and `columns`, "json".
 *
 * Two doubles are equal if and only if their bytes are, except for NaN and for zeros of either sign. What is known in advance has no zero bytes
 * ({@link viewOf}), so equal doubles always mean equal bytes. Where a double is not equal to itself, the bytes count as different: callers
 * take their slow path then.
 */

/** Positions in a longer view would not fit into 32 bits. */
const maxViewBytes = 0x7fff_ffff;

/**
 * The bytes that were looked at last: `view.getFloat64(offset + p, true)` is made of the eight bytes from `bytes[p]` on. To make a view takes as
 * long as reading a small record. So one is kept, for all topics together, and it is of a whole buffer: the records of a fetched batch lie in one.
 */
class Words {
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Where the bytes begin in the view. */
  offset = 0;
  #bytes: Uint8Array | null = null;
  #buffer: ArrayBufferLike | null = null;

  turnTo(bytes: Uint8Array): void {
    if (bytes === this.#bytes) {
      return;
    }
    const { buffer, byteOffset, byteLength } = bytes;
    const fitsView = buffer.byteLength <= maxViewBytes;
    if (buffer !== this.#buffer) {
      this.view = fitsView ? new DataView(buffer) : new DataView(buffer, byteOffset, byteLength);
      this.#buffer = fitsView ? buffer : null;
    }
    this.offset = fitsView ? byteOffset : 0;
    this.#bytes = bytes;
  }
}

export const words: Words = new Words();

/** More bytes are compared by the runtime, whose call costs more than a loop over this many. */
export const maxWordBytes = 512;

/** A view of bytes that are known in advance; null if some of them are zero. */
export function viewOf(bytes: Uint8Array): DataView | null {
  return bytes.includes(0) ? null : new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Whether `length` bytes (eight or more) of both are equal. All of them must be there. The known ones must not be zero. */
export function areSameWords(known: DataView, place: number, view: DataView, start: number, length: number): boolean {
  const tail = length - 8; // the last word may overlap the one before it
  for (let i = 0; i < tail; i += 8) {
    if (known.getFloat64(place + i, true) !== view.getFloat64(start + i, true)) {
      return false;
    }
  }
  return known.getFloat64(place + tail, true) === view.getFloat64(start + tail, true);
}

/**
 * The condition, as source, that the bytes of `view` from `position` on are not these: four bytes or more, of which none is zero. `view` and
 * `position` are the names of variables.
 */
export function differSource(bytes: Uint8Array, view: string, position: string): string {
  const known = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wordBytes = bytes.length < 8 ? 4 : 8;
  const tests: string[] = [];
  for (let next = 0; next < bytes.length; next += wordBytes) {
    const at = Math.min(next, bytes.length - wordBytes); // the last word may overlap the one before it
    const double = wordBytes === 8 ? known.getFloat64(at, true) : Number.NaN;
    tests.push(
      ...(Number.isNaN(double)
        ? Array.from({ length: wordBytes / 4 }, (_, i) => test("getInt32", at + 4 * i, known.getInt32(at + 4 * i, true)))
        : [test("getFloat64", at, double)]),
    );
  }
  return tests.join(" || ");

  // An index that is cut to 32 bits needs no check for overflow.
  function test(method: "getInt32" | "getFloat64", at: number, value: number): string {
    return `${view}.${method}((${position} + ${at}) | 0, true) !== ${value}`;
  }
}
