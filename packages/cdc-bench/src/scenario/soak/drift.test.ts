import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../seeded-random.ts";
import { driftOf } from "./drift.ts";

const second = 1_000;
const series = (length: number, valueAt: (i: number) => number): (readonly [number, number])[] =>
  Array.from({ length }, (_, i) => [i * second, valueAt(i)] as const);

describe("a drift", () => {
  test("of a straight line is its slope, with nothing uncertain", () => {
    const drift = driftOf(series(60, (i) => 100 + i));
    expect(drift).toMatchObject({ first: 109.5, last: 149.5, verdict: "rises" });
    expect(drift?.slopePerHour).toBeCloseTo(3_600);
    expect(drift?.slopeErrorPerHour).toBeCloseTo(0);
  });

  test("of noise around a mean is steady, and the interval of its slope holds zero", () => {
    const random = new SeededRandom(7);
    const drift = driftOf(series(300, () => 1_000 + (random.next() - 0.5) * 400));
    expect(drift?.verdict).toBe("steady");
    expect(Math.abs(drift?.slopePerHour ?? 0)).toBeLessThan((drift?.slopeErrorPerHour ?? 0) * 2);
  });

  test("is found below noise", () => {
    const random = new SeededRandom(7);
    expect(driftOf(series(300, (i) => 1_000 - i + (random.next() - 0.5) * 200))?.verdict).toBe("falls");
  });

  test("below 5% is none, however certain", () => {
    expect(driftOf(series(100, (i) => 1_000 + i * 0.1))?.verdict).toBe("steady");
  });

  test("is uncertain if windows resemble their neighbours", () => {
    const slow = driftOf(series(60, (i) => 100 + 30 * Math.sin(i / 12)));
    const quick = driftOf(series(60, (i) => 100 + 30 * Math.sin(i * 2)));
    expect(slow?.slopeErrorPerHour).toBeGreaterThan(quick?.slopeErrorPerHour ?? Number.NaN);
  });

  test("of few windows is not judged", () => {
    expect(driftOf(series(29, (i) => i))?.verdict).toBe("too-short");
    expect(driftOf(series(2, (i) => i))).toBe(null);
  });
});
