/**
 * A service as users write one, that says in a file what it has handled. Written with one system call an event: what a killed process had
 * written is there, and what it had not is not.
 */
import { openSync, writeSync } from "node:fs";
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";

const { brokers, topic, groupId, audit, delayMs, ...options } = JSON.parse(process.argv[2] ?? "{}");
const file = openSync(audit, "a");

const consumer = createConsumer({
  logger: false,
  driver: kafkajs({
    brokers: [brokers],
    maxWaitMs: 100,
    sessionTimeoutMs: 3_000,
    heartbeatIntervalMs: 300,
    rebalanceTimeoutMs: 5_000,
    requestTimeout: 6_000,
    maxBytesPerPartition: 16_384,
  }),
  groupId,
  topics: [topic],
  shutdownTimeoutMs: 5_000,
  ...options,
});
let slowUntilMs = 0;
process.on("SIGUSR2", () => {
  slowUntilMs = Date.now() + 2_000;
});
consumer.on("*", async ({ key, record: { partition, offset } }) => {
  // Not the same for all: neighbours overtake each other where nothing holds them.
  await new Promise((resolve) => setTimeout(resolve, Date.now() < slowUntilMs ? 250 : Number(offset % 3n) * delayMs));
  writeSync(file, `${partition} ${offset} ${key.id} ${Date.now()}\n`);
});
// One that is still there long after it was told to go says why.
process.once("SIGTERM", () => {
  setTimeout(() => {
    const health = JSON.stringify(consumer.health(), (_, value) => (typeof value === "bigint" ? `${value}` : value));
    process.stderr.write(`still there: ${health}; alive: ${process.getActiveResourcesInfo().join(" ")}\n`);
  }, 9_000).unref();
});
try {
  await consumer.run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
