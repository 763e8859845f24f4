import type { CdcEvent, Decoder } from "@cdckit/decode";
import { type Consumer, type ConsumerOptions, createConsumer, type OffsetCommit, silentLogger, type Sink } from "@cdckit/consumer";
import { kafkajs, type KafkaJsOptions } from "@cdckit/kafkajs";
import { ProbeSink } from "@cdckit/testkit";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** A row of the topic: which of the topics of that name it is from, and its number there. */
interface Row {
  readonly from: "old" | "new";
  readonly number: number;
}

const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }) => [
    {
      kind: "row",
      table: { database: null, schema: "s", name: "t" },
      row: JSON.parse(Buffer.from(batch.valueAt(record) ?? []).toString()) as Row,
      schemaId: null,
      record: { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) },
    } as unknown as CdcEvent,
  ],
  explain: () => Promise.reject(new Error("not used")),
};

const rowOf = (event: CdcEvent): Row => (event as unknown as { readonly row: Row }).row;

/** Rows and checkpoints in memory, as a database keeps them. */
class RowStore implements Sink {
  readonly name = "store";
  readonly rows: Row[] = [];
  checkpoint: { readonly offset: bigint; readonly topicId: string | null } | null = null;
  onApply: () => void = () => {};

  claim(_groupId: string, assignments: readonly OffsetCommit["assignment"][]): Promise<readonly OffsetCommit[]> {
    const { checkpoint } = this;
    return Promise.resolve(checkpoint === null ? [] : assignments.map((assignment) => ({ assignment, ...checkpoint })));
  }

  apply({ assignment, events, nextOffset }: Parameters<Sink["apply"]>[0]): Promise<void> {
    this.rows.push(...events.map(rowOf));
    this.checkpoint = { offset: nextOffset, topicId: assignment.topicId ?? null };
    this.onApply();
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

await describeWithKafka("a topic that is deleted and created again", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  const producer = client.producer({ createPartitioner: () => () => 0 });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function write(topic: string, from: Row["from"], count: number): Promise<void> {
    const messages = Array.from({ length: count }, (_, number) => ({ value: JSON.stringify({ from, number }) }));
    await producer.send({ topic, messages });
  }

  async function topicWith(count: number): Promise<string> {
    const topic = uniqueName("recreated");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await write(topic, "old", count);
    return topic;
  }

  async function recreate(topic: string, count: number): Promise<void> {
    await admin.deleteTopics({ topics: [topic] });
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await write(topic, "new", count);
  }

  type Change = Omit<Partial<ConsumerOptions>, "driver"> & { readonly client?: KafkaJsOptions };

  function consumerOf(topic: string, groupId: string, { client: options, ...change }: Change = {}): Consumer {
    const tuning = { sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200, maxWaitMs: 100 };
    const driver = kafkajs({ ...(options ?? { brokers: [kafka.brokers] }), ...tuning });
    return createConsumer({ driver, groupId, topics: [topic], decoder: rowDecoder, signals: false, ...change });
  }

  /** Runs until the claim holds, and returns what it ended with. */
  async function runUntil(consumer: Consumer, done: Promise<unknown>): Promise<unknown> {
    const ended = consumer.run().then(
      () => null,
      (error: unknown) => error,
    );
    await Promise.race([ended, done]);
    await consumer.stop();
    return ended;
  }

  /** Handles rows until so many of the new topic have come, and returns the numbers of those, and the error that it ended with. */
  async function handle(consumer: Consumer, count: number, onRow: (row: Row) => Promise<void> | void): Promise<[number[], unknown]> {
    const numbers: number[] = [];
    const { promise, resolve } = latch();
    consumer.on("*", (event) => {
      const row = rowOf(event);
      if (row.from === "new" && numbers.push(row.number) >= count) {
        resolve();
      }
      return onRow(row);
    });
    const error = await runUntil(consumer, promise);
    return [numbers, error];
  }

  test("while a sink's consumer is stopped: halts with both topic ids, or is applied from its start, and never skipped", async () => {
    const topic = await topicWith(100);
    const groupId = uniqueName("group");
    const store = new RowStore();
    const run = async (rows: number, change: Change = {}): Promise<[Consumer, unknown]> => {
      const consumer = consumerOf(topic, groupId, change).to(store);
      const { promise, resolve } = latch();
      store.onApply = () => store.rows.length >= rows && resolve();
      return [consumer, await runUntil(consumer, promise)];
    };
    await run(100);
    expect([store.rows.length, store.checkpoint?.offset]).toEqual([100, 100n]);
    await recreate(topic, 300);
    const [, error] = await run(101);
    expect(error).toMatchObject({ code: "topic-recreated", lost: { firstMissing: 100n, firstAvailable: 0n, end: 300n } });
    expect(store.rows.length).toBe(100);
    const [consumer] = await run(400, { failure: { lostRange: "earliest" } });
    expect(store.rows.slice(100).map(({ from, number }) => `${from} ${number}`)).toEqual(Array.from({ length: 300 }, (_, i) => `new ${i}`));
    expect(consumer.health()).toMatchObject({ counts: { recreated: 1, lostOffsets: 0 } });
    expect(consumer.health().reasons.join()).toContain(`${topic}[0]: the topic was deleted and created again`);
    // Its checkpoint is one of the new topic now.
    await write(topic, "new", 1);
    const [, again] = await run(401);
    expect([again, store.rows.length]).toEqual([null, 401]);
  });

  /** A handler that recreates the topic while it is at work: what it has handled is committed to the new topic. */
  async function handleWhileRecreated(topic: string, groupId: string, lostRange: "halt" | "earliest"): Promise<[number[], unknown]> {
    const consumer = consumerOf(topic, groupId, { delivery: { commitIntervalMs: 20 }, failure: { lostRange } });
    return handle(consumer, 6_000, async ({ from, number }) => {
      if (from === "old" && number === 1_500) {
        await recreate(topic, 6_000);
      }
    });
  }

  test("while a handler is at work and commits come to the new topic: halts, and so does each start until somebody decides", async () => {
    const topic = await topicWith(3_000);
    const groupId = uniqueName("group");
    const [numbers, error] = await handleWhileRecreated(topic, groupId, "halt");
    expect(error).toMatchObject({ code: "topic-recreated", lost: { recreated: { from: expect.any(String) as string } } });
    expect(numbers).toEqual([]);
    const [, again] = await handle(consumerOf(topic, groupId), 6_000, () => {});
    expect(again).toMatchObject({ code: "topic-recreated" });
    const [all] = await handle(consumerOf(topic, groupId, { failure: { lostRange: "earliest" } }), 6_000, () => {});
    expect(isComplete(all, 6_000)).toBe(true);
  });

  test("while a handler is at work and commits come to the new topic: is read from its start if the user chose that", async () => {
    const topic = await topicWith(3_000);
    const [numbers, error] = await handleWhileRecreated(topic, uniqueName("group"), "earliest");
    expect([error, isComplete(numbers, 6_000)]).toEqual([null, true]);
  });

  test("topic ids are the same in every version that tells them", async () => {
    const topic = await topicWith(1);
    const ids = new Set<unknown>();
    for (const version of [10, 11, 12]) {
      const sink = new ProbeSink();
      const driver = kafkajs({ kafka: withMetadataUpTo(version, kafka.brokers) });
      const subscription = { groupId: uniqueName("group"), topics: [topic], from: "earliest" as const, logger: silentLogger };
      const session = await driver.connect(subscription, sink);
      await sink.until(({ records }) => records.length > 0);
      ids.add(sink.held[0]?.topicId);
      await session.close(5_000);
    }
    expect([...ids]).toEqual([expect.stringMatching(/^[\w-]{22}$/)]);
  });

  test("of a broker without topic ids: a commit that came to the new topic is told by the record before it", async () => {
    const topic = await topicWith(3_000);
    const groupId = uniqueName("group");
    const old = withoutTopicIds(kafka.brokers);
    // Its commits come to the new topic, and it is gone before it has fetched from there.
    const consumer = consumerOf(topic, groupId, { client: { kafka: old }, delivery: { commitIntervalMs: 20 } });
    await handle(consumer, 1, async ({ from, number }) => {
      if (from === "old" && number === 1_500) {
        await recreate(topic, 6_000);
        void consumer.stop();
      }
    });
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    expect(offsets?.partitions[0]?.metadata).toMatch(/^cdckit\/1 after=/);
    const [numbers, error] = await handle(consumerOf(topic, groupId, { client: { kafka: old } }), 6_000, () => {});
    expect([numbers, error]).toMatchObject([[], { code: "topic-recreated" }]);
    // And of a topic that is still the same, it is where it was.
    const same = await topicWith(20);
    const first = consumerOf(same, groupId, { client: { kafka: old } });
    const seen: number[] = [];
    await handle(first, 1, ({ number }) => {
      seen.push(number);
      void (seen.length === 20 && first.stop());
    });
    await write(same, "new", 5);
    const [rest] = await handle(consumerOf(same, groupId, { client: { kafka: old } }), 5, () => {});
    expect(rest).toEqual([0, 1, 2, 3, 4]);
  });

  test("what other tools write beside a commit says nothing: it is a position of the topic as it is", async () => {
    const topic = await topicWith(20);
    for (const metadata of ["x".repeat(4_096), "cdckit/1 topic=AAAAAAAAAAAAAAAAAAAAAA and more"]) {
      const groupId = uniqueName("group");
      const foreign = client.consumer({ groupId });
      await foreign.connect();
      await foreign.subscribe({ topics: [topic], fromBeginning: true });
      const { promise, resolve } = latch();
      await foreign.run({ autoCommit: false, eachMessage: () => Promise.resolve(resolve()) });
      await promise;
      await foreign.commitOffsets([{ topic, partition: 0, offset: "15", metadata }]);
      await foreign.disconnect();
      const consumer = consumerOf(topic, groupId);
      const first = latch();
      const seen: number[] = [];
      consumer.on("*", (event) => {
        seen.push(rowOf(event).number);
        first.resolve();
      });
      expect(await runUntil(consumer, first.promise)).toBe(null);
      expect(seen[0]).toBe(15);
    }
  });

  test("while nothing is to be read: none of the new topic is skipped", async () => {
    const topic = await topicWith(500);
    const groupId = uniqueName("group");
    const consumer = consumerOf(topic, groupId, { delivery: { commitIntervalMs: 20 }, failure: { lostRange: "earliest" } });
    let recreated: Promise<void> | undefined;
    const [numbers, error] = await handle(consumer, 1_000, ({ from, number }) => {
      if (from === "old" && number === 499) {
        recreated = recreate(topic, 1_000);
      }
    });
    await recreated;
    expect([error, isComplete(numbers, 1_000)]).toEqual([null, true]);
  });
});

/** As brokers before 2.8. */
function withoutTopicIds(broker: string): Kafka {
  return withMetadataUpTo(9, broker);
}

/** A client to which brokers tell of no later version of Metadata. */
function withMetadataUpTo(maxVersion: number, broker: string): Kafka {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const parts = kafka as unknown as Record<symbol, (options: object) => { connect(): Promise<void>; readonly brokerPool: unknown }>;
  const make = parts[symbol as symbol] as (typeof parts)[symbol];
  parts[symbol as symbol] = (options) => {
    const cluster = make(options);
    const connect = cluster.connect.bind(cluster);
    cluster.connect = async () => {
      await connect();
      const { seedBroker } = cluster.brokerPool as { readonly seedBroker: { versions: Record<number, object> } };
      seedBroker.versions = { ...seedBroker.versions, 3: { minVersion: 0, maxVersion } };
    };
    return cluster;
  };
  return kafka;
}

/** Every number comes, and in the order in which they were written where it comes first. */
function isComplete(numbers: readonly number[], count: number): boolean {
  const firsts = [...new Set(numbers)];
  return firsts.length === count && firsts.every((number, i) => number === i);
}

function latch(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
