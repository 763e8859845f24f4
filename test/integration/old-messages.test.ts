import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { createRecordSetReader } from "@cdckit/record-batch";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { skipReason as confluentIsMissing } from "./confluent-native.ts";
import { fetchOnce } from "./fetch-once.ts";
import { plainDecoder } from "./plain-decoder.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

/**
 * A log from before Kafka 0.11, on a broker of today. No broker writes messages of formats 0 and 1 any more: the bytes of a log are replaced where
 * the broker keeps them, by as many that Kafka's Java client wrote. The broker sends them as they are.
 */

const skipReason = await missingForKafka();
/** `noTime`: the timestamp of a record in format 0, which has none. librdkafka says 0, Java's client -1. */
const drivers: readonly {
  readonly name: string;
  readonly skip: string | null;
  readonly noTime: number;
  readonly make: (brokers: readonly string[]) => KafkaDriver;
}[] = [
  { name: "kafkajs", skip: null, noTime: -1, make: (brokers) => kafkajs({ brokers: [...brokers], maxWaitMs: 100 }) },
  {
    name: "kafkajs, own client",
    skip: null,
    noTime: -1,
    make: (brokers) => kafkajs({ kafka: new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }), maxWaitMs: 100 }),
  },
  { name: "platformatic", skip: null, noTime: -1, make: (brokers) => platformatic({ brokers, maxWaitMs: 100 }) },
  { name: "confluent", skip: confluentIsMissing, noTime: 0, make: (brokers) => confluent({ brokers, maxWaitMs: 100 }) },
];

/** What Kafka's own reader finds in the bytes. */
interface Vector {
  readonly name: string;
  readonly bytes: string;
  readonly records: readonly ReadRecord[];
}
interface ReadRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string | null;
  readonly value: string | null;
}

const vectors = readFileSync(new URL("../../packages/record-batch/vectors/message-sets.ndjson", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Vector);

describe.skipIf(skipReason !== "")("a log that holds messages of formats 0 and 1", { meta: { skipReason } }, () => {
  let kafka: RunningKafka;
  let dir: string;
  let client: Kafka;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cdckit-old-messages-"));
    kafka = await startKafka({ dir });
    client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  });
  afterAll(async () => {
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** A topic whose log has exactly these bytes: as many as the broker has written, with as many records. */
  async function topicOf({ bytes: base64, records }: Vector): Promise<string> {
    const bytes = Buffer.from(base64, "base64");
    const topic = uniqueName("old-messages");
    const [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
    const path = join(dir, "kafka-data", `${topic}-0`, "00000000000000000000.log");
    await producer.send({ topic, messages: records.slice(1).map(() => ({ value: "" })) });
    const bytesAroundValue = 70; // of a batch with one record, whose lengths take two bytes each
    await producer.send({ topic, messages: [{ value: "x".repeat(bytes.length - readFileSync(path).length - bytesAroundValue) }] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    expect(readFileSync(path).length).toBe(bytes.length);
    writeFileSync(path, bytes);
    return topic;
  }

  /** Runs until so many records were handled. */
  async function consume(driver: KafkaDriver, topic: string, count: number): Promise<readonly ReadRecord[]> {
    const seen: ReadRecord[] = [];
    const consumer = createConsumer({
      driver,
      groupId: uniqueName("group"),
      topics: [topic],
      from: "earliest",
      decoder: plainDecoder,
      signals: false,
      logger: silentLogger,
    });
    consumer.on("*", (event) => {
      const { key, value } = event as unknown as { readonly key: Uint8Array | null; readonly value: Uint8Array | null }; // by plainDecoder
      const { offset, timestamp } = event.record;
      seen.push({ offset: Number(offset), timestamp: Number(timestamp), key: inBase64(key), value: inBase64(value) });
      if (seen.length === count) {
        void consumer.stop();
      }
    });
    await consumer.run();
    return seen;
  }

  const mixed = vectors.filter(({ name }) => name.includes("then"));

  test.each(mixed)("$name: what the broker sends is read as Kafka's own reader reads it", async (vector) => {
    const topic = await topicOf(vector);
    for (const { offset } of vector.records) {
      const { bytes } = await fetchOnce(kafka.brokers, topic, BigInt(offset), 1_000_000);
      const fetched = {
        topic,
        partition: 0,
        assignment: null,
        bytes,
        fromOffset: BigInt(offset),
        abortedTransactions: [],
        highWatermark: null,
      };
      const walk = createRecordSetReader(fetched).read()?.walk();
      const offsets: number[] = [];
      while (walk?.next() === true) {
        offsets.push(Number(walk.batch.offsetAt(walk.record)));
      }
      expect(offsets).toEqual(vector.records.map((record) => record.offset).filter((one) => one >= offset));
    }
  });

  for (const { name, skip, noTime, make } of drivers) {
    describe.skipIf(skip !== null)(name, { meta: { skipReason: skip ?? "" } }, () => {
      test.each(mixed)("hands over $name", async (vector) => {
        const topic = await topicOf(vector);
        const expected = vector.records.map((one) => ({ ...one, timestamp: one.timestamp === -1 ? noTime : one.timestamp }));
        expect(await consume(make([kafka.brokers]), topic, vector.records.length)).toEqual(expected);
      });
    });
  }
});

function inBase64(side: Uint8Array | null): string | null {
  return side === null ? null : Buffer.from(side).toString("base64");
}
