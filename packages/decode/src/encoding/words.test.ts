import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generate } from "./codegen.ts";
import { areSameWords, isSameText, otherTextSource, viewOfText, words } from "./words.ts";

/** Bytes among which words that are special as doubles are common: NaN, infinities, zeros of either sign, subnormal numbers. */
const anyByte = fc.oneof(fc.constantFrom(0x00, 0x01, 0x7f, 0x80, 0xf0, 0xf8, 0xff), fc.integer({ min: 0, max: 255 }));
const textByte = fc.oneof(fc.constantFrom(0x20, 0x7f, 0x80, 0xef, 0xbf), fc.integer({ min: 0x20, max: 0xbf }));
/** Known bytes, one of them changed, and some others. */
const casesOf = (byte: typeof anyByte, minLength: number) =>
  fc.record({
    known: fc.array(byte, { minLength, maxLength: 70 }),
    others: fc.array(anyByte, { minLength: 70, maxLength: 70 }),
    nth: fc.nat(),
    mask: fc.integer({ min: 1, max: 255 }),
  });
type Case = { readonly known: readonly number[]; readonly others: readonly number[]; readonly nth: number; readonly mask: number };

/** All bytes of a case that have the length of the known ones, and whether they are the same. */
function comparedIn({ known, others, nth, mask }: Case): readonly (readonly [bytes: readonly number[], isSame: boolean])[] {
  const changed = known.map((one, i) => (i === nth % known.length ? one ^ mask : one));
  const random = others.slice(0, known.length);
  return [
    [known, true],
    [changed, false],
    [random, random.every((one, i) => one === known[i])],
  ];
}

/** Turns the words to the bytes, at an odd place in a buffer with others around them. */
function turnTo(bytes: readonly number[]): void {
  const buffer = new Uint8Array([...Array.from({ length: 5 }, () => 0x80), ...bytes, ...Array.from({ length: 9 }, () => 0xff)]);
  words.turnTo(buffer.subarray(5, 5 + bytes.length));
}

const viewOf = (bytes: readonly number[]): DataView => new DataView(Uint8Array.from(bytes).buffer);

describe("comparing", () => {
  it("any bytes with known ones is true if and only if they are the same", () => {
    fc.assert(
      fc.property(casesOf(anyByte, 4), (drawn) => {
        for (const [bytes, isSame] of comparedIn(drawn)) {
          turnTo(bytes);
          expect(areSameWords(viewOf(drawn.known), 0, words.view, words.offset, bytes.length)).toBe(isSame);
        }
      }),
    );
  });

  it("any bytes with known text is true if and only if they are the same", () => {
    fc.assert(
      fc.property(casesOf(textByte, 8), (drawn) => {
        const known = viewOfText(Uint8Array.from(drawn.known)) as DataView; // it has no control characters
        for (const [bytes, isSame] of comparedIn(drawn)) {
          turnTo(bytes);
          expect(isSameText(known, 0, words.view, words.offset, bytes.length)).toBe(isSame);
        }
      }),
    );
  });

  it("has no view of bytes that are no text: as doubles, zeros with different signs would be the same", () => {
    expect(viewOfText(Uint8Array.of(0x61, 0x62, 0x00))).toBeNull();
    expect(viewOfText(Uint8Array.of(0x61, 0x0f, 0x80))).toBeNull();
  });

  it("any bytes with known text in generated code says whether they are others", () => {
    fc.assert(
      fc.property(casesOf(textByte, 4), (drawn) => {
        const source = `return (view, at) => ${otherTextSource(Uint8Array.from(drawn.known), "view", "at")};`;
        const areOthers = generate(source, {}) as (view: DataView, at: number) => boolean;
        for (const [bytes, isSame] of comparedIn(drawn)) {
          turnTo(bytes);
          expect(areOthers(words.view, words.offset)).toBe(!isSame);
        }
      }),
    );
  });
});

describe("words", () => {
  const expectAt = (bytes: Uint8Array): void => {
    words.turnTo(bytes);
    expect(words.view.getUint8(words.offset)).toBe(bytes[0]);
    expect(words.view.getUint8(words.offset + bytes.length - 1)).toBe(bytes.at(-1));
  };

  it("turn to bytes wherever they lie in their buffer", () => {
    const buffer = new ArrayBuffer(64);
    for (const [start, length] of [
      [0, 16],
      [9, 20],
      [40, 24],
    ] as const) {
      expectAt(new Uint8Array(buffer, start, length).fill(start + 1));
    }
  });

  it("turn to bytes of a buffer that was shrunk and has grown again", () => {
    const buffer = Reflect.construct(ArrayBuffer, [64, { maxByteLength: 64 }]) as ArrayBuffer & { resize(length: number): void };
    const bytes = new Uint8Array(buffer, 32, 16).fill(7);
    expectAt(bytes);
    buffer.resize(8);
    words.turnTo(bytes);
    buffer.resize(64);
    expectAt(bytes.fill(9));
  });

  it("turn to no bytes if their buffer was transferred", () => {
    const bytes = new Uint8Array(16);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    words.turnTo(bytes);
    expect(() => words.view.getUint8(words.offset)).toThrow(RangeError);
  });
});
