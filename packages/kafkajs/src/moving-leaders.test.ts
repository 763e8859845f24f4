import type { OutgoingRecord } from "@cdckit/consumer";
import fc from "fast-check";
import { Partitioners, type Producer } from "kafkajs";
import { createRequire } from "node:module";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { producerRetry } from "./own-producer.ts";
import { Partitions } from "./partitions.ts";
import { writeRecords } from "./write-records.ts";

/** The parts of kafkajs that decide what is sent again, and to whom. */
const require = createRequire(import.meta.url);
const createProducer = require("kafkajs/src/producer/index.js") as (parts: object) => Producer;
const { createErrorFromCode } = require("kafkajs/src/protocol/error.js") as { readonly createErrorFromCode: (code: number) => Error };
const { KafkaJSConnectionError, KafkaJSConnectionClosedError } = require("kafkajs/src/errors.js") as {
  readonly KafkaJSConnectionError: new (message: string) => Error;
  readonly KafkaJSConnectionClosedError: new (message: string, broker: { host: string; port: number }) => Error;
};

const notLeader = 6;
const outOfOrder = 45;
const topics = ["t", "u"] as const;
const partitionsPerTopic = 3;
const brokerCount = 3;

/** A leader that moves at a time, in milliseconds. Until the new one knows, nobody takes anything. */
interface Move {
  readonly atMs: number;
  readonly topic: string;
  readonly partition: number;
  readonly to: number;
  readonly gapMs: number;
}

interface Fate {
  readonly moves: readonly Move[];
  /** How long a broker takes to answer or to let a connection in, one after another, again and again, and whether the connection breaks then. */
  readonly answers: readonly { readonly afterMs: number; readonly isLost: boolean }[];
}

/** What kafkajs has of a broker. */
interface Broker {
  readonly nodeId: number;
  readonly produce: (request: { readonly topicData: TopicData }) => Promise<object>;
  isConnected: boolean;
}

interface Entry {
  readonly partition: number;
  readonly messages: readonly { readonly value: Buffer }[];
  readonly firstSequence: number;
}
type TopicData = readonly { readonly topic: string; readonly partitions: readonly Entry[] }[];

/** A partition's log, and the batches by which brokers know a repetition: the last five. */
class Log {
  leader: number;
  /** When it knows that it leads. */
  ledFromMs = 0;
  readonly values: string[] = [];
  readonly #batches: { readonly first: number; readonly count: number }[] = [];

  constructor(leader: number) {
    this.leader = leader;
  }

  append(by: number, { messages, firstSequence }: Entry): number {
    if (by !== this.leader || Date.now() < this.ledFromMs) {
      return notLeader;
    }
    const count = messages.length;
    if (this.#batches.slice(-5).some((batch) => batch.first === firstSequence && batch.count === count)) {
      return 0;
    }
    const { first, count: last } = this.#batches.at(-1) ?? { first: 0, count: 0 };
    if (firstSequence !== first + last) {
      return outOfOrder;
    }
    this.#batches.push({ first: firstSequence, count });
    this.values.push(...messages.map(({ value }) => String(value)));
    return 0;
  }
}

/** Three brokers in place of kafkajs' cluster: what they know of leaders, what they append, and when they answer. */
class ScriptedCluster {
  readonly retry = {};
  readonly targetTopics = new Set<string>();
  readonly logs = new Map<string, Log[]>(topics.map((topic) => [topic, Array.from({ length: partitionsPerTopic }, () => new Log(0))]));
  readonly #fate: Fate;
  #count = 0;
  #metadata = new Map<string, object[]>();
  #brokers = new Map<number, Broker>();

  constructor(fate: Fate) {
    this.#fate = fate;
    for (const { atMs, topic, partition, to, gapMs } of fate.moves) {
      const log = this.logs.get(topic)?.[partition];
      setTimeout(() => void (log !== undefined && Object.assign(log, { leader: to, ledFromMs: Date.now() + gapMs })), atMs);
    }
    this.#look();
  }

  #look(): void {
    this.#metadata = new Map(
      [...this.logs].map(([topic, logs]) => [
        topic,
        logs.map(({ leader }, partitionId) => ({ partitionErrorCode: 0, partitionId, leader, replicas: [], isr: [] })),
      ]),
    );
  }

  async connect(): Promise<void> {}
  isConnected(): boolean {
    return true;
  }
  async addMultipleTargetTopics(): Promise<void> {}
  async refreshMetadataIfNecessary(): Promise<void> {}
  async refreshMetadata(): Promise<void> {
    await delay(1);
    this.#look();
  }
  removeBroker({ port }: { readonly port: number }): void {
    const broker = this.#brokers.get(port);
    if (broker !== undefined) {
      broker.isConnected = false;
    }
    this.#brokers.delete(port);
  }
  findTopicPartitionMetadata(topic: string): object[] {
    return this.#metadata.get(topic) ?? [];
  }
  findLeaderForPartitions(topic: string, partitions: readonly string[]): Record<number, number[]> {
    const led: Record<number, number[]> = {};
    for (const partition of partitions.map(Number)) {
      const { leader = -1 } = (this.#metadata.get(topic)?.[partition] ?? {}) as { readonly leader?: number };
      led[leader] = [...(led[leader] ?? []), partition];
    }
    return led;
  }
  async findControllerBroker(): Promise<object> {
    return { initProducerId: async () => ({ producerId: 1, producerEpoch: 0 }) };
  }
  async findBroker({ nodeId }: { readonly nodeId: number | string }): Promise<Broker> {
    const id = Number(nodeId);
    const broker = this.#brokers.get(id) ?? { nodeId: id, isConnected: false, produce: (request) => this.#produce(id, request) };
    this.#brokers.set(id, broker);
    if (!broker.isConnected) {
      if (await this.#isBroken()) {
        await this.refreshMetadata();
        throw new KafkaJSConnectionError("Connection refused");
      }
      broker.isConnected = true;
    }
    return broker;
  }

  async #isBroken(): Promise<boolean> {
    const { answers } = this.#fate;
    const { afterMs, isLost } = answers[this.#count++ % answers.length] ?? { afterMs: 0, isLost: false };
    await delay(afterMs);
    return isLost;
  }

  /** kafkajs throws the first error of an answer. */
  async #produce(by: number, { topicData }: { readonly topicData: TopicData }): Promise<object> {
    const answered = topicData.map(({ topic, partitions }) => ({
      topicName: topic,
      partitions: partitions.map((entry) => ({
        partition: entry.partition,
        errorCode: this.logs.get(topic)?.[entry.partition]?.append(by, entry) ?? notLeader,
      })),
    }));
    if (await this.#isBroken()) {
      this.removeBroker({ port: by });
      throw new KafkaJSConnectionClosedError("Closed connection", { host: "broker", port: by });
    }
    const [failed] = answered.flatMap(({ partitions }) => partitions.filter(({ errorCode }) => errorCode !== 0));
    if (failed !== undefined) {
      throw createErrorFromCode(failed.errorCode);
    }
    return { topics: answered };
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const quiet = { namespace: () => quiet, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Writes some rounds to each partition. Returns what stands in the logs, and what should: all of it, in the order of the rounds. */
async function written(fate: Fate): Promise<{ readonly found: readonly string[][]; readonly expected: readonly string[][] }> {
  const cluster = new ScriptedCluster(fate);
  const partitions = new Partitions(Partitioners.DefaultPartitioner);
  const producer = createProducer({
    cluster,
    logger: quiet,
    createPartitioner: partitions.partitioner,
    retry: producerRetry,
    idempotent: true,
  });
  await producer.connect();
  const logs = [...cluster.logs.values()].flat();
  const found = logs.map(({ values }) => values);
  const expected = logs.map(() => [] as string[]);
  for (const round of ["a", "b", "c", "d"]) {
    const records: OutgoingRecord[] = expected.map((values, i) => {
      const [topic, partition] = [topics[Math.floor(i / partitionsPerTopic)] ?? "", i % partitionsPerTopic];
      values.push(round);
      return { topic, partition, key: null, value: Buffer.from(round), headers: [] };
    });
    try {
      await writeRecords(producer, partitions, records);
    } catch {
      // kafkajs has lost patience, and its producer would be given up: what it has written until now may lack some, and repeats none.
      return { found, expected: found.map((values) => [...new Set(values)].toSorted()) };
    }
    await delay(7);
  }
  return { found, expected };
}

/** The same, through the fake clock, and with the same pauses of kafkajs each time. */
async function run(fate: Fate): Promise<Awaited<ReturnType<typeof written>>> {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  let isOver = false;
  const result = written(fate).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await vi.advanceTimersToNextTimerAsync();
  }
  vi.clearAllTimers();
  random.mockRestore();
  return result;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("each record stands in the log once and in order, wherever leaders move and connections break amid kafkajs' attempts", async () => {
  const move = fc.record({
    atMs: fc.nat({ max: 120 }),
    topic: fc.constantFrom(...topics),
    partition: fc.nat({ max: partitionsPerTopic - 1 }),
    to: fc.nat({ max: brokerCount - 1 }),
    gapMs: fc.nat({ max: 40 }),
  });
  const answer = fc.record({ afterMs: fc.nat({ max: 60 }), isLost: fc.boolean() });
  const kept = fc.record({ afterMs: fc.nat({ max: 60 }), isLost: fc.constant(false) });
  const fates = fc.record({
    moves: fc.array(move, { maxLength: 8 }),
    answers: fc.tuple(fc.array(answer, { maxLength: 12 }), kept).map(([some, last]) => [...some, last]),
  });
  await fc.assert(
    fc.asyncProperty(fates, async (fate) => {
      const { found, expected } = await run(fate);
      expect(found).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});

const moveOf = (atMs: number, topic: string, partition: number, to: number, gapMs = 0): Move => ({ atMs, topic, partition, to, gapMs });
const answersOf = (afterMs: readonly number[], lost: number | null = null) => afterMs.map((ms, i) => ({ afterMs: ms, isLost: i === lost }));

test.each<readonly [string, Fate]>([
  [
    "two leaders share what was sent to one, and the one that does not lead yet answers first",
    { moves: [moveOf(41, "t", 0, 1), moveOf(13, "t", 1, 1, 28)], answers: answersOf([3]) },
  ],
  [
    "a connection to the leader of two topics is replaced between the one and the other",
    { moves: [moveOf(0, "t", 1, 1), moveOf(3, "u", 0, 2), moveOf(40, "t", 1, 0)], answers: answersOf([8, 13, 0, 0, 12], 3) },
  ],
])("nothing is written twice if %s", async (_, fate) => {
  const { found, expected } = await run(fate);
  expect(found).toEqual(expected);
});
