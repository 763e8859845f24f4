import { describe, expect, test } from "vitest";
import { clockCostNs, DurationHistogram } from "./duration-histogram.ts";

describe("a histogram of durations", () => {
  test("of nothing is zero", () => {
    expect(new DurationHistogram().summary()).toEqual({ count: 0, meanNs: 0, p50Ns: 0, p95Ns: 0, p99Ns: 0, maxNs: 0 });
  });

  test("tells the percentiles of known durations to three figures", () => {
    const histogram = new DurationHistogram();
    for (let i = 1; i <= 1_000; i++) {
      histogram.recordNs(i * 1_000);
    }
    const { count, p50Ns, p95Ns, p99Ns } = histogram.summary();
    expect(count).toBe(1_000);
    for (const [seen, expected] of [
      [p50Ns, 500_000],
      [p95Ns, 950_000],
      [p99Ns, 990_000],
    ] as const) {
      expect(Math.abs(seen - expected) / expected).toBeLessThan(0.002);
    }
  });

  test("takes durations that a clock's cost made negative, and ones beyond an hour", () => {
    const histogram = new DurationHistogram();
    histogram.recordNs(-5);
    histogram.recordNs(1e18);
    expect(histogram.summary().count).toBe(2);
  });

  test("knows that a clock costs something but not much", () => {
    expect(clockCostNs()).toBeGreaterThanOrEqual(0);
    expect(clockCostNs()).toBeLessThan(1e6);
  });
});
