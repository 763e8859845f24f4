import { expect, test } from "vitest";
import { describeEnvironment } from "../report/environment.ts";
import type { BenchResult } from "../result/bench-result.ts";
import { writeResult } from "./result-options.ts";

const result: BenchResult = {
  schemaVersion: 1,
  command: "run",
  startedAt: "2026-01-01T00:00:00.000Z",
  elapsedMs: 1,
  aborted: false,
  environment: describeEnvironment(),
  settings: {},
  rules: [],
  notes: ["It was noisy."],
  metrics: [{ name: "rate", scope: "orders", value: 10 }],
  thresholds: [],
  baseline: [],
};

async function notesOf(flags: { readonly baseline?: string }, written: BenchResult): Promise<readonly string[]> {
  let text = "";
  await writeResult({ look: {}, write: async (part) => void (text += part), close: async () => {} }, { ...flags, json: true }, written);
  return (JSON.parse(text) as BenchResult).notes;
}

test("a result says so if its baseline has no figure to compare it with", async () => {
  expect(await notesOf({ baseline: "last.json" }, result)).toEqual(["It was noisy.", expect.stringContaining("Nothing was compared")]);
  const same = { name: "rate", scope: "orders", before: 10, now: 10, worseBy: 0, regressed: false } as const;
  expect(await notesOf({ baseline: "last.json" }, { ...result, baseline: [same] })).toEqual(["It was noisy."]);
  expect(await notesOf({}, result)).toEqual(["It was noisy."]);
});
