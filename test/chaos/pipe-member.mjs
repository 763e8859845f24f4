/** A service that passes every record on with pipe(). What it is handed is written down first, with one system call a batch. */
import { openSync, writeSync } from "node:fs";
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { driverWith } from "./planted-bugs.mjs";

const { brokers, audit, bug } = JSON.parse(process.argv[2] ?? "{}");
const file = openSync(audit, "a");
const table = { schema: "s", name: "rows" };

const tuning = {
  maxWaitMs: 100,
  sessionTimeoutMs: 3_000,
  heartbeatIntervalMs: 300,
  rebalanceTimeoutMs: 5_000,
  maxBytesPerPartition: 16_384,
};

const consumer = createConsumer({
  logger: false,
  driver: driverWith(bug, { brokers: [brokers] }, tuning),
  groupId: "pipe",
  topics: ["rows"],
  shutdownTimeoutMs: 5_000,
  // Plain commits as often as they can be: each that waits for a transaction is one that must not move the group back.
  delivery: { commitIntervalMs: 20 },
  decoder: {
    decodeAt: ({ batch, record }) => [
      { kind: "row", table, schemaId: null, record: { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) } },
    ],
  },
});
consumer.pipe(
  "s.rows",
  async (events) => {
    writeSync(file, events.map(({ record }) => `${record.partition} ${record.offset} ${process.pid} ${Date.now()}\n`).join(""));
    await new Promise((resolve) => setTimeout(resolve, 5));
    return events.map(({ record }) => ({
      topic: "out",
      key: null,
      value: Buffer.from(`${record.partition}:${record.offset}`),
      headers: [],
    }));
  },
  { batch: { maxEvents: 25, maxMs: 20 } },
);
try {
  await consumer.run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
