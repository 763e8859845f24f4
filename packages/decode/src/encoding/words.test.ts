import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generate } from "./codegen.ts";
import { areSameWords, differSource, viewOf, words } from "./words.ts";

/** Bytes among which words that are special as doubles are common: NaN, infinities, zeros of either sign, subnormal numbers. */
const byte = fc.oneof(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xf0, 0xf8, 0xff), fc.integer({ min: 0, max: 255 }));
const bytesOf = (minLength: number) =>
  fc.uint8Array({ minLength, maxLength: 40 }).chain(({ length }) => fc.array(byte, { minLength: length, maxLength: length }));

/** The bytes, at an odd place in a buffer with others around them. */
function placed(bytes: readonly number[]): Uint8Array {
  const buffer = new Uint8Array([...Array.from({ length: 5 }, () => 0x80), ...bytes, ...Array.from({ length: 9 }, () => 0xff)]);
  return buffer.subarray(5, 5 + bytes.length);
}

const nonZero = (bytes: readonly number[]): readonly number[] => bytes.map((one) => (one === 0 ? 1 : one));

describe("areSameWords", () => {
  it("is true only for equal bytes, and is so for those of text", () => {
    fc.assert(
      fc.property(bytesOf(8), fc.nat(), fc.integer({ min: 1, max: 255 }), (some, nth, mask) => {
        const known = nonZero(some);
        const view = viewOf(Uint8Array.from(known)) as DataView;
        const changed = known.map((one, i) => (i === nth % known.length ? one ^ mask : one));
        for (const bytes of [known, changed, some]) {
          words.turnTo(placed(bytes));
          const isSame = areSameWords(view, 0, words.view, words.offset, known.length);
          expect(isSame && !Buffer.from(bytes).equals(Buffer.from(known))).toBe(false);
        }
        const text = known.map((one) => 0x20 + (one % 0x5f));
        words.turnTo(placed(text));
        expect(areSameWords(viewOf(Uint8Array.from(text)) as DataView, 0, words.view, words.offset, text.length)).toBe(true);
      }),
    );
  });

  it("is not asked about zeros: a zero has two signs", () => {
    expect(viewOf(Uint8Array.of(1, 2, 0))).toBeNull();
  });
});

describe("differSource", () => {
  const differs = (known: Uint8Array): ((view: DataView, position: number) => boolean) =>
    generate(`return (v, q) => ${differSource(known, "v", "q")};`, {}) as (view: DataView, position: number) => boolean;

  it("is false for the same bytes and true for all others", () => {
    fc.assert(
      fc.property(bytesOf(4), fc.nat(), fc.integer({ min: 1, max: 255 }), (some, nth, mask) => {
        const known = nonZero(some);
        const isOther = differs(Uint8Array.from(known));
        const changed = known.map((one, i) => (i === nth % known.length ? one ^ mask : one));
        for (const bytes of [known, changed]) {
          words.turnTo(placed(bytes));
          expect(isOther(words.view, words.offset)).toBe(bytes === changed);
        }
      }),
    );
  });
});

describe("words", () => {
  it("turn to bytes wherever they lie in their buffer", () => {
    const buffer = new ArrayBuffer(64);
    for (const [start, length] of [
      [0, 16],
      [9, 20],
      [40, 24],
    ] as const) {
      const bytes = new Uint8Array(buffer, start, length).fill(start + 1);
      words.turnTo(bytes);
      expect(words.view.getUint8(words.offset)).toBe(start + 1);
      expect(words.view.getUint8(words.offset + length - 1)).toBe(start + 1);
    }
  });
});
