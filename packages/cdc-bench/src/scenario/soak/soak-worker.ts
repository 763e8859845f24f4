import { createConsumer } from "@cdckit/consumer";
import { createDecoder } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { performance, PerformanceObserver } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { changeFormat, type ChangeFormat } from "../../load/change-events/index.ts";
import { kafkaConfigOf, throwAwaySession } from "../../load/connection.ts";
import { meterDecoder, readEvent } from "../../measure/decode-meter.ts";
import { DurationHistogram } from "../../measure/duration-histogram.ts";
import { backlogSource } from "../catch-up/backlog.ts";
import { givenSchemas } from "../catch-up/given-schemas.ts";
import { deliveryOf, driverTuningOf } from "../catch-up/tuning.ts";
import type { FromSoakWorker, SoakWorkerData, ToSoakWorker } from "./worker-messages.ts";

/**
 * The thread of one consumer: its heap, its garbage collections and its event loop are its own, so formats side by side can be told apart.
 */

const windowMs = 1_000;
const lookEveryMs = 20;
const sayWaitsAfterMs = 1_000;

const data = workerData as SoakWorkerData;
const tell = (message: FromSoakWorker): void => parentPort?.postMessage(message);

const { source: schemas } = givenSchemas(changeFormat(data.format) as ChangeFormat, backlogSource); // the command has checked the name
const decoded = meterDecoder(createDecoder(schemas === undefined ? {} : { schemas }));
const consumer = createConsumer({
  logger: false,
  signals: false,
  driver: kafkajs({ ...kafkaConfigOf(data.connection), ...driverTuningOf(data.tuning), ...throwAwaySession }),
  groupId: data.groupId,
  topics: [data.topic],
  from: "earliest",
  decoder: decoded.decoder,
  delivery: deliveryOf(data.tuning),
});

let events = 0;
let reportedEvents = 0;
let isMeasuring = false;
let hasStarted = false;
let loops = 0;
let all = new DurationHistogram();
let inWindow = new DurationHistogram();
let gcMs = 0;
let hasSaidWait = false;
let busySince = performance.eventLoopUtilization();
let windowStartedAtMs = performance.now();
let eventsBefore = 0;
let windows: NodeJS.Timeout | undefined;
const seeking = new Set<number>();

const collections = new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    gcMs += duration;
  }
});
collections.observe({ entryTypes: ["gc"] });

consumer.on("*", (event) => {
  readEvent(event);
  events++;
  if (!hasStarted) {
    hasStarted = true;
    tell({ kind: "started" });
  }
  if (!data.isLooped) {
    const ageNs = (Date.now() - Number(event.record.timestamp)) * 1e6;
    all.recordNs(ageNs);
    inWindow.recordNs(ageNs);
  }
});

/** What was measured so far was warm-up. */
function begin(): void {
  isMeasuring = true;
  events = 0;
  loops = 0;
  eventsBefore = 0;
  all = new DurationHistogram();
  startWindow();
  windows = setInterval(endWindow, windowMs);
}

function startWindow(): void {
  inWindow = new DurationHistogram();
  gcMs = 0;
  eventsBefore = events;
  busySince = performance.eventLoopUtilization();
  windowStartedAtMs = performance.now();
}

function endWindow(): void {
  const { count, p50Ns, p95Ns, p99Ns } = inWindow.summary();
  tell({
    kind: "window",
    window: {
      lengthMs: performance.now() - windowStartedAtMs,
      events: events - eventsBefore,
      latencyMs: data.isLooped || count === 0 ? null : { p50: p50Ns / 1e6, p95: p95Ns / 1e6, p99: p99Ns / 1e6 },
      heapBytes: process.memoryUsage().heapUsed,
      rssBytes: process.memoryUsage.rss(),
      gcMs,
      busyShare: performance.eventLoopUtilization(busySince).utilization,
    },
  });
  startWindow();
}

/** Begins again with each partition that has been read, and says how far the consumer is and what it waits for. */
function look(): void {
  if (!data.isLooped && !isMeasuring && events > reportedEvents) {
    reportedEvents = events;
    tell({ kind: "handled", events });
  }
  const { assigned, waits, reasons } = consumer.health();
  const longest = waits.find(({ forMs }) => forMs >= sayWaitsAfterMs);
  if ((longest !== undefined) !== hasSaidWait) {
    hasSaidWait = longest !== undefined;
    tell({
      kind: "waiting",
      text: longest === undefined ? null : (reasons.find((reason) => reason.includes(longest.what)) ?? longest.what),
    });
  }
  for (const { partition, handledTo } of data.isLooped ? assigned : []) {
    const end = data.ends[partition];
    if (end !== undefined && handledTo !== null && handledTo >= BigInt(end) && !seeking.has(partition)) {
      seeking.add(partition);
      consumer.seek({ topic: data.topic, partition, offset: 0n }).then(
        () => {
          seeking.delete(partition);
          loops++;
        },
        () => seeking.delete(partition), // a rebalance has taken it: the next look tries again
      );
    }
  }
}

const looking = setInterval(look, lookEveryMs);
parentPort?.on("message", (message: ToSoakWorker) => {
  if (message === "begin") {
    begin();
  } else {
    void consumer.stop();
  }
});
try {
  await consumer.run();
} finally {
  clearInterval(looking);
  clearInterval(windows);
  collections.disconnect();
  parentPort?.removeAllListeners("message");
}
tell({ kind: "ended", events, errorRecords: decoded.errorRecords, loops, latency: data.isLooped ? null : all.summary() });
parentPort?.close();
