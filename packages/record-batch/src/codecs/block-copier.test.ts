import fc from "fast-check";
import { expect, test } from "vitest";
import { BlockCopier } from "./block-copier.ts";

const lengths = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 }));
/** `back` chooses where a match begins, and where a literal does, by its remainder. */
const copies = fc.array(fc.record({ isLiteral: fc.boolean(), length: lengths, back: fc.oneof(fc.nat(8), fc.nat(1_000)) }), {
  minLength: 1,
  maxLength: 20,
});

/** One byte at a time, as the formats define it. */
function inBytes(block: Buffer, toMake: readonly Copy[]): number[] {
  const out: number[] = [];
  for (const { isLiteral, from, length } of toMake) {
    for (let i = 0; i < length; i++) {
      out.push((isLiteral ? block[from + i] : out[from + i]) as number);
    }
  }
  return out;
}

interface Copy {
  readonly isLiteral: boolean;
  /** In the block, or in what it has become. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

test("literals and matches are what copies of single bytes make, up to the ends of both buffers", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 300, maxLength: 600 }), copies, fc.nat(200), fc.nat(7), (bytes, chosen, room, offset) => {
      const block = Buffer.from(bytes);
      let to = 0;
      const toMake = chosen.map(({ isLiteral, length, back }) => {
        const literal = isLiteral || to === 0;
        const from = literal ? back % (block.length - length + 1) : to - 1 - (back % to);
        to += length;
        return { isLiteral: literal, from, to: to - length, length };
      });
      const memory = new ArrayBuffer(offset + to + room);
      const out = Buffer.from(memory, offset); // the views of the copier have to begin where the buffer does
      const copier = new BlockCopier(block, out);
      for (const { isLiteral, from, to: at, length } of toMake) {
        if (isLiteral) {
          copier.literal(from, at, length);
        } else {
          copier.match(at, at - from, length);
        }
      }
      expect([...out.subarray(0, to)]).toEqual(inBytes(block, toMake));
      expect([...new Uint8Array(memory, 0, offset)], "before the buffer").toEqual(Array.from({ length: offset }, () => 0));
    }),
    { numRuns: 2_000 },
  );
});
