import { setTimeout } from "node:timers/promises";
import { type FetchedBatch, type KafkaDriver, silentLogger } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { readRecording } from "@cdckit/testkit";
import { type FetchMeter, meterDriver } from "../measure/fetch-meter.ts";
import { BatchHandoff } from "./batch-handoff.ts";
import { type Cluster, openCluster, throwAwayGroup, type TopicExtent } from "./cluster.ts";
import { createClusterDriver } from "./connection.ts";
import type { ClusterSource, Source } from "./source.ts";

const closeDeadlineMs = 5_000;
const lookEveryMs = 200;
/** A topic that sends nothing for so long has nothing left: its last offsets may be transaction markers. */
const maxIdleMs = 10_000;

/** Records one after the other, from any source. A topic is read from its start to its present end. Leaving the loop closes the source. */
export function openRecordFeed(source: Source, interrupt: AbortSignal): AsyncIterable<KafkaRecord> {
  return untilInterrupted(source.kind === "file" ? readRecording(source.file) : readTopics(source, interrupt), interrupt);
}

/** Ends at the interrupt, also while the next record does not come: a named pipe may never send one. */
async function* untilInterrupted(
  feed: AsyncGenerator<KafkaRecord, void, void>,
  interrupt: AbortSignal,
): AsyncGenerator<KafkaRecord, void, void> {
  const interrupted = new Promise<"interrupted">((resolve) => {
    interrupt.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
  let isWaiting = false;
  try {
    while (!interrupt.aborted) {
      isWaiting = true;
      const next = await Promise.race([feed.next(), interrupted]);
      if (next === "interrupted" || next.done === true) {
        return;
      }
      isWaiting = false;
      yield next.value;
    }
  } finally {
    const ended = feed.return();
    // A feed that waits for its next record cannot be told to end before that has come.
    await (isWaiting && interrupt.aborted ? Promise.race([ended, setTimeout(closeDeadlineMs, undefined, { ref: false })]) : ended);
  }
}

async function* readTopics(source: ClusterSource, interrupt: AbortSignal): AsyncGenerator<KafkaRecord, void, void> {
  const cluster = await openCluster(source.connection);
  try {
    for (const extent of await cluster.extentsOf(source.topics)) {
      if (extent.maxRecords > 0n && !interrupt.aborted) {
        yield* readTopic(createClusterDriver(source.connection), extent, cluster, interrupt);
      }
    }
  } finally {
    await cluster.close();
  }
}

async function* readTopic(
  driver: KafkaDriver,
  extent: TopicExtent,
  cluster: Cluster,
  interrupt: AbortSignal,
): AsyncGenerator<KafkaRecord, void, void> {
  const nonEmpty = extent.partitions.filter(({ startOffset, endOffset }) => endOffset > startOffset);
  const endOffsets = new Map(nonEmpty.map(({ partition, endOffset }) => [partition, endOffset]));
  const meter = meterDriver(driver, { endOffsets });
  const handoff = new BatchHandoff();
  const groupId = throwAwayGroup();
  const subscription = { groupId, topics: [extent.topic], from: "earliest", logger: silentLogger, signal: interrupt } as const;
  const session = await meter.driver.connect(subscription, handoff);
  const stopWatching = closeAtEnd(handoff, meter, interrupt);
  try {
    for (let handed = await handoff.next(); handed !== undefined; handed = await handoff.next()) {
      try {
        yield* recordsOf(handed.batch);
      } finally {
        // Also when the reader leaves in the middle: the driver would wait for this batch before it closes.
        handed.release();
      }
    }
  } finally {
    stopWatching();
    handoff.close();
    await session.close(closeDeadlineMs);
    await cluster.forgetGroup(groupId);
  }
}

/** Closes the handoff at the end of the topic, at Ctrl-C, and when nothing comes any more. */
function closeAtEnd(handoff: BatchHandoff, meter: FetchMeter, interrupt: AbortSignal): () => void {
  const close = (): void => handoff.close();
  const looking = setInterval(() => {
    if (meter.idleMs > maxIdleMs) {
      close();
    }
  }, lookEveryMs);
  interrupt.addEventListener("abort", close);
  void meter.ended.then(close);
  return () => {
    clearInterval(looking);
    interrupt.removeEventListener("abort", close);
  };
}

/** Records one after the other; they may borrow the batch's bytes. */
export function* recordsOf(batch: FetchedBatch): Generator<KafkaRecord, void, void> {
  const walk = batch.walk();
  while (walk.next()) {
    const { record } = walk;
    yield {
      topic: batch.topic,
      partition: batch.partition,
      offset: batch.offsetAt(record),
      timestamp: batch.timestampAt(record),
      key: batch.keyAt(record),
      value: batch.valueAt(record),
      headers: batch.headersAt(record),
    };
  }
}
