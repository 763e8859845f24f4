import { describe, expect, test } from "vitest";
import { maxWindows, RateSeries } from "./rate-series.ts";

function seriesOf(windows: readonly number[], windowMs: number): RateSeries {
  const series = new RateSeries();
  series.start(500);
  windows.forEach((count, i) => series.add(count, 500 + (i + 0.5) * windowMs));
  series.add(0, 500 + windows.length * windowMs);
  return series;
}

describe("a rate series", () => {
  test("gives average, median and peak of whole windows of a tenth of a second", () => {
    const { count, elapsedMs, perSecond, windowMs } = seriesOf([10, 30, 20, 20, 20], 100).summary();
    expect({ count, elapsedMs, perSecond, windowMs }).toEqual({
      count: 100,
      elapsedMs: 500,
      perSecond: { avg: 200, p50: 200, peak: 300 },
      windowMs: 100,
    });
  });

  test("counts by the second if it lasts ten of them, so that a burst of a moment is no peak", () => {
    const tenths = Array.from({ length: 120 }, (_, i) => (i === 55 ? 910 : 10));
    const { perSecond, windowMs } = seriesOf(tenths, 100).summary();
    expect([windowMs, perSecond]).toEqual([1_000, { avg: 175, p50: 100, peak: 1_000 }]);
  });

  test("counts the time in which nothing came before it was broken off, if anything had come", () => {
    const stalled = seriesOf([100], 100);
    stalled.breakOff(500 + 10_000);
    expect(stalled.summary()).toMatchObject({ count: 100, elapsedMs: 10_000, perSecond: { avg: 10 } });
    const unbegun = new RateSeries();
    unbegun.breakOff(10_000);
    expect(unbegun.startedAtMs).toBeNull();
  });

  test("leaves out the last window, which is not whole", () => {
    const series = seriesOf([50, 50, 50], 100);
    series.add(1_000, 810);
    expect(series.summary().perSecond.peak).toBe(500);
  });

  test.each([
    [300, 1_200],
    [600, 800],
    [3_600, 3_200],
  ])("of a steady stream of %i s has one rate, whatever windows are left of it", (seconds, expectedMs) => {
    const { perSecond, windowMs } = seriesOf(new Array<number>(seconds * 20).fill(10), 50).summary();
    const { avg, p50, peak } = perSecond;
    expect([avg, p50 ?? 0, peak ?? 0].map(Math.round)).toEqual([200, 200, 200]);
    expect(windowMs).toBe(expectedMs);
  });

  test("leaves out a last window that is not whole also if its windows are not of a second", () => {
    const series = seriesOf(new Array<number>(300 * 20).fill(10), 50);
    series.add(10_000, 500 + 300_700);
    expect(series.summary().perSecond.peak).toBe(200);
  });

  test("ends without a spike: a last window that is shorter than half of one counts to the one before", () => {
    const series = seriesOf([20, 20, 20], 100);
    series.add(5, 500 + 301);
    expect(series.summary().series).toEqual([
      [0, 200],
      [100, 200],
      [200, Math.round((25 / 101) * 1e3)],
    ]);
    series.add(10, 500 + 380);
    expect(series.summary().series.slice(2)).toEqual([
      [200, 200],
      [300, Math.round((15 / 80) * 1e3)],
    ]);
  });

  test("of less than three windows has no median and no peak", () => {
    expect(seriesOf([5, 5], 100).summary().perSecond).toEqual({ avg: 50, p50: null, peak: null });
  });

  test("of nothing is zero", () => {
    expect(new RateSeries().summary()).toMatchObject({ count: 0, elapsedMs: 0, perSecond: { avg: 0, p50: null, peak: null }, series: [] });
  });

  test("of ten million events over a day keeps its bound and its sum", () => {
    const series = new RateSeries();
    const dayMs = 86_400_000;
    for (let i = 0; i < 10_000; i++) {
      series.add(1_000, (i * dayMs) / 10_000);
    }
    const summary = series.summary();
    expect(summary.series.length).toBeLessThanOrEqual(maxWindows);
    expect(summary.count).toBe(10_000_000);
    const counted = summary.series.reduce((sum, [fromMs, perSecond], i) => {
      const untilMs = summary.series[i + 1]?.[0] ?? summary.elapsedMs;
      return sum + (perSecond * (untilMs - fromMs)) / 1e3;
    }, 0);
    expect(counted / 10_000_000).toBeCloseTo(1, 2);
  });
});
