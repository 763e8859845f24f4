import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainRunEnd, textRunEnd } from "./text-run.ts";

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

describe("the run of bytes that mean themselves in a JSON string", () => {
  test("ends where the first other byte stands", () => {
    fc.assert(
      fc.property(runs, fc.nat(40), (bytes, from) => {
        const start = Math.min(from, bytes.length);
        expect(textRunEnd(bytes, start, bytes.length)).toBe(byBytes(bytes, start, bytes.length, ends));
        expect(plainRunEnd(bytes, start, bytes.length)).toBe(byBytes(bytes, start, bytes.length, (byte) => ends(byte) || byte > 0x7f));
      }),
    );
  });

  test.each(Array.from({ length: 256 }, (_, byte) => byte))("ends at byte %i or not, at each place of a long run", (byte) => {
    const bytes = new Uint8Array(100).fill(0x78);
    for (let place = 0; place < bytes.length; place++) {
      bytes[place] = byte;
      expect(textRunEnd(bytes, 0, bytes.length)).toBe(ends(byte) ? place : bytes.length);
      expect(plainRunEnd(bytes, 0, bytes.length)).toBe(ends(byte) || byte > 0x7f ? place : bytes.length);
      bytes[place] = 0x78;
    }
  });

  test("ends at the end that was asked for, also if other bytes follow", () => {
    const bytes = new Uint8Array(200).fill(0x78);
    for (let end = 0; end <= bytes.length; end++) {
      expect(textRunEnd(bytes, 0, end)).toBe(end);
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
