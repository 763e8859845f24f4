import fc from "fast-check";
import { expect, test } from "vitest";
import { exactInteger } from "./exact-integer.ts";

function read(text: string): number | bigint {
  const bytes = Buffer.from(`,${text}9`);
  return exactInteger(bytes, 1, bytes.length - 1);
}

function expected(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

test("integers of any length are exact", () => {
  const lengths = fc
    .integer({ min: 1, max: 30 })
    .chain((length) => fc.bigInt({ min: -(10n ** BigInt(length)), max: 10n ** BigInt(length) }));
  fc.assert(
    fc.property(lengths, (value) => {
      expect(read(String(value))).toBe(expected(value));
    }),
  );
});

test.each([2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 10n ** 19n - 1n, 2n ** 64n, 10n ** 18n])(
  "%s and its negative are exact at the edges of doubles and words",
  (value) => {
    expect(read(String(value))).toBe(expected(value));
    expect(read(String(-value))).toBe(expected(-value));
  },
);

test("a zero with a minus is -0, as in JSON.parse", () => {
  expect(read("-0")).toBe(-0);
});
