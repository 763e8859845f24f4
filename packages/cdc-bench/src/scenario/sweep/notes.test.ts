import { describe, expect, test } from "vitest";
import { summarizeRates } from "../../measure/rounds.ts";
import { defaultTuning } from "../catch-up/tuning.ts";
import { sweepNotes } from "./notes.ts";
import type { CombinedMeasure, SweepCurve } from "./sweep-result.ts";

const rate = summarizeRates([200]);
const better: SweepCurve = {
  name: "fetch-bytes",
  option: "maxBytesPerPartition",
  unit: "bytes",
  points: [],
  knee: { value: 65_536, rate },
  isBetter: true,
};
const combined: CombinedMeasure = {
  tuning: { ...defaultTuning, fetchBytes: 65_536 },
  rate,
  baseRate: summarizeRates([100]),
  isBetter: true,
};

describe("the notes of a sweep say when the configuration is the base", () => {
  const notesOf = (curves: readonly SweepCurve[], together: CombinedMeasure | null, isComplete = true): readonly string[] =>
    sweepNotes(
      { workMs: 0, dimensions: [], timeLimitMs: 5_000, interrupt: new AbortController().signal },
      { isComplete, noise: null, curves, combined: together },
    );

  test("because time was up before all knees together", () => {
    expect(notesOf([better], null, false)).toEqual([
      expect.stringContaining("Time was up"),
      "All knees together were not measured, so the configuration is the base, although a knee is better.",
    ]);
  });

  test("because nothing is better", () => {
    const same = [expect.stringContaining("the configuration is the base")];
    expect(notesOf([{ ...better, isBetter: false }], null)).toEqual(same);
    expect(notesOf([better], { ...combined, isBetter: false })).toEqual(same);
  });

  test("and nothing if it is that of all knees", () => {
    expect(notesOf([better], combined)).toEqual([]);
  });
});
