import { expect, test } from "vitest";
import { maxSoakWindows, merged, SoakSeries, type SoakWindow } from "./soak-window.ts";

const windowAt = (fromMs: number, fields: Partial<SoakWindow> = {}): SoakWindow => ({
  fromMs,
  lengthMs: 1_000,
  events: 100,
  latencyMs: null,
  heapBytes: 50,
  rssBytes: 80,
  gcMs: 2,
  busyShare: 0.5,
  ...fields,
});

test("windows that are merged keep sums, means by time, and the worst p99", () => {
  const first = windowAt(0, { events: 300, latencyMs: { p50: 10, p95: 20, p99: 30 }, heapBytes: 100 });
  const second = windowAt(1_000, { events: 100, latencyMs: { p50: 2, p95: 80, p99: 90 }, heapBytes: 300, lengthMs: 3_000 });
  expect(merged([first, second])).toEqual({
    fromMs: 0,
    lengthMs: 4_000,
    events: 400,
    latencyMs: { p50: 8, p95: 80, p99: 90 },
    heapBytes: 250,
    rssBytes: 80,
    gcMs: 4,
    busyShare: 0.5,
  });
});

test("a day of seconds stays bounded, and loses no event", () => {
  const series = new SoakSeries();
  for (let i = 0; i < 86_400; i++) {
    series.add(windowAt(i * 1_000));
  }
  const { windows } = series;
  expect(windows.length).toBeLessThanOrEqual(maxSoakWindows);
  expect(windows.reduce((sum, { events }) => sum + events, 0)).toBe(8_640_000);
  expect(windows.every((window, i) => i === 0 || window.fromMs === (windows[i - 1]?.fromMs ?? 0) + (windows[i - 1]?.lengthMs ?? 0))).toBe(
    true,
  );
});
