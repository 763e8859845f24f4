import { createDecoder, type Decoder, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording, RecordArrayBatch } from "@cdckit/testkit";
import { performance } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { replayDriver } from "../load/replay-driver.ts";
import { meterDecoder, readEvent } from "./decode-meter.ts";
import { measureReading } from "./reading.ts";

const slices = 120;
const warmUpSlices = 20;
const readings = 8;
/** How often a reading plays the records. */
const repeat = 10;
const maxShare = 0.03;

/**
 * What measuring costs: a decoder that decodes nothing, with the meter around it and without, against the time that a reading takes for a
 * record. The fastest of many short slices counts, because nothing makes a loop faster than it is, and a busy machine makes most slower.
 */
describe("the harness costs less than 3% of what it measures", () => {
  for (const name of ["confluent-avro", "json", "json-with-schema"]) {
    test(`salesorderdetail/${name}`, { retry: 3, timeout: 60_000 }, async () => {
      const { file, schemasFile } = bundledRecording(`salesorderdetail/${name}`);
      const records = await loadRecording(file);
      const decoder = createDecoder({ schemas: fromBundle(schemasFile) });
      const [first] = records as [KafkaRecord];
      const events = await decoder.decode(first); // and its schemas are at hand afterwards
      const empty: Decoder = { decode: () => events, decodeAt: () => events, explain: (record) => decoder.explain(record) };
      const batch = new RecordArrayBatch({ assignment: { topic: first.topic, partition: 0, epoch: 0 }, records });
      const metered = meterDecoder(empty).decoder;
      const [bareMs, meteredMs] = fastest(
        () => loop(batch, empty, true),
        () => loop(batch, metered, false), // the meter reads events itself
      );
      const readingMs = await fastestReading(records, fromBundle(schemasFile));
      expect((meteredMs - bareMs) / readingMs).toBeLessThan(maxShare);
    });
  }
});

function loop(batch: RecordArrayBatch, decoder: Decoder, reads: boolean): void {
  const walk = batch.walk();
  while (walk.next()) {
    const events = decoder.decodeAt(walk);
    if (events instanceof Promise) {
      throw new Error("a bundled schema was not at hand");
    }
    if (reads) {
      for (let i = 0; i < events.length; i++) {
        readEvent(events[i]!);
      }
    }
  }
}

/** By turns, so that all have the same machine. */
function fastest(...works: readonly [() => void, () => void]): readonly [number, number] {
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let slice = 0; slice < slices; slice++) {
    for (const [i, work] of works.entries()) {
      const startMs = performance.now();
      work();
      const elapsedMs = performance.now() - startMs;
      if (slice >= warmUpSlices) {
        best[i] = Math.min(best[i] ?? elapsedMs, elapsedMs);
      }
    }
  }
  return best;
}

/** Milliseconds in which cdckit's consumer, decoder and handler read the records once. */
async function fastestReading(records: readonly KafkaRecord[], schemas: SchemaSource): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < readings; i++) {
    const reading = await measureReading({
      driver: replayDriver(records, repeat),
      schemas,
      groupId: "any",
      topics: [records[0]?.topic ?? ""],
      from: "earliest",
      end: { maxRecords: records.length * repeat },
      maxDurationMs: undefined,
      maxIdleMs: undefined,
      measureLatency: false,
      interrupt: new AbortController().signal,
      onProgress: () => {},
    });
    best = Math.min(best, (reading.elapsedMs - reading.firstBatchMs) / repeat);
  }
  return best;
}
