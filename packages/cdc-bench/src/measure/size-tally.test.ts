import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SizeTally } from "./size-tally.ts";

function tallyOf(sizes: readonly number[]): SizeTally {
  const tally = new SizeTally();
  for (const size of sizes) {
    tally.add(size);
  }
  return tally;
}

describe("a tally of sizes", () => {
  test("of nothing is zero", () => {
    expect(tallyOf([]).summary()).toEqual({ count: 0, totalBytes: 0, avgBytes: 0, medianBytes: 0, p99Bytes: 0, maxBytes: 0 });
  });

  test("tells average, median, 99th percentile and maximum apart", () => {
    const sizes = [...Array.from({ length: 98 }, () => 10), 500, 70_000];
    expect(tallyOf(sizes).summary()).toEqual({
      count: 100,
      totalBytes: 71_480,
      avgBytes: 714.8,
      medianBytes: 10,
      p99Bytes: 500,
      maxBytes: 70_000,
    });
  });

  test("gives the exact nearest rank of any sizes", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 300 }), (sizes) => {
        const sorted = sizes.toSorted((a, b) => a - b);
        const summary = tallyOf(sizes).summary();
        expect(summary.medianBytes).toBe(sorted[Math.ceil(sizes.length * 0.5) - 1]);
        expect(summary.p99Bytes).toBe(sorted[Math.ceil(sizes.length * 0.99) - 1]);
        expect(summary.maxBytes).toBe(sorted.at(-1));
      }),
    );
  });
});
