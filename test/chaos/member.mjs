/**
 * A service as users write one, that says in a file what it has handled. Written with one system call an event: what a killed process had
 * written is there, and what it had not is not. A second file says what it knows of itself: its partitions, and its health.
 */
import { channel } from "node:diagnostics_channel";
import { openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { chosenDriverName } from "./chosen-driver.mjs";
import { driverWith } from "./planted-bugs.mjs";

const { brokers, topic, groupId, audit, words, held, bug, delayMs, ...options } = JSON.parse(process.argv[2] ?? "{}");
const file = openSync(audit, "a");
const wordsFile = words === undefined ? null : openSync(words, "a");

const tuning = {
  maxWaitMs: 100,
  sessionTimeoutMs: 3_000,
  heartbeatIntervalMs: 300,
  rebalanceTimeoutMs: 5_000,
  maxBytesPerPartition: 16_384,
};
const consumer = createConsumer({
  logger: { debug() {}, info() {}, warn: warned, error() {} },
  driver: driverWith(bug, { brokers: [brokers], requestTimeout: 6_000 }, tuning),
  groupId,
  topics: [topic],
  shutdownTimeoutMs: 5_000,
  ...options,
  // The registry writes down who has asked.
  ...(options.registry && { registry: { ...options.registry, headers: { "x-member": String(process.pid) } } }),
});

/** What it could not finish before its partitions went comes again. */
function warned(fields, line) {
  if (/were given up with events in flight/.test(line)) {
    say({ kind: "gave up", partitions: fields.partitions.map((name) => Number(/\[(\d+)\]/.exec(name)?.[1])) });
  }
}

function say(word) {
  if (wordsFile !== null) {
    writeSync(wordsFile, `${JSON.stringify({ pid: process.pid, atMs: Date.now(), ...word })}\n`);
  }
}
for (const kind of ["assigned", "revoked"]) {
  channel(`cdckit:consumer:${kind}`).subscribe(({ assignments, how }) => {
    say({ kind: how === "lost" ? "lost" : kind, partitions: assignments.map(({ partition }) => partition) });
  });
}
if (wordsFile !== null) {
  setInterval(() => {
    const { live, ready, reasons, counts, assigned } = consumer.health();
    say({ kind: "health", live, ready, reasons, reconnects: counts.reconnects, partitions: assigned.map(({ partition }) => partition) });
  }, 250).unref();
}

/** The turn of the event loop that a handler was called in: those of one turn have one number and one time. */
let turn = null;
let turns = 0;
function turnNow() {
  if (turn === null) {
    turn = { number: ++turns, startedMs: Date.now() };
    setImmediate(() => {
      turn = null;
    });
  }
  return turn;
}

let slowUntilMs = 0;
process.on("SIGUSR2", () => {
  slowUntilMs = Date.now() + 2_000;
});
consumer.on("*", async ({ key, record: { partition, offset } }) => {
  const { number, startedMs } = turnNow();
  if (held !== undefined && readFileSync(held, "latin1") === String(key.id)) {
    say({ kind: "held", partitions: [partition] });
    throw Object.assign(new Error("what it needs is away"), { code: "ECONNREFUSED" });
  }
  // Not the same for all: neighbours overtake each other where nothing holds them.
  await new Promise((resolve) => setTimeout(resolve, Date.now() < slowUntilMs ? 250 : Number(offset % 3n) * delayMs));
  writeSync(file, `${partition} ${offset} ${key.id} ${Date.now()} ${process.pid} ${number} ${startedMs}\n`);
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
if (chosenDriverName === "confluent") {
  process.exit(); // as its README says: librdkafka keeps a process alive that it cannot say goodbye for
}
