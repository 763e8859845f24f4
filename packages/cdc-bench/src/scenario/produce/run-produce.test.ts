import { performance } from "node:perf_hooks";
import { afterEach, expect, test, vi } from "vitest";
import type { BatchWriter } from "../../load/batch-writer/batch-writer.ts";
import { changeFormats, defaultOpMix } from "../../load/change-events/index.ts";
import { presentProduce } from "../../presenters/produce.ts";
import { describeEnvironment } from "../../report/environment.ts";
import { produceMetrics, produceResult } from "./produce-result.ts";
import { type ProduceMeasure, type ProduceOptions, runProduce } from "./run-produce.ts";

afterEach(() => void vi.restoreAllMocks());

const writer: BatchWriter = { partitionsOf: () => 1, send: async () => {}, retries: 0, close: async () => {} };

/** Writes 1,000 records a second. A millisecond passes whenever the time is asked for. */
function produce(options: Pick<ProduceOptions, "rows" | "maxDurationMs"> & Partial<ProduceOptions>): Promise<ProduceMeasure> {
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs++);
  const topic = "any-json.sales.salesorderdetail";
  return runProduce({
    writer,
    topics: [{ topic, format: changeFormats.find(({ name }) => name === "json")!, compression: "none" }],
    schemaIds: new Map([[topic, null]]),
    seed: 1,
    mix: defaultOpMix,
    perSecond: 1_000,
    batchBytes: 16_384,
    maxInFlight: 5,
    headers: false,
    isAcknowledged: true,
    interrupt: new AbortController().signal,
    observer: { observe: () => {}, note: () => {}, end: () => {} },
    ...options,
  });
}

test.each([
  ["the rows, if they are written first", { rows: 20, maxDurationMs: 50 }, 20, "rows-written"],
  ["the time, if it is over first", { rows: 10_000, maxDurationMs: 50 }, 50, "time-up"],
  ["the time alone", { rows: undefined, maxDurationMs: 50 }, 50, "rows-written"],
  ["the rows alone", { rows: 60, maxDurationMs: undefined }, 60, "rows-written"],
] as const)("a run at a rate ends with %s", async (_, options, records, outcome) => {
  const measure = await produce(options);
  expect(measure).toMatchObject({ outcome, dueRecords: records, topics: [{ records }] });
});

test("what nobody acknowledges has no delay until its acknowledgement, and the result says that it was sent", async () => {
  const acknowledged = await produce({ rows: 20, maxDurationMs: undefined });
  expect(acknowledged).toMatchObject({ ack: { count: expect.any(Number) as number }, dueToAck: { count: 20 } });
  expect(produceMetrics(acknowledged).map(({ name }) => name)).toContain("latency.p99");

  const sent = await produce({ rows: 20, maxDurationMs: undefined, isAcknowledged: false });
  expect(sent).toMatchObject({ lateness: { count: 20 }, dueToAck: null, ack: null });
  expect(produceMetrics(sent).map(({ name }) => name)).toEqual(["rate", "throughput", "size.avg"]);
  const verdict = { metrics: [], thresholds: [], baseline: [] };
  const environment = describeEnvironment();
  const result = produceResult({ startedAt: new Date(0), environment, settings: { acks: "0" }, measure: sent, verdict });
  expect(result.notes).toContainEqual(expect.stringContaining("Nobody has acknowledged these records"));
  const [rates, delays] = presentProduce(result).sections;
  expect(rates).toMatchObject({ title: "Sent" });
  expect(JSON.stringify(delays)).not.toContain("to acknowledged");
});
