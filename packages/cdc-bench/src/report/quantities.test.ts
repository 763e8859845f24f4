import { expect, test } from "vitest";
import { formatBytes, formatCount, formatDuration, formatMegabytesPerSecond, formatRatio } from "./quantities.ts";

test("counts have separators and no fractions", () => {
  expect(formatCount(1_234_567.6)).toBe("1,234,568");
  expect(formatBytes(5_059)).toBe("5,059 B");
});

test("megabytes are 10^6 bytes", () => {
  expect(formatMegabytesPerSecond(12_345_678)).toBe("12.3");
  expect(formatMegabytesPerSecond(1_234_567_890)).toBe("1,235");
});

test.each([
  [0, "0 ns"],
  [870.4, "870 ns"],
  [2_820, "2.82 µs"],
  [19_100, "19.1 µs"],
  [250_000_000, "250 ms"],
  [2_500_000_000, "2.50 s"],
  [3_600_000_000_000, "3600 s"],
])("%d ns read as %s", (durationNs, text) => {
  expect(formatDuration(durationNs)).toBe(text);
});

test("ratios have three figures, and none if there is nothing to compare with", () => {
  expect(formatRatio(6.789)).toBe("6.79x");
  expect(formatRatio(21.53)).toBe("21.5x");
  expect(formatRatio(Number.POSITIVE_INFINITY)).toBe("-");
  expect(formatRatio(Number.NaN)).toBe("-");
});
