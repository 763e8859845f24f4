import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bytesBefore, digitRunEndIn, fourDigits, plainRunEnd, plainRunEndIn, type TextInView, textRunEnd } from "./text-run.ts";

const ends = (byte: number): boolean => byte < 0x20 || byte === 0x22 || byte === 0x5c;

/** The bytes one after another, as the definition of a run says. */
function byBytes(bytes: Uint8Array, start: number, end: number, isEnd: (byte: number) => boolean): number {
  let p = start;
  while (p < end && !isEnd(bytes[p] as number)) {
    p++;
  }
  return p;
}

/** Long runs of one byte, in which others stand here and there, at any place of a larger buffer. */
const runs = fc
  .record({
    fill: fc.integer({ min: 0x20, max: 0xff }).filter((byte) => !ends(byte)),
    length: fc.integer({ min: 0, max: 200 }),
    others: fc.array(fc.tuple(fc.nat(199), fc.nat(255)), { maxLength: 4 }),
    before: fc.nat(9),
    after: fc.nat(20),
  })
  .map(({ fill, length, others, before, after }) => {
    const buffer = Buffer.alloc(before + length + after, '"');
    const bytes = buffer.subarray(before, before + length).fill(fill);
    for (const [place, byte] of others.filter(([at]) => at < length)) {
      bytes[place] = byte;
    }
    return bytes;
  });

/** The same bytes in a view of their whole buffer. */
function inView(bytes: Uint8Array, end: number = bytes.length): TextInView {
  return { bytes, view: new DataView(bytes.buffer), viewOffset: bytes.byteOffset, end };
}

describe("the run of bytes that mean themselves in a JSON string", () => {
  test("ends where the first other byte stands", () => {
    fc.assert(
      fc.property(runs, fc.nat(40), (bytes, from) => {
        const start = Math.min(from, bytes.length);
        expect(textRunEnd(bytes, start, bytes.length)).toBe(byBytes(bytes, start, bytes.length, ends));
        const plain = byBytes(bytes, start, bytes.length, (byte) => ends(byte) || byte > 0x7f);
        expect(plainRunEnd(bytes, start, bytes.length)).toBe(plain);
        expect(plainRunEndIn(inView(bytes), start)).toBe(plain);
      }),
    );
  });

  test.each(Array.from({ length: 256 }, (_, byte) => byte))("ends at byte %i or not, at each place of a long run", (byte) => {
    const bytes = new Uint8Array(100).fill(0x78);
    for (let place = 0; place < bytes.length; place++) {
      bytes[place] = byte;
      expect(textRunEnd(bytes, 0, bytes.length)).toBe(ends(byte) ? place : bytes.length);
      const plain = ends(byte) || byte > 0x7f ? place : bytes.length;
      expect(plainRunEnd(bytes, 0, bytes.length)).toBe(plain);
      expect(plainRunEndIn(inView(bytes), 0)).toBe(plain);
      bytes[place] = 0x78;
    }
  });

  test("ends at the end that was asked for, also if other bytes follow", () => {
    const bytes = new Uint8Array(200).fill(0x78);
    for (let end = 0; end <= bytes.length; end++) {
      expect(textRunEnd(bytes, 0, end)).toBe(end);
      expect(plainRunEndIn(inView(bytes, end), 0)).toBe(end);
    }
  });

  test("ends where a buffer ends that was shrunk after the end was known", () => {
    const buffer = Reflect.construct(ArrayBuffer, [200, { maxByteLength: 200 }]) as ArrayBuffer & { resize(length: number): void };
    const bytes = new Uint8Array(buffer).fill(0x78);
    buffer.resize(75);
    expect(plainRunEnd(bytes, 0, 200)).toBe(75);
    expect(textRunEnd(bytes, 80, 200)).toBe(80);
  });

  test("is empty in a buffer that was transferred", () => {
    const bytes = new Uint8Array(200).fill(0x78);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(plainRunEnd(bytes, 0, 200)).toBe(0);
  });
});

describe("the run of digits", () => {
  const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

  test.each(Array.from({ length: 256 }, (_, byte) => byte))("ends at byte %i or not, at each place and after any digits", (byte) => {
    for (const digit of [0x30, 0x35, 0x39]) {
      const bytes = new Uint8Array(30).fill(digit);
      for (let place = 0; place < bytes.length; place++) {
        bytes[place] = byte;
        expect(digitRunEndIn(inView(bytes), 0)).toBe(isDigit(byte) ? bytes.length : place);
        bytes[place] = digit;
      }
    }
  });

  test("ends at the end that was asked for, also if other digits follow", () => {
    const bytes = new Uint8Array(40).fill(0x37);
    for (let start = 0; start < 20; start++) {
      for (let end = start; end <= bytes.length; end++) {
        expect(digitRunEndIn(inView(bytes, end), start)).toBe(end);
      }
    }
  });
});

test("a word's first byte with its highest bit set is found whatever follows it", () => {
  for (let bits = 1; bits < 16; bits++) {
    const found = [0, 1, 2, 3].reduce((word, at) => word | ((bits >> at) & 1 ? 0x80 << (8 * at) : 0), 0);
    expect(bytesBefore(found)).toBe([0, 1, 2, 3].find((at) => (bits >> at) & 1));
  }
});

test("four digits are their number", () => {
  for (let number = 0; number < 10_000; number++) {
    const word = Buffer.from(String(number).padStart(4, "0")).readInt32LE(0);
    expect(fourDigits(word)).toBe(number);
  }
});
