import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { compareWithBaseline, readBaseline } from "./baseline.ts";
import { type Metric, metricDirections, type MetricName } from "./metric.ts";
import { judge, verdictExitCode, verdictText } from "./verdict.ts";

const metric = (name: MetricName, value: number, scope = "t"): Metric => ({ name, scope, value });

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "baseline-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

describe("a baseline file", () => {
  async function fileOf(content: string): Promise<string> {
    const file = join(folder, "result.json");
    await writeFile(file, content);
    return file;
  }

  test("is an earlier result of the same command", async () => {
    const metrics = [metric("rate", 10)];
    const file = await fileOf(
      JSON.stringify({ schemaVersion: 1, command: "run", metrics: [...metrics, { name: "no such figure", scope: "t", value: 1 }] }),
    );
    expect(readBaseline(file, "run")).toEqual(metrics);
    expect(() => readBaseline(file, "demo")).toThrow('no result of "cdc-bench demo --json"');
  });

  test.each(["{", "null", "[]", '{"schemaVersion":1,"command":"run"}'])("that holds %j is refused with a sentence", async (content) => {
    const file = await fileOf(content);
    expect(() => readBaseline(file, "run")).toThrow(expect.objectContaining({ code: "usage", detail: expect.stringContaining(file) }));
  });

  test("that is missing is named", () => {
    expect(() => readBaseline(join(folder, "nowhere.json"), "run")).toThrow("there is no such file");
  });
});

describe("the comparison with a baseline", () => {
  test.each([
    ["rate", 100, 91, false],
    ["rate", 100, 90, false],
    ["rate", 100, 89, true],
    ["rate", 100, 0, true],
    ["decode.p50", 100, 110, false],
    ["decode.p50", 100, 111, true],
    ["size.avg", 100, 100, false],
    ["errors", 0, 0, false],
    ["errors", 0, 1, true],
  ] as const)("%s of %d, then %d: worse by more than a tenth is %s", (name, before, now, regressed) => {
    expect(compareWithBaseline([metric(name, before)], [metric(name, now)], 0.1)).toMatchObject([{ name, before, now, regressed }]);
  });

  test("is bounded, whatever was measured; how much worse is still well is not", () => {
    const [slower] = compareWithBaseline([metric("decode.p50", 1)], [metric("decode.p50", 1_000)], 2_000);
    expect(slower).toMatchObject({ worseBy: 1, regressed: false });
    const [faster] = compareWithBaseline([metric("rate", 1)], [metric("rate", 1_000)], 0.1);
    expect(faster).toMatchObject({ worseBy: -1, regressed: false });
  });

  test("leaves out what only one of them has", () => {
    expect(compareWithBaseline([metric("rate", 100, "a")], [metric("rate", 1, "b")], 0.1)).toEqual([]);
  });

  test("has every figure but those that do not repeat, and percentages", () => {
    const names = Object.keys(metricDirections) as readonly MetricName[];
    const before = names.map((name) => metric(name, 10));
    const compared = compareWithBaseline(before, before, 0.1).map(({ name }) => name);
    expect(names.filter((name) => !compared.includes(name))).toEqual([
      "decode.p95",
      "decode.p99",
      "latency.p95",
      "latency.p99",
      "rate.peak",
      "commit.p95",
      "commit.p99",
      "delivery.cost",
      "roundtrip.p95",
      "roundtrip.p99",
      "request.p95",
      "request.p99",
      "drift.rate",
      "drift.heap",
      "drift.rss",
    ]);
  });
});

describe("a verdict", () => {
  const thresholds = [{ expr: "rate>5", metric: "rate", operator: ">", bound: 5 }] as const;

  test("ends well if nothing was demanded", () => {
    const verdict = judge([metric("rate", 1)], { thresholds: [], baseline: null, maxRegression: 0.1 });
    expect(verdictExitCode(verdict)).toBe(exitCodes.ok);
    expect(verdictText(verdict)).toBe("");
  });

  test("puts a missed threshold before a regression", () => {
    const demands = { thresholds, baseline: [metric("rate", 10)], maxRegression: 0.1 };
    expect(verdictExitCode(judge([metric("rate", 1)], demands))).toBe(exitCodes.threshold);
    expect(verdictExitCode(judge([metric("rate", 6)], demands))).toBe(exitCodes.regression);
    expect(verdictExitCode(judge([metric("rate", 10)], demands))).toBe(exitCodes.ok);
  });

  test("says what was found", () => {
    const verdict = judge([metric("rate", 1)], { thresholds, baseline: [metric("rate", 2)], maxRegression: 0.1 });
    expect(verdictText(verdict)).toBe("MISSED  rate>5  (worst is 1/s)\nWORSE   rate of t: 2/s -> 1/s, 50.0% lower, worse\n");
  });

  test.each([
    ["drift.heap", 0.45, "0.5%"],
    ["drift.rate", -2.6, "-2.6%"],
    ["size.avg", 1_234, "1,234 B"],
    ["allocated", 2_000, "2,000 B"],
    ["throughput", 20e6, "20.0 MB/s"],
    ["rate.p50", 1_500, "1,500/s"],
    ["decode.p99", 2_500, "2.50 µs"],
    ["ratio", 2.5, "2.50x"],
    ["errors", 3, "3"],
  ] as const)("says the worst %s of %d as %s", (name, value, text) => {
    const missed = [{ expr: `${name}<-1`, metric: name, operator: "<", bound: -1 }] as const;
    const { thresholds: checked } = judge([metric(name, value)], { thresholds: missed, baseline: null, maxRegression: 0.1 });
    expect(verdictText({ metrics: [], thresholds: checked, baseline: [] })).toContain(`(worst is ${text})`);
  });

  test.each([
    ["rate", 200, 100, "50.0% lower, worse"],
    ["rate", 100, 200, "100.0% higher, better"],
    ["decode.p50", 100, 200, "100.0% higher, worse"],
    ["decode.p50", 200, 100, "50.0% lower, better"],
    ["errors", 0, 3, "none before, worse"],
    ["errors", 3, 0, "100.0% lower, better"],
    ["rate", 0, 5, "none before, better"],
    ["rate", 5, 5, "unchanged"],
    ["decode.p50", 100, 1_200, "12.0 times as much, worse"],
    ["rate", 100, 30_000, "300 times as much, better"],
    ["rate", 300, 1, "99.7% lower, worse"],
  ] as const)("reads right in both directions: %s from %d to %d is %s", (name, before, now, text) => {
    const verdict = judge([metric(name, now)], { thresholds: [], baseline: [metric(name, before)], maxRegression: 0.1 });
    expect(verdictText(verdict).trimEnd().endsWith(`, ${text}`)).toBe(true);
  });
});
