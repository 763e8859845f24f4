import { setTimeout } from "node:timers/promises";
import { type FetchedBatch, type Logger, type PartitionAssignment, silentLogger, type StartPosition } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { readRecording } from "@cdckit/testkit";
import { type FetchMeter, meterDriver } from "../measure/fetch-meter.ts";
import { ReadPositions } from "../measure/read-positions.ts";
import { BatchHandoff } from "./batch-handoff.ts";
import { type Cluster, openCluster, throwAwayGroup, type TopicExtent } from "./cluster.ts";
import { createClusterDriver } from "./connection.ts";
import { driverWaitText } from "./driver-wait-text.ts";
import { heldBackNotes } from "./held-back.ts";
import type { ClusterSource, Source } from "./source.ts";
import { readingEndOf, requireWhole } from "./whole-reading.ts";

const closeDeadlineMs = 5_000;
const lookEveryMs = 200;
/** A topic that sends nothing for so long has nothing left if its last offsets are transaction markers. Otherwise it is not read to its end. */
const maxIdleMs = 10_000;

/** What of a cluster's topics is read, if it is not everything from the start to the present end. */
export interface FeedRange {
  /** Moves the starts of a topic's partitions. */
  select(cluster: Cluster, extent: TopicExtent): Promise<TopicExtent>;
  /** Goes on at the end of the topics, all of them together, until the interrupt. */
  readonly follows: boolean;
}

/** What a feed needs of the command that reads it. */
export interface FeedWorld {
  readonly interrupt: AbortSignal;
  /** What the driver logs to. @default nothing is logged */
  readonly logger?: Logger;
  /**
   * Gets a sentence without its full stop for each topic that an open transaction ends early, for each wait of the driver and its end, and if the
   * group that has read stays. @default nothing is said, and nobody asks for open transactions
   */
  readonly note?: (text: string) => void;
}

/**
 * Records one after the other, from any source. A topic is read from its start to its present end, or as the range says; a recording has no
 * range. Leaving the loop closes the source.
 */
export function openRecordFeed(source: Source, world: FeedWorld, range?: FeedRange): AsyncIterable<KafkaRecord> {
  return untilInterrupted(source.kind === "file" ? readRecording(source.file) : readTopics(source, world, range), world.interrupt);
}

/** Ends at the interrupt, also while the next record does not come: a named pipe may never send one. */
async function* untilInterrupted(
  feed: AsyncGenerator<KafkaRecord, void, void>,
  interrupt: AbortSignal,
): AsyncGenerator<KafkaRecord, void, void> {
  const over = new AbortController(); // a command that reads many feeds would gather listeners
  const interrupted = new Promise<"interrupted">((resolve) => {
    interrupt.addEventListener("abort", () => resolve("interrupted"), { once: true, signal: over.signal });
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
    over.abort();
    const ended = feed.return();
    // A feed that waits for its next record cannot be told to end before that has come.
    await (isWaiting && interrupt.aborted ? Promise.race([ended, setTimeout(closeDeadlineMs, undefined, { ref: false })]) : ended);
  }
}

async function* readTopics(source: ClusterSource, world: FeedWorld, range: FeedRange | undefined): AsyncGenerator<KafkaRecord, void, void> {
  const cluster = await openCluster(source.connection, world);
  try {
    const extents = await cluster.extentsOf(source.topics);
    const selected = range === undefined ? extents : await Promise.all(extents.map((extent) => range.select(cluster, extent)));
    const { note } = world;
    if (note !== undefined) {
      (await heldBackNotes(cluster, extents)).forEach((held) => note(held));
    }
    if (range?.follows === true) {
      yield* readReach(source, { extents: selected, from: startsOf(selected), isEndless: true }, cluster, world);
      return;
    }
    for (const extent of selected) {
      if (extent.maxRecords > 0n && !world.interrupt.aborted) {
        const from = range === undefined ? "earliest" : startsOf([extent]);
        yield* readReach(source, { extents: [extent], from, isEndless: false }, cluster, world);
      }
    }
  } finally {
    await cluster.close();
  }
}

/** What one group reads, and whether it ends at the ends of its topics. */
interface Reach {
  readonly extents: readonly TopicExtent[];
  readonly from: StartPosition;
  readonly isEndless: boolean;
}

/** Also partitions of which nothing is read: what is not named would be read from its first record. */
function startsOf(extents: readonly TopicExtent[]): StartPosition {
  const offsets = extents.map(({ topic, partitions }) => [
    topic,
    Object.fromEntries(partitions.map(({ partition, startOffset }) => [partition, startOffset])),
  ]);
  return { offsets: Object.fromEntries(offsets) as Record<string, Record<number, bigint>> };
}

async function* readReach(
  { connection }: ClusterSource,
  { extents, from, isEndless }: Reach,
  cluster: Cluster,
  { interrupt, logger = silentLogger, note = () => {} }: FeedWorld,
): AsyncGenerator<KafkaRecord, void, void> {
  const end = readingEndOf({ partitions: extents.flatMap(({ partitions }) => partitions) });
  const meter = meterDriver(createClusterDriver(connection), isEndless ? {} : end);
  const handoff = new BatchHandoff();
  const groupId = throwAwayGroup();
  const topics = extents.map(({ topic }) => topic);
  const positions = new ReadPositions();
  const subscription = {
    groupId,
    topics,
    from,
    startAt: async (assignments: readonly PartitionAssignment[]) => positions.of(assignments),
    // What retention takes before it is read is gone: the reading goes on with what is there.
    lostRange: "earliest",
    logger,
    signal: interrupt,
  } as const;
  const session = await meter.driver.connect(subscription, handoff);
  const stopWatching = watchFeed(handoff, meter, isEndless, { interrupt, note });
  try {
    for (let handed = await handoff.next(); handed !== undefined; handed = await handoff.next()) {
      try {
        yield* unlessTaken(handed.batch, handoff, positions);
      } finally {
        // Also when the reader leaves in the middle: the driver would wait for this batch before it closes.
        handed.release();
      }
    }
    if (!isEndless && !interrupt.aborted) {
      requireWhole(topics, meter); // what is lacking would look like the end of the topic
    }
  } finally {
    stopWatching();
    handoff.close();
    await session.close(closeDeadlineMs);
    const left = await cluster.forgetGroup(groupId);
    if (left !== null) {
      note(left);
    }
  }
}

/**
 * The records of a batch, until its partition is taken away: the next assignment begins after the last record that was given, and brings the others.
 */
function* unlessTaken(batch: FetchedBatch, handoff: BatchHandoff, positions: ReadPositions): Generator<KafkaRecord, void, void> {
  for (const record of recordsOf(batch)) {
    if (!handoff.holds(batch.assignment)) {
      return;
    }
    positions.reached(batch.assignment, record.offset + 1n);
    yield record;
  }
  if (handoff.holds(batch.assignment)) {
    positions.reached(batch.assignment, batch.nextOffset);
  }
}

/** Closes the handoff at the interrupt. Unless the feed is endless, also at the end of its topics and when nothing comes any more. Says what is waited for. */
function watchFeed(
  handoff: BatchHandoff,
  meter: FetchMeter,
  isEndless: boolean,
  { interrupt, note }: Required<Pick<FeedWorld, "interrupt" | "note">>,
): () => void {
  const close = (): void => handoff.close();
  let reported: string | null = null;
  const look = (): void => {
    const { waitsFor, idleMs } = meter;
    const wait = waitsFor === null ? null : driverWaitText(waitsFor);
    if (wait !== reported) {
      reported = wait;
      note(wait === null ? "the driver goes on" : `the driver waits: ${wait}`);
    }
    if (!isEndless && idleMs > maxIdleMs) {
      close();
    }
  };
  const looking = setInterval(look, lookEveryMs);
  interrupt.addEventListener("abort", close);
  if (interrupt.aborted) {
    close();
  }
  if (!isEndless) {
    void meter.ended.then(close);
  }
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
