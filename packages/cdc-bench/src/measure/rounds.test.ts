import { expect, test } from "vitest";
import { medianOf, rateOf, summarizeRates } from "./rounds.ts";

test("the median is the middle, or half-way between the two middle ones", () => {
  expect(medianOf([3, 1, 2])).toBe(2);
  expect(medianOf([4, 1, 3, 2])).toBe(2.5);
  expect(medianOf([])).toBeNaN();
});

test("a summary keeps every round", () => {
  expect(summarizeRates([30, 10, 20])).toEqual({ median: 20, min: 10, max: 30, rounds: [30, 10, 20] });
});

test("work is repeated until it has taken long enough, and at least once", () => {
  let calls = 0;
  const rate = rateOf(() => calls++, 1_000, 2);
  expect(calls).toBeGreaterThan(1);
  expect(rate).toBeGreaterThan(0);
  calls = 0;
  rateOf(() => calls++, 1, 0);
  expect(calls).toBe(1);
});
