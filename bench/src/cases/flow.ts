import { setImmediate as turn, setTimeout as pass } from "node:timers/promises";
import { getHeapStatistics } from "node:v8";
import { type Consumer, createConsumer, type KafkaDriver, type Sink } from "@cdckit/consumer";
import type { CdcEvent } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { type Flow, type FlowMix, flowOf, flowPartitions, messageAt } from "../flow-records.ts";
import { HandledMarks, judgeMarks, type MarksVerdict, placeOf } from "../handled-marks.ts";
import { type MemoryPeaks, watchMemory } from "../memory-peaks.ts";
import { MeteredDriver } from "../metered-driver.ts";

export type FlowVariant = "handler" | "sinks";

export interface FlowOptions {
  readonly bytes: number;
  readonly variant: FlowVariant;
  /** Null: a broker in memory. */
  readonly brokers: string | null;
  /** `wide`: long columns alone, which are many bytes at little work. */
  readonly mix: FlowMix;
  /** Bytes that the consumer may hold, as `delivery` has it. */
  readonly maxInFlightBytes: number;
  /** For so long from the first record on, and again from the middle on, everything is handled slowly: reading gets far ahead. */
  readonly slowForMs: number;
}

export interface FlowResult {
  readonly driver: string;
  readonly variant: FlowVariant;
  readonly records: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly heapLimitBytes: number;
  readonly peaks: MemoryPeaks;
  readonly peakInFlightBytes: number;
  readonly largestBatchBytes: number;
  /** By who handles: the handler, or each sink. */
  readonly marks: Readonly<Record<string, MarksVerdict>>;
}

/** How long a record takes then. */
const slowMs = 25;

/** Lets so many bytes flow through a consumer, and looks at what this process holds meanwhile. */
export async function measureFlow(options: FlowOptions): Promise<FlowResult> {
  const flow = await flowOf(options.bytes, options.mix);
  const driver = new MeteredDriver(driverOf(flow, options), { copies: options.brokers === null });
  const consumer = createConsumer({
    driver,
    groupId: `flow-${options.variant}`,
    topics: flow.topics.map(({ name }) => name),
    registry: flow.schemas,
    // Bytes are the bound that holds, not the number of batches.
    delivery: { concurrency: 8, maxInFlight: 64, maxInFlightBytes: options.maxInFlightBytes, commitIntervalMs: 200 },
  });
  const pace = new Pace(
    flow.records,
    options.slowForMs,
    () => options.brokers !== null || driver.inFlight.peakBytes >= options.maxInFlightBytes,
  );
  const who = options.variant === "handler" ? attachHandler(consumer, flow, driver, pace) : attachSinks(consumer, flow, driver, pace);
  const peaksOf = watchMemory();
  const startedAt = performance.now();
  await consumer.run();
  const ends = new Map(
    flow.topics.flatMap(({ name, recordsPerPartition }) =>
      Array.from({ length: flowPartitions }, (_, partition) => [placeOf(name, partition), recordsPerPartition] as const),
    ),
  );
  const { peakBytes, largestBatchBytes } = driver.inFlight;
  return {
    driver: driver.name,
    variant: options.variant,
    records: flow.records,
    bytes: flow.bytes,
    seconds: (performance.now() - startedAt) / 1000,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    peaks: peaksOf(),
    peakInFlightBytes: peakBytes,
    largestBatchBytes,
    marks: Object.fromEntries([...who].map(([name, marks]) => [name, judgeMarks([marks.toObject()], ends)])),
  };
}

/** How much longer it stays slow if reading has not been held back yet. */
const patienceMs = 30_000;

/** Fast, but for two stretches of time: at least so long, and the first until reading was held back, however busy the machine is. */
class Pace {
  readonly #records: number;
  readonly #slowForMs: number;
  readonly #wasHeldBack: () => boolean;
  #done = 0;
  #slowUntil = 0;

  constructor(records: number, slowForMs: number, wasHeldBack: () => boolean) {
    this.#records = records;
    this.#slowForMs = slowForMs;
    this.#wasHeldBack = wasHeldBack;
  }

  get isOver(): boolean {
    return this.#done === this.#records;
  }

  get isSlow(): boolean {
    const now = performance.now();
    return now < this.#slowUntil || (now < this.#slowUntil + patienceMs && !this.#wasHeldBack());
  }

  /** A record begins to be handled, or is. */
  step(): void {
    if (this.#done === 0 || this.#done === this.#records >> 1) {
      this.#slowUntil = performance.now() + this.#slowForMs;
    }
    this.#done++;
  }
}

function attachHandler(consumer: Consumer, flow: Flow, driver: MeteredDriver, pace: Pace): ReadonlyMap<string, HandledMarks> {
  const marks = marksOf(flow);
  consumer.on("*", async ({ record: { topic, partition, offset } }) => {
    pace.step();
    await (pace.isSlow ? pass(slowMs) : turn());
    marks.mark(topic, partition, offset);
    driver.handled({ topic, partition }, offset);
    if (pace.isOver) {
      void consumer.stop(); // which waits for what is still at work
    }
  });
  return new Map([["handler", marks]]);
}

/** Two sinks: one is always fast, the other slow at times. The batches of the first must not pile up because of it. */
function attachSinks(consumer: Consumer, flow: Flow, driver: MeteredDriver, pace: Pace): ReadonlyMap<string, HandledMarks> {
  const [fast, slow] = [marksOf(flow), marksOf(flow)];
  const options = { batch: { maxEvents: 500, maxMs: 200 } };
  consumer.to(
    sinkOf("fast", fast, () => turn()),
    options,
  );
  const settled = (event: CdcEvent): void => {
    pace.step();
    driver.handled(event.record, event.record.offset);
    if (pace.isOver) {
      void consumer.stop();
    }
  };
  // As slow for each event of a batch as a handler is, save that its partitions go side by side alone.
  consumer.to(
    sinkOf("slow", slow, (events) => (pace.isSlow ? pass(slowMs * Math.ceil(events / 8)) : turn()), settled),
    options,
  );
  return new Map([
    ["fast", fast],
    ["slow", slow],
  ]);
}

function sinkOf(name: string, marks: HandledMarks, apply: (events: number) => Promise<void>, settled?: (event: CdcEvent) => void): Sink {
  return {
    name,
    claim: async () => [],
    apply: async ({ events }) => {
      await apply(events.length);
      for (const event of events) {
        marks.mark(event.record.topic, event.record.partition, event.record.offset);
        settled?.(event);
      }
    },
    close: async () => {},
  };
}

function marksOf(flow: Flow): HandledMarks {
  const topics = Object.fromEntries(flow.topics.map(({ name }) => [name, flowPartitions]));
  return new HandledMarks(topics, Math.max(...flow.topics.map(({ recordsPerPartition }) => recordsPerPartition)));
}

function driverOf(flow: Flow, { brokers, mix }: FlowOptions): KafkaDriver {
  return brokers === null
    ? memory({ broker: new FlowBroker(flow), maxBatchRecords: mix === "wide" ? 4 : 20 })
    : kafkajs({ brokers: [brokers], partitionsConsumedConcurrently: flow.topics.length * flowPartitions });
}

/** What lies in the log ahead of a group, far more than may be in memory at a time. Its records share the recorded bytes. */
const bytesAhead = 2 ** 28;

/** A broker in memory: as the group commits, records are appended at the end of its logs and deleted at their start. */
class FlowBroker extends MemoryBroker {
  readonly #flow: Flow;

  constructor(flow: Flow) {
    super(Object.fromEntries(flow.topics.map(({ name }) => [name, flowPartitions])));
    this.#flow = flow;
    for (const { name } of flow.topics) {
      for (let partition = 0; partition < flowPartitions; partition++) {
        this.#fill(name, partition, 0);
      }
    }
  }

  override commit(commit: Parameters<MemoryBroker["commit"]>[0]): void {
    super.commit(commit);
    this.deleteBefore(commit.topic, commit.partition, commit.offset);
    this.#fill(commit.topic, commit.partition, Number(commit.offset));
  }

  #fill(topicName: string, partition: number, from: number): void {
    const topic = this.#flow.topics.find(({ name }) => name === topicName);
    if (topic === undefined) {
      return;
    }
    const ahead = Math.ceil((bytesAhead / this.#flow.bytes) * topic.recordsPerPartition);
    const end = Math.min(topic.recordsPerPartition, from + ahead);
    for (let offset = Number(this.endOffset(topicName, partition)); offset < end; offset++) {
      this.store(topicName, { ...messageAt(topic, partition, offset), partition });
    }
    this.wake();
  }
}
