import { silentLogger } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { expect, test } from "vitest";
import { measureReading } from "../measure/reading.ts";
import { replayDriver } from "./replay-driver.ts";

const record = (partition: number, offset: bigint): KafkaRecord => ({
  topic: "orders",
  partition,
  offset,
  timestamp: 0n,
  headers: [],
  key: null,
  value: Buffer.from(`{"id":${offset}}`),
});
const records = [record(0, 3n), record(1, 0n), record(0, 5n)];

test("each round goes on where the last one ended, partition by partition", async () => {
  const seen: string[] = [];
  const reading = await measureReading({
    driver: replayDriver(records, 3),
    schemas: undefined,
    groupId: "any",
    topics: ["orders"],
    from: "earliest",
    end: { maxRecords: 9 },
    maxDurationMs: undefined,
    maxIdleMs: undefined,
    measureLatency: false,
    interrupt: new AbortController().signal,
    onProgress: () => {},
    onEvent: ({ record: { partition, offset } }) => seen.push(`${partition}:${offset}`),
  });
  expect(reading).toMatchObject({ records: 9, outcome: "limit-reached" });
  expect(seen).toEqual(["0:3", "0:5", "1:0", "0:9", "0:11", "1:1", "0:15", "0:17", "1:2"]);
});

test("a session that is closed in the middle hands over nothing more, also while its partitions are paused", async () => {
  let batches = 0;
  const session = await replayDriver(records, 1_000_000).connect(
    { groupId: "any", topics: ["orders"], from: "earliest", logger: silentLogger },
    {
      assigned: () => {},
      revoked: async () => {},
      failed: (error) => {
        throw error;
      },
      batch: (batch) => {
        batches++;
        session.pause([batch.assignment]);
        return undefined;
      },
    },
  );
  await session.close(1_000);
  const atTheEnd = batches;
  await new Promise((resolve) => setImmediate(resolve));
  expect(batches).toBe(atTheEnd);
  expect(batches).toBeLessThanOrEqual(2);
});
