import { kafkajs } from "@cdckit/kafkajs";
import { testDriverContract } from "@cdckit/testkit";
import { Kafka, logLevel, type Message } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWithKafka, uniqueName } from "./stack.ts";

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
        driver: () => kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100 }),
        createTopic: async (topic, numPartitions) => {
          await admin.createTopics({ topics: [{ topic, numPartitions }], waitForLeaders: true });
        },
        produce: async (topic, records) => {
          await producer.send({ topic, messages: records.map(toMessage) });
        },
        committed: async (groupId, topic, partition) => {
          const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
          const offset = BigInt(offsets?.partitions.find((one) => one.partition === partition)?.offset ?? -1);
          return offset < 0n ? null : offset;
        },
        uniqueName,
      },
    },
  );
});

type Produced = Parameters<Parameters<typeof testDriverContract>[2]["harness"]["produce"]>[1][number];

function toMessage({ partition, key, value, headers = [], timestamp }: Produced): Message {
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
