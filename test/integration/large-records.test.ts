import { confluent } from "@cdckit/confluent";
import { type KafkaDriver, type OutgoingRecord, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const tuning = { heartbeatIntervalMs: 300, sessionTimeoutMs: 10_000, maxWaitMs: 100 } as const;
const drivers: readonly (readonly [string, (brokers: string[]) => KafkaDriver])[] = [
  ["kafkajs", (brokers) => kafkajs({ brokers, ...tuning })],
  ["platformatic", (brokers) => platformatic({ brokers, ...tuning })],
  ...(withoutConfluent === null ? [["confluent", (brokers: string[]) => confluent({ brokers, ...tuning })] as const] : []),
];

await describeWithKafka(
  "a topic for large records",
  (kafka) => {
    let admin: Admin;

    beforeAll(async () => {
      admin = new Kafka({ brokers: kafka.brokers.split(","), logLevel: logLevel.NOTHING }).admin();
      await admin.connect();
    });
    afterAll(() => admin.disconnect());

    test.each(drivers)("%s writes what the topic allows, also if it is more than brokers allow by default", async (_, make) => {
      const topic = uniqueName("large");
      await createTopics(admin, [{ topic, configEntries: [{ name: "max.message.bytes", value: String(4 * 1024 * 1024) }] }]);
      const session = await make(kafka.brokers.split(",")).connect(
        { groupId: uniqueName("group"), topics: [topic], from: "latest", logger: silentLogger },
        new ProbeSink(),
      );
      const record: OutgoingRecord = { topic, key: null, value: Buffer.alloc(3 * 1024 * 1024, "x"), headers: [], partition: 0 };
      await session.send?.([record]);
      await session.close(5_000);
      expect(await admin.fetchTopicOffsets(topic)).toMatchObject([{ high: "1" }]);
    });
  },
  { concurrent: false },
);
