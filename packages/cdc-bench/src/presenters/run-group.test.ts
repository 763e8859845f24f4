import { expect, test } from "vitest";
import { renderText } from "../presentation/render/text.ts";
import type { GroupMeasure, ProcessMeasure } from "../result/group-measure.ts";
import { groupMetrics, groupRunResult } from "../result/run-result.ts";
import { presentRun } from "./run.ts";

const one: ProcessMeasure = {
  number: 1,
  partitions: 3,
  records: 3_000,
  events: 3_000,
  errorRecords: 0,
  bytes: 1_500_000,
  share: 0.75,
  elapsedMs: 1_500,
  recordsPerSecond: 2_000,
  cpuMs: 1_200,
  maxRssBytes: 150e6,
  formats: [
    {
      topic: "t",
      format: { framing: "none", encoding: "json", envelope: "debezium" },
      records: 3_000,
      events: 3_000,
      sizes: { count: 3_000, totalBytes: 1_500_000, avgBytes: 500, medianBytes: 500, p99Bytes: 500, maxBytes: 500 },
      decode: { count: 187, meanNs: 1_000, p50Ns: 900, p95Ns: 1_500, p99Ns: 2_500, maxNs: 9_000 },
    },
  ],
  errors: [],
};

const group: GroupMeasure = {
  outcome: "end-reached",
  unread: 0,
  joinMs: 3_250,
  records: 4_000,
  events: 4_000,
  errorRecords: 10,
  bytes: 2_000_000,
  elapsedMs: 1_600,
  recordsPerSecond: 2_500,
  megabytesPerSecond: 1.25,
  cores: 2,
  clientCpuShare: 0.5,
  broker: { cpuMs: 800, cpuShare: 0.25 },
  processes: [
    one,
    {
      ...one,
      number: 2,
      partitions: 1,
      records: 1_000,
      share: 0.25,
      errorRecords: 10,
      errors: [{ topic: "t", code: "malformed", records: 10, example: "why" }],
    },
  ],
};

function textOf(measured: GroupMeasure, wasRebalanced = false): string {
  const result = groupRunResult({
    startedAt: "2026-11-22T08:00:00.000Z",
    elapsedMs: 5_000,
    aborted: false,
    environment: { cpu: "a processor", cores: 2, memoryBytes: 1, platform: "linux x64", node: "v20.19.0", versions: {} },
    settings: { mode: "drain", source: "a:1", topics: ["t"], registry: null, maxRecords: null, maxDurationMs: null, fetchBytes: null },
    group: measured,
    wasRebalanced,
    verdict: { metrics: [], thresholds: [], baseline: [] },
  });
  return renderText(presentRun(result));
}

test("a run by several processes has what they did together, what each did, and what the broker took", () => {
  const text = textOf(group);
  expect(text).toMatch(/^ *2 +4,000 +4,000 +10 +1\.60 +2,500 +1\.3 +3\.25 s +the end of all topics was reached$/m);
  expect(text).toMatch(/^ *1 +3 +3,000 +3,000 +0 +1\.50 +2,000 +75% +1\.20 s +150$/m);
  expect(text).toContain("The processes took 50% of the 2 cores of this machine.");
  expect(text).toContain("The broker took 25% of the 2 cores of this machine.");
  expect(text).toContain("share 2 cores with the broker: on machines of their own they would be faster");
  expect(text).toContain("t: 10 records could not be decoded (malformed): why");
});

test("a run by several processes says what is not known, and who had nothing to do", () => {
  const idle = { ...one, number: 2, partitions: 0, records: 0, share: 0, formats: [] };
  const text = textOf({ ...group, broker: null, processes: [one, idle] });
  expect(text).toContain("How much of a processor the brokers took is not known");
  expect(text).toContain("1 of 2 processes had no partition");
  expect(text).not.toContain("share 2 cores with the broker");
});

test("a run by several processes says that their group was rebalanced", () => {
  expect(textOf(group, true)).toContain("The group was rebalanced while the topics were read: the time that this took is in the rate");
  expect(textOf(group)).not.toContain("rebalanced");
});

test("thresholds are about all processes together, and about what decoding took in each", () => {
  const metrics = groupMetrics(group);
  expect(metrics.find(({ name }) => name === "rate")).toEqual({ name: "rate", scope: "2 processes", value: 2_500 });
  expect(metrics.filter(({ name }) => name === "decode.p99").map(({ scope, value }) => [scope.slice(0, 9), value])).toEqual([
    ["process 1", 2_500],
    ["process 2", 2_500],
  ]);
});
