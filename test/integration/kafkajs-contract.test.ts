import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { kafkajs } from "@cdckit/kafkajs";
import { type PlacedRecord, testDriverContract } from "@cdckit/testkit";
import { Kafka, logLevel, type Message } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { describeWithKafka, uniqueName } from "./stack.ts";

const notYet: readonly string[] = [
  "ranges tell where the log starts and ends",
  "startAt decides where a partition starts; without its word the commit does",
  "nothing of a partition is handed over before startAt has answered",
  "a startAt that the log does not have is an error with what is missing",
  "a committed offset that retention has overtaken is an error with what is missing, and stays",
  "what retention takes before it was read is an error with what is missing",
  "aborted records are not handed over, and what is not a record moves the partition on",
  "partitions that are added are found",
  "a topic that a regular expression matches later is found",
  "what is sent is in the log when the promise resolves, as it was given",
  "what is sent one after the other stands in that order",
  "records of one key are sent to one partition",
  "sending to a topic that does not exist is an error, and the next send works",
  "a transaction writes and commits",
  "a transaction of an assignment that is over writes nothing and commits nothing",
  "who takes a partition over goes on where the last transaction of it ended",
];

await describeWithKafka("on a real broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const producer = client.producer({
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
        driver: () => kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, metadataMaxAgeMs: 500 }),
        createTopic: async (topic, numPartitions) => {
          await admin.createTopics({ topics: [{ topic, numPartitions }], waitForLeaders: true });
        },
        produce: async (topic, records) => {
          await producer.send({ topic, messages: records.map(toMessage) });
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
        },
        committed: async (groupId, topic, partition) => {
          const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
          const offset = BigInt(offsets?.partitions.find((one) => one.partition === partition)?.offset ?? -1);
          return offset < 0n ? null : offset;
        },
        uniqueName,
      },
      skip: [],
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
