import { expect, test } from "vitest";
import { createRunSeries } from "./run-series.ts";

test("a long run stays within its points, from its beginning to its end, and says which came", () => {
  const series = createRunSeries(100);
  for (let i = 0; i < 50_000; i++) {
    series.add(i * 200, { phase: "reading", perSecond: i });
  }
  const { points } = series;
  expect(points.length).toBeLessThanOrEqual(100);
  expect(points.length).toBeGreaterThan(30);
  expect(points[0]?.atS).toBe(0);
  expect(points.at(-1)?.atS).toBeGreaterThan(9_000);
  expect(points.every(({ atS }, i) => i === 0 || atS > (points[i - 1]?.atS ?? 0))).toBe(true);
});

test("what was not said is null, and a new phase has a point of its own", () => {
  const series = createRunSeries();
  expect(series.add(1_000, { phase: "a" })).toEqual({
    ...{ atS: 1, phase: "a", perSecond: null, lag: null, p50Ms: null, p95Ms: null, p99Ms: null },
  });
  expect(series.add(1_001, { phase: "b", lag: 3, latencyMs: { p50: 1, p95: 2, p99: 3 } })).toMatchObject({ lag: 3, p99Ms: 3 });
});

test("the rate is what was done since the last point; where a count begins anew, it is not known", () => {
  const series = createRunSeries();
  const observed = [
    [1_000, 100, 1_000],
    [2_000, 300, 1_000],
    [2_500, 300, 1_000],
    [3_000, 0, 1_000],
    [4_000, 50, 1_000],
    [5_000, 60, 2_000],
  ] as const;
  observed.forEach(([atMs, done, total]) => series.add(atMs, { phase: "reading", done, total, perSecond: 7 }));
  expect(series.points.map(({ perSecond }) => perSecond)).toEqual([null, 200, 0, null, 50, null]);
});
