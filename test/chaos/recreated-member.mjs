/** A service whose topic is deleted and created again under it. What it has handled is written down with one system call a record. */
import { openSync, writeSync } from "node:fs";
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { driverWith } from "./planted-bugs.mjs";

const { brokers, audit, bug, ...options } = JSON.parse(process.argv[2] ?? "{}");
const file = openSync(audit, "a");

const tuning = {
  maxWaitMs: 100,
  sessionTimeoutMs: 3_000,
  heartbeatIntervalMs: 300,
  rebalanceTimeoutMs: 5_000,
  maxBytesPerPartition: 16_384,
};

const consumer = createConsumer({
  logger: false,
  driver: driverWith(bug, { brokers: [brokers], requestTimeout: 6_000 }, tuning),
  groupId: "recreated",
  topics: ["rows"],
  shutdownTimeoutMs: 5_000,
  ...options,
});
consumer.on("*", async ({ row, record }) => {
  await new Promise((resolve) => setTimeout(resolve, Number(record.offset % 3n)));
  writeSync(file, `${row.incarnation} ${record.partition} ${row.number} ${process.pid}\n`);
});
try {
  await consumer.run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  writeSync(file, `counted ${consumer.health().counts.recreated}\n`);
}
