import { describe, expect, test } from "vitest";
import { summarizeRates } from "../../measure/rounds.ts";
import { defaultTuning } from "../catch-up/tuning.ts";
import { combinedTuning } from "./run-sweep.ts";
import { refinedValues } from "./dimensions.ts";
import { isBetter, kneeOf, noiseOf, pointsOf } from "./knee.ts";

const curve = (...points: readonly (readonly [value: number, rate: number])[]): Parameters<typeof kneeOf>[0] =>
  points.map(([value, rate]) => ({ value, rate: summarizeRates([rate]) }));

describe("the knee of a curve", () => {
  test("is the smallest setting within 5% of the best", () => {
    expect(kneeOf(curve([1, 40], [4, 80], [16, 96], [64, 100], [256, 98]))?.value).toBe(16);
  });

  test("is the best itself if the curve ends steep", () => {
    expect(kneeOf(curve([1, 10], [2, 20], [4, 40]))?.value).toBe(4);
  });

  test("is the smallest of a flat curve, in whatever order it was measured", () => {
    expect(kneeOf(curve([64, 100], [1, 99], [16, 101]))?.value).toBe(1);
  });

  test("does not follow a curve that falls", () => {
    expect(kneeOf(curve([1, 100], [2, 60], [4, 20]))?.value).toBe(1);
  });

  test("is null if nothing was measured", () => {
    expect(kneeOf([])).toBe(null);
  });
});

test("points are medians of their rounds, from small to large, without values that were not reached", () => {
  const points = pointsOf(
    new Map([
      [16, [3, 1, 2]],
      [4, [5]],
      [64, []],
    ]),
  );
  expect(points.map(({ value, rate }) => [value, rate.median])).toEqual([
    [4, 5],
    [16, 2],
  ]);
});

describe("refined values", () => {
  test("lie halfway to the neighbours by their factors", () => {
    expect(refinedValues([1, 4, 16, 64], 16)).toEqual([8, 32]);
  });

  test("leave out what was measured, and what lies outside", () => {
    expect(refinedValues([1, 2, 4], 1)).toEqual([]);
    expect(refinedValues([1, 4], 4)).toEqual([2]);
  });
});

describe("all knees together", () => {
  const curveOf = (name: "batch-events" | "concurrency" | "fetch-bytes", value: number, rate: number, isTaken = true) =>
    ({ name, knee: { value, rate: summarizeRates([rate]) }, isBetter: isTaken }) as const;

  test("are those that are better than the base", () => {
    const curves = [curveOf("fetch-bytes", 65_536, 200), curveOf("batch-events", 64, 100, false)];
    expect(combinedTuning(defaultTuning, curves)).toEqual({ ...defaultTuning, fetchBytes: 65_536 });
  });

  test("hold batches or concurrency, whichever is faster, because one has no effect with the other", () => {
    const batches = combinedTuning(defaultTuning, [curveOf("batch-events", 64, 300), curveOf("concurrency", 16, 200)]);
    expect(batches).toEqual({ ...defaultTuning, batchEvents: 64 });
    const lanes = combinedTuning(defaultTuning, [curveOf("batch-events", 64, 200), curveOf("concurrency", 16, 300)]);
    expect(lanes).toEqual({ ...defaultTuning, concurrency: 16 });
  });

  test("are the base itself if none is better", () => {
    expect(combinedTuning(defaultTuning, [curveOf("batch-events", 64, 100, false)])).toBe(defaultTuning);
  });
});

test("a difference within the noise is none", () => {
  expect(noiseOf([90, 100, 110])).toBeCloseTo(0.1);
  expect(noiseOf([100])).toBe(null);
  expect([isBetter(109, 100, 0.1), isBetter(111, 100, 0.1), isBetter(104, 100, 0.01), isBetter(106, 100, null)]).toEqual([
    false,
    true,
    false,
    true,
  ]);
});
