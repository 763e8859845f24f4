import { describe, expect, test } from "vitest";
import type { DurationSummary } from "../measure/duration-histogram.ts";
import type { ReadingMeasure } from "../measure/reading.ts";
import { type RunParts, runResult } from "../result/run-result.ts";
import { renderText } from "../presentation/render/text.ts";
import { presentRun } from "./run.ts";

const durations = (count: number): DurationSummary => ({ count, meanNs: 1_000, p50Ns: 900, p95Ns: 1_500, p99Ns: 2_500, maxNs: 9_000 });

const measure: ReadingMeasure = {
  outcome: "end-reached",
  unread: 0,
  waitsFor: null,
  wasRebalanced: false,
  records: 1_000,
  events: 990,
  bytes: 500_000,
  errorRecords: 10,
  elapsedMs: 500,
  firstBatchMs: 5,
  batches: 4,
  stages: { joinMs: 30, fetchMs: 250, decompressMs: 0, schemaMs: 0, decodeMs: 200, validateMs: 0, handleMs: 50, commitMs: 0 },
  formats: [
    {
      topic: "t",
      format: { framing: "none", encoding: "json", envelope: "debezium" },
      records: 990,
      events: 990,
      sizes: { count: 990, totalBytes: 495_000, avgBytes: 500, medianBytes: 501, p99Bytes: 509, maxBytes: 510 },
      decode: durations(124),
    },
  ],
  errors: [{ topic: "t", code: "malformed", records: 10, example: "[malformed] why" }],
  latency: null,
};

const report: RunParts = {
  startedAt: "2026-11-22T08:00:00.000Z",
  elapsedMs: 640,
  aborted: false,
  environment: { cpu: "a processor", cores: 2, memoryBytes: 1, platform: "linux x64", node: "v20.19.0", versions: {} },
  settings: { mode: "drain", source: "a:1", topics: ["t"], registry: null, maxRecords: null, maxDurationMs: null, fetchBytes: null },
  runs: [{ topics: ["t"], expectedRecords: 1_000n, measure }],
  verdict: { metrics: [], thresholds: [], baseline: [] },
};

const runText = (parts: RunParts): string => renderText(presentRun(runResult(parts)));

describe("the report of a run", () => {
  test("has rates, sizes, decode times and the share of every stage", () => {
    const text = runText(report);
    expect(text).toMatch(/^t +1,000 +990 +10 +0\.50 +2,000 +1\.0 +0\.03 s +the topic's end was reached$/m);
    expect(text).toMatch(/^t +none \+ json \+ debezium +990 +500 +501 +509 +900 ns +1\.50 µs +2\.50 µs$/m);
    expect(text).toMatch(/^t +0\.25 s +50% +0\.00 s +0% +0\.20 s +40% +0\.05 s +10%$/m);
    expect(text).toContain("t: 10 records could not be decoded (malformed): [malformed] why");
  });

  test.each([
    ["limit-reached", { maxRecords: 1_000 }, "--limit 1,000 was reached"],
    ["time-up", { maxDurationMs: 30_000 }, "--duration 30.0 s was over"],
    ["ran-dry", {}, "nothing came for 10 s"],
    ["interrupted", {}, "it was interrupted"],
  ] as const)("says why a reading ended: %s", (outcome, settings, because) => {
    const run = { topics: ["t"], expectedRecords: 1_000n, measure: { ...measure, outcome } };
    expect(runText({ ...report, settings: { ...report.settings, ...settings }, runs: [run] })).toContain(because);
  });

  test("says that it is of a part if it ran dry in front of records", () => {
    const run = { topics: ["t"], expectedRecords: 1_500n, measure: { ...measure, outcome: "ran-dry", unread: 500 } } as const;
    expect(runText({ ...report, runs: [run] })).toContain("The figures are of a part: 500 offsets in front of the end of t were not read.");
  });

  test("says once that the group was rebalanced", () => {
    const note = "The group was rebalanced while t was read: the time that this took is in the rate, and records may count twice.";
    const run = { topics: ["t"], expectedRecords: 1_000n, measure: { ...measure, wasRebalanced: true } };
    expect(runResult({ ...report, runs: [run] }).notes.filter((each) => each === note)).toHaveLength(1);
    expect(runText({ ...report, runs: [run] })).toContain(note);
    expect(runText(report)).not.toContain("rebalanced");
  });

  test("refuses to tell a latency of a backlog, and says what a size and a megabyte are", () => {
    const text = runText(report);
    expect(text).toContain("A backlog has a rate and no latency");
    expect(text).toContain("MB is 10^6 bytes");
  });

  test("has latencies of a live stream, and doubts clocks that disagree", () => {
    const latency = {
      sinceRecord: durations(5),
      sinceSource: durations(5),
      connector: durations(0),
      clockSkewEvents: 2,
      eventsWithoutTimestamp: 3,
    };
    const text = runText({
      ...report,
      settings: { ...report.settings, mode: "tail" },
      runs: [{ topics: ["t"], expectedRecords: null, measure: { ...measure, latency } }],
    });
    expect(text).toMatch(/^since the record's timestamp +5 +900 ns +1\.50 µs +2\.50 µs$/m);
    expect(text).toMatch(/^of it, inside the connector +0 +- +- +-$/m);
    expect(text).toContain("2 events have a negative age");
    expect(text).toContain("3 events have a record without a timestamp (-1 or 0)");
  });

  test("of nothing read has no rates that divide by nothing", () => {
    const nothing = { ...measure, records: 0, events: 0, bytes: 0, errorRecords: 0, elapsedMs: 0, formats: [], errors: [] };
    const text = runText({ ...report, runs: [{ topics: ["t"], expectedRecords: 0n, measure: nothing }] });
    expect(text).toContain("No record was decoded");
    expect(text).not.toMatch(/NaN|Infinity/);
  });

  test("is marked when it was interrupted", () => {
    expect(runText({ ...report, aborted: true })).toMatch(/^ABORTED/);
    expect(runResult({ ...report, aborted: true })).toMatchObject({ schemaVersion: 1, command: "run", aborted: true });
  });

  test("says what open transactions held back, which stderr alone said", () => {
    const heldBack = ["t: an open transaction holds back 5 offsets of partition 0"];
    expect(runText({ ...report, heldBack })).toContain(`- ${heldBack[0]}\n`);
  });

  test("doubts the rate of a reading that took less than a second", () => {
    expect(runText(report)).toContain("t was read in less than a second: its rate is uncertain");
    const longer = [{ topics: ["t"], expectedRecords: 1_000n, measure: { ...measure, elapsedMs: 1_500 } }];
    expect(runText({ ...report, runs: longer })).not.toContain("uncertain");
  });
});
