import { describe, expect, test } from "vitest";
import { createPaceMeter } from "./pace.ts";

describe("the time left", () => {
  test("is not given in the first two seconds", () => {
    const paceOf = createPaceMeter(0);
    paceOf({ phase: "", done: 0, total: 1_000 }, 0);
    expect(paceOf({ phase: "", done: 100, total: 1_000 }, 1_900).leftMs).toBeUndefined();
    expect(paceOf({ phase: "", done: 110, total: 1_000 }, 2_100).leftMs).toBeDefined();
  });

  test("follows a change of the rate within seconds, and a short stall hardly", () => {
    const paceOf = createPaceMeter(0);
    let done = 0;
    let pace = paceOf({ phase: "", done, total: 100_000 }, 0);
    for (let nowMs = 100; nowMs <= 10_000; nowMs += 100) {
      done += 100;
      pace = paceOf({ phase: "", done, total: 100_000 }, nowMs);
    }
    expect(pace.leftMs).toBeCloseTo(90_000, -2);
    for (let nowMs = 10_100; nowMs <= 10_500; nowMs += 100) {
      pace = paceOf({ phase: "", done, total: 100_000 }, nowMs);
    }
    expect(pace.leftMs).toBeLessThan(100_000);
    for (let nowMs = 10_600; nowMs <= 30_000; nowMs += 100) {
      done += 50;
      pace = paceOf({ phase: "", done, total: 100_000 }, nowMs);
    }
    expect(pace.leftMs).toBeCloseTo((100_000 - done) / 0.5, -4);
  });

  test("begins anew with another total, and when the count falls", () => {
    const paceOf = createPaceMeter(0);
    paceOf({ phase: "", done: 0, total: 10 }, 0);
    expect(paceOf({ phase: "", done: 5, total: 10 }, 5_000).leftMs).toBe(5_000);
    expect(paceOf({ phase: "", done: 0, total: 10 }, 6_000)).toMatchObject({ leftMs: undefined, elapsedMs: 0, rates: [] });
    expect(paceOf({ phase: "", done: 1, total: 20 }, 9_000)).toMatchObject({ leftMs: undefined, elapsedMs: 0 });
  });

  test("is zero, not negative, for more records than were expected", () => {
    const paceOf = createPaceMeter(0);
    paceOf({ phase: "", done: 0, total: 10 }, 0);
    expect(paceOf({ phase: "", done: 12, total: 10 }, 5_000).leftMs).toBe(0);
  });
});

test("rates are sampled twice a second, the last 60 are kept, and what a measurement says wins", () => {
  const paceOf = createPaceMeter(0);
  let pace = paceOf({ phase: "", perSecond: 1 }, 0);
  for (let nowMs = 100; nowMs <= 60_000; nowMs += 100) {
    pace = paceOf({ phase: "", perSecond: nowMs, done: 3 }, nowMs);
  }
  expect(pace.rates).toHaveLength(60);
  expect(pace.rates.at(-1)).toBe(60_000);
  expect(pace.perSecond).toBe(60_000);
});
