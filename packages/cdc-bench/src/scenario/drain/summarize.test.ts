import { describe, expect, test } from "vitest";
import { RateSeries, type RateSeriesSummary } from "../../measure/rate-series.ts";
import type { ContenderMeasure, DrainRound } from "./drain-result.ts";
import { isHeldBack } from "./notes.ts";
import { brokenPromiseOf, contenderMeasure, deliveryCostsOf, resumedAtCheckpoint } from "./summarize.ts";

function rateOf(events: number, elapsedMs: number): RateSeriesSummary {
  const series = new RateSeries();
  series.start(0);
  series.add(events, elapsedMs);
  return series.summary();
}

function measured(delivery: "at-least-once" | "effectively-once", ...elapsedMs: readonly number[]): ContenderMeasure {
  const rounds = elapsedMs.map((ms) => ({ rate: rateOf(1_000, ms), batches: 10, bytesPerSecond: 1 }) as unknown as DrainRound);
  const open = async (): Promise<never> => Promise.reject(new Error("not opened here"));
  return contenderMeasure({ label: `postgres, ${delivery}`, target: "postgres", delivery, open }, rounds);
}

test("the cost of effectively-once is round by round, in percent of the other's rate and in milliseconds a commit", () => {
  const costs = deliveryCostsOf([measured("at-least-once", 900, 1_000), measured("effectively-once", 1_000, 1_000)]);
  expect(costs).toHaveLength(1);
  expect(costs[0]?.percent.rounds.map(Math.round)).toEqual([10, 0]);
  expect(costs[0]?.msPerCommit.rounds).toEqual([10, 0]);
});

test("there is no cost if only one of the two was measured", () => {
  expect(deliveryCostsOf([measured("effectively-once", 1_000)])).toEqual([]);
});

test.each([
  ["effectively-once", 100, null],
  ["effectively-once", 101, "kafka: 101 records, expected 100: records were lost or written twice."],
  ["effectively-once", 99, "kafka: 99 records, expected 100: records were lost or written twice."],
  ["at-least-once", 101, null],
  ["at-least-once", 99, "kafka: 99 records, expected 100: records were lost or written twice."],
] as const)("what a store holds after %s decides how a drain ends: %i of 100", (delivery, found, sentence) => {
  const round = { check: { what: "records", found, expected: 100 } } as DrainRound;
  expect(brokenPromiseOf([{ label: "kafka", delivery, rounds: [{ check: null } as DrainRound, round] }])).toBe(sentence);
});

describe("a consumer resumed at its checkpoint", () => {
  const first = new Map([
    [
      "events",
      new Map([
        [0, 100n],
        [1, 0n],
      ]),
    ],
  ]);

  test("if each partition went on there, or at its start if it had none", () => {
    expect(resumedAtCheckpoint("events", new Map([[0, 100n]]), first)).toBe(true);
  });

  test("not if one began before it or after it", () => {
    expect(resumedAtCheckpoint("events", new Map([[0, 99n]]), first)).toBe(false);
    expect(
      resumedAtCheckpoint(
        "events",
        new Map([
          [0, 100n],
          [1, 5n],
        ]),
        first,
      ),
    ).toBe(false);
  });

  test("is not known if no fetch tells", () => {
    expect(resumedAtCheckpoint("events", new Map(), new Map())).toBe(null);
  });
});

describe("a slow sink held the fast one back", () => {
  const measure = (aloneMs: number, fastMs: number, slowMs: number): boolean =>
    isHeldBack({ delayMs: 5, alone: rateOf(1_000, aloneMs), fast: rateOf(1_000, fastMs), slow: rateOf(1_000, slowMs) });

  test("if both ended together, long after the fast one alone would have", () => {
    expect(measure(1_000, 4_800, 5_000)).toBe(true);
  });

  test("not if the fast one was done long before, or the slow one is not slower than reading", () => {
    expect(measure(1_000, 1_300, 5_000)).toBe(false);
    expect(measure(1_000, 1_150, 1_160)).toBe(false);
  });
});
