import { expect, test } from "vitest";
import type { BenchError } from "../bench-error.ts";
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

async function writtenWith(
  flags: { readonly baseline?: string },
  written: BenchResult,
): Promise<{ readonly refusal: number | null; readonly notes: readonly string[] }> {
  let text = "";
  const sink = { look: {}, write: async (part: string) => void (text += part), close: async () => {} };
  const refusal = await writeResult(sink, { ...flags, json: true }, written).then(
    () => null,
    (error: BenchError) => error.exitCode,
  );
  return { refusal, notes: (JSON.parse(text) as BenchResult).notes };
}

test("a result whose baseline has no figure to compare it with is written, says so, and ends with 2: the check would always pass", async () => {
  const notes = ["It was noisy.", expect.stringContaining("Nothing was compared")];
  expect(await writtenWith({ baseline: "last.json" }, result)).toEqual({ refusal: 2, notes });
  expect(await writtenWith({ baseline: "last.json" }, { ...result, aborted: true })).toEqual({ refusal: null, notes });
  const same = { name: "rate", scope: "orders", before: 10, now: 10, worseBy: 0, regressed: false } as const;
  const compared = { refusal: null, notes: ["It was noisy."] };
  expect(await writtenWith({ baseline: "last.json" }, { ...result, baseline: [same] })).toEqual(compared);
  expect(await writtenWith({}, result)).toEqual(compared);
});
