import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { kafkajs } from "@cdckit/kafkajs";
import { type PlacedRecord, testDriverContract } from "@cdckit/testkit";
import { Kafka, logLevel, type Message } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

await describeWithKafka("on a real broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const producer = client.producer({
    // A request of which the broker refuses one partition is sent again as a whole: what it had taken of the others must not count twice.
    idempotent: true,
    maxInFlightRequests: 1,
    // It must see partitions that a test has just added.
    metadataMaxAge: 1,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  testDriverContract(
    "kafkajs",
    { describe, test, expect },
    {
      harness: {
        driver: () =>
          kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, metadataMaxAgeMs: 500 }),
        sessionTimeoutMs: 6_000,
        createTopic: async (topic, numPartitions) => {
          await createTopics(admin, [{ topic, numPartitions }]);
        },
        produce: async (topic, records) => {
          const sent = await producer.send({ topic, messages: records.map(toMessage) });
          const partitions = new Set(records.map(({ partition }) => partition ?? 0));
          if (sent.length !== partitions.size) {
            throw new Error(`kafkajs has left records out: it knows ${sent.length} of the partitions ${[...partitions].join()}`);
          }
        },
        produceInTransaction: async (topic, records, end) => {
          const transactional = client.producer({ transactionalId: uniqueName("tx"), maxInFlightRequests: 1, idempotent: true });
          await transactional.connect();
          const transaction = await transactional.transaction();
          await transaction.send({ topic, messages: records.map(toMessage) });
          await transaction[end]();
          await transactional.disconnect();
        },
        // As retention does; kafkajs' own request for it fails on this broker.
        deleteBefore: async (topic, partition, offset) => {
          const file = join(mkdtempSync(join(tmpdir(), "cdckit-test-")), "offsets.json");
          writeFileSync(file, JSON.stringify({ partitions: [{ topic, partition, offset: Number(offset) }], version: 1 }));
          const args = ["--bootstrap-server", kafka.brokers, "--offset-json-file", file];
          await runKafkaTool(kafka, "org.apache.kafka.tools.DeleteRecordsCommand", args);
          rmSync(dirname(file), { recursive: true });
        },
        deleteTopic: async (topic) => {
          await admin.deleteTopics({ topics: [topic] });
        },
        addPartitions: async (topic, count) => {
          await admin.createPartitions({ topicPartitions: [{ topic, count }] });
          // The controller has answered, the broker may not know of them yet, and kafkajs leaves out what is sent to partitions it does not know.
          const isKnown = async (): Promise<boolean> =>
            (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]?.partitions.length === count;
          await waitUntil({ what: `partition ${count - 1} of ${topic}`, check: isKnown, deadlineMs: 30_000 });
        },
        committed: async (groupId, topic, partition) => {
          const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
          const offset = BigInt(offsets?.partitions.find((one) => one.partition === partition)?.offset ?? -1);
          return offset < 0n ? null : offset;
        },
        uniqueName,
      },
      skip: [
        {
          test: "a header without a value is sent as one",
          reason: "kafkajs takes the length of every header's value: it is written as an empty one",
        },
      ],
    },
  );
});

function toMessage({ partition, key, value, headers = [], timestamp }: PlacedRecord): Message {
  return {
    partition,
    key: toBuffer(key ?? null),
    value: toBuffer(value),
    headers: Object.fromEntries(headers.map(([name, bytes]) => [name, bytes === null ? undefined : Buffer.from(bytes)])),
    ...(timestamp === undefined ? {} : { timestamp: String(timestamp) }),
  };
}

function toBuffer(value: Uint8Array | string | null): Buffer | null {
  return value === null ? null : Buffer.from(value);
}
