import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { skipReason as confluentIsMissing } from "./confluent-native.ts";
import { plainDecoder } from "./plain-decoder.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

/** A disk has damaged a record batch: the bytes of the log are changed where the broker keeps them. A broker sends them as they are. */

const skipReason = await missingForKafka();
const drivers: readonly (readonly [name: string, skip: string | null, make: (brokers: readonly string[]) => KafkaDriver])[] = [
  ["kafkajs", null, (brokers) => kafkajs({ brokers: [...brokers], maxWaitMs: 100 })],
  ["platformatic", null, (brokers) => platformatic({ brokers, maxWaitMs: 100 })],
  ["confluent", confluentIsMissing, (brokers) => confluent({ brokers, maxWaitMs: 100 })],
];

describe.skipIf(skipReason !== "")("a log that is damaged on its disk", { meta: { skipReason } }, () => {
  let kafka: RunningKafka;
  let dir: string;
  let client: Kafka;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cdckit-damaged-"));
    kafka = await startKafka({ dir });
    client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  });
  afterAll(async () => {
    await kafka.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** A topic in which each value is a record batch. */
  async function topicOf(values: readonly string[]): Promise<string> {
    const topic = uniqueName("damaged");
    const [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
    for (const value of values) {
      await producer.send({ topic, messages: [{ value }] });
    }
    await Promise.all([admin.disconnect(), producer.disconnect()]);
    return topic;
  }

  async function committed(groupId: string, topic: string): Promise<string | undefined> {
    const admin = client.admin();
    await admin.connect();
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    await admin.disconnect();
    return offsets?.partitions[0]?.offset;
  }

  /** Flips a bit of the value in the log. Flipped again, it is whole. */
  function flipIn(topic: string, value: string): void {
    const path = join(dir, "kafka-data", `${topic}-0`, "00000000000000000000.log");
    const log = readFileSync(path);
    const flipped = Buffer.from(value);
    flipped.writeUInt8(flipped.readUInt8(1) ^ 1, 1);
    const at = Math.max(log.indexOf(value), log.indexOf(flipped));
    expect(at).toBeGreaterThan(0);
    log.writeUInt8(log.readUInt8(at + 1) ^ 1, at + 1);
    writeFileSync(path, log);
  }

  /** Runs until so many records were handled, or until it fails. Resolves with the offsets and the error's code. */
  async function consume(driver: KafkaDriver, topic: string, groupId: string, count: number): Promise<[readonly bigint[], unknown]> {
    const seen: bigint[] = [];
    const consumer = createConsumer({
      driver,
      groupId,
      topics: [topic],
      from: "earliest",
      decoder: plainDecoder,
      signals: false,
      logger: silentLogger,
    });
    consumer.on("*", (event) => {
      seen.push(event.record.offset);
      if (seen.length === count) {
        void consumer.stop();
      }
    });
    const error = await consumer.run().then(
      () => null,
      (failure: unknown) => failure,
    );
    return [seen, (error as { readonly code?: unknown } | null)?.code ?? error];
  }

  for (const [name, skip, make] of drivers) {
    const held = `${name}: nothing of the batch and nothing after it is handed over, until it is whole again`;
    describe.skipIf(skip !== null)(held, { meta: { skipReason: skip ?? "" } }, () => {
      test.each([
        ["a damaged batch in the midst of a log", ["first", "second", "the damaged one", "fourth", "fifth"], [0n, 1n]],
        ["a damaged batch at the start of a log", ["the damaged one", "second", "third"], []],
        ["a damaged batch at the end of a log", ["first", "the damaged one"], [0n]],
      ])("%s", async (_, values, before) => {
        const topic = await topicOf(values);
        const groupId = uniqueName("group");
        flipIn(topic, "the damaged one");
        expect(await consume(make([kafka.brokers]), topic, groupId, values.length)).toEqual([before, "batch-unreadable"]);
        expect(Math.max(0, Number(await committed(groupId, topic)))).toBe(before.length);
        flipIn(topic, "the damaged one");
        const all = values.map((__, i) => BigInt(i));
        expect(await consume(make([kafka.brokers]), topic, groupId, values.length - before.length)).toEqual([
          all.slice(before.length),
          null,
        ]);
      });
    });
  }
});
