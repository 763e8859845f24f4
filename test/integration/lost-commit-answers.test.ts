import { setTimeout as pass } from "node:timers/promises";
import { confluent } from "@cdckit/confluent";
import { type Consumer, createConsumer, type KafkaDriver } from "@cdckit/consumer";
import type { CdcEvent, Decoder } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { type ProxiedKafka, startProxiedKafka } from "../chaos/proxied-kafka.ts";
import type { TcpProxy } from "../chaos/tcp-proxy.ts";
import { skipReason as confluentIsMissing } from "./confluent-native.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

/** Kafka's number of the request that ends a transaction. */
const endTxnKey = 26;
const tuning = { maxWaitMs: 100, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500 } as const;
/** `held`: the name of the test. */
const drivers: readonly {
  readonly name: string;
  readonly held: string;
  readonly make: (brokers: string[]) => KafkaDriver;
  readonly missing?: string | null;
}[] = [
  {
    name: "kafkajs",
    held: "goes on with kafkajs, and readers of what is committed see each record once",
    make: (brokers) => kafkajs({ brokers, requestTimeout: 5_000, ...tuning }),
  },
  {
    name: "platformatic",
    held: "goes on with platformatic, and readers of what is committed see each record once",
    make: (brokers) => platformatic({ brokers, ...tuning }),
  },
  {
    name: "confluent",
    held: "goes on with confluent, and readers of what is committed see each record once",
    make: (brokers) => confluent({ brokers, ...tuning }),
    missing: confluentIsMissing,
  },
];
const end = "the end";

/** Every record is a row that is its value. */
const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }) => {
    const at = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const table = { schema: "s", name: "rows" };
    return [{ kind: "row", table, schemaId: null, record: at, row: batch.valueAt(record) } as unknown as CdcEvent]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

const skipReason = await missingForKafka();

// Beside each other, each with a proxy of its own: they wait for most of their time.
describe.skipIf(skipReason !== "").concurrent("a pipe whose commit is carried out, and not answered", { meta: { skipReason } }, () => {
  let broker: ProxiedKafka;
  let client: Kafka;
  let producer: Producer;
  let admin: Admin;

  beforeAll(async () => {
    broker = await startProxiedKafka(drivers.length);
    client = new Kafka({ brokers: [broker.kafka.brokers], logLevel: logLevel.NOTHING });
    producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
    admin = client.admin();
    await Promise.all([producer.connect(), admin.connect()]);
    await createTopics(
      admin,
      drivers.flatMap(({ name }) => [{ topic: `${name}-in` }, { topic: `${name}-out` }]),
    );
  });
  afterAll(async () => {
    await Promise.all([producer?.disconnect(), admin?.disconnect()]);
    await broker?.stop();
  });

  for (const [i, { name, held, make, missing = null }] of drivers.entries()) {
    const skip = missing === null ? {} : { meta: { skipReason: missing }, skip: true };
    test(held, skip, async ({ task }) => {
      const proxy = broker.proxies[i] as TcpProxy; // there are as many
      const consumer = pipeOf(name, make([`127.0.0.1:${proxy.port}`]));
      const running = consumer.run();
      running.catch(() => {}); // awaited below
      const write = (from: number): Promise<unknown> =>
        producer.send({ topic: `${name}-in`, messages: Array.from({ length: 5 }, (_, at) => ({ value: String(from + at) })) });
      try {
        await write(0);
        await Promise.race([running, untilCommitted(name, 5)]);
        const lost = proxy.loseNextAnswer(endTxnKey);
        await write(5);
        await Promise.race([running, lost]);
        const startedMs = performance.now();
        await Promise.race([running, untilCommitted(name, 10)]);
        await write(10);
        await Promise.race([running, untilCommitted(name, 15)]);
        task.meta.summary = `${name}: went on ${Math.round(performance.now() - startedMs)} ms after the commit whose answer was lost`;
      } finally {
        await consumer.stop();
      }
      await running;
      await producer.send({ topic: `${name}-out`, messages: [{ value: end }] });
      expect(await readCommitted(`${name}-out`)).toEqual(Array.from({ length: 15 }, (_, at) => String(at)));
    });
  }

  function pipeOf(name: string, driver: KafkaDriver): Consumer {
    const consumer = createConsumer({
      driver,
      groupId: `of-${name}`,
      topics: [`${name}-in`],
      decoder: rowDecoder,
      signals: false,
      from: "earliest",
      shutdownTimeoutMs: 5_000,
      logger: false,
    });
    return consumer.pipe("s.rows", (events) =>
      events.map((event) => {
        const { row: value } = event as unknown as { readonly row: Uint8Array };
        return { topic: `${name}-out`, key: null, value, headers: [] };
      }),
    );
  }

  async function untilCommitted(name: string, offset: number): Promise<void> {
    const check = async (): Promise<boolean> => {
      const [found] = await admin.fetchOffsets({ groupId: `of-${name}`, topics: [`${name}-in`] });
      return Number(found?.partitions[0]?.offset) === offset;
    };
    await waitUntil({ what: `a commit of ${offset} by ${name}`, check, deadlineMs: 60_000, everyMs: 100 });
  }

  /** What stands before the end, as kafkajs reads it: without records of transactions that are open or aborted. */
  async function readCommitted(topic: string): Promise<readonly string[]> {
    const reader = client.consumer({ groupId: `reads-${topic}`, readUncommitted: false });
    const read: string[] = [];
    await reader.connect();
    await reader.subscribe({ topics: [topic], fromBeginning: true });
    await reader.run({ eachMessage: async ({ message }) => void read.push(String(message.value)) });
    for (const giveUpAt = performance.now() + 20_000; read.at(-1) !== end && performance.now() < giveUpAt; ) {
      await pass(50);
    }
    await reader.disconnect();
    return read.slice(0, -1);
  }
});
