import { performance } from "node:perf_hooks";
import { afterEach, expect, test, vi } from "vitest";
import type { BatchWriter } from "../../load/batch-writer/batch-writer.ts";
import { changeFormats, defaultOpMix } from "../../load/change-events/index.ts";
import { type ProduceMeasure, type ProduceOptions, runProduce } from "./run-produce.ts";

afterEach(() => void vi.restoreAllMocks());

const writer: BatchWriter = { partitionsOf: () => 1, send: async () => {}, retries: 0, close: async () => {} };

/** Writes 1,000 records a second. A millisecond passes whenever the time is asked for. */
function produce(options: Pick<ProduceOptions, "rows" | "maxDurationMs">): Promise<ProduceMeasure> {
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs++);
  const topic = "any-json.sales.salesorderdetail";
  return runProduce({
    ...options,
    writer,
    topics: [{ topic, format: changeFormats.find(({ name }) => name === "json")!, compression: "none" }],
    schemaIds: new Map([[topic, null]]),
    seed: 1,
    mix: defaultOpMix,
    perSecond: 1_000,
    batchBytes: 16_384,
    maxInFlight: 5,
    headers: false,
    interrupt: new AbortController().signal,
    observer: { observe: () => {}, note: () => {}, end: () => {} },
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
