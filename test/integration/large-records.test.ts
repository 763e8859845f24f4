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
interface FetchSizes {
  readonly maxBytes?: number;
  readonly maxBytesPerPartition?: number;
}
type MakeDriver = (brokers: string[], sizes?: FetchSizes) => KafkaDriver;
const drivers: readonly (readonly [string, MakeDriver])[] = [
  ["kafkajs", (brokers, sizes) => kafkajs({ brokers, ...tuning, ...sizes })],
  ["platformatic", (brokers, sizes) => platformatic({ brokers, ...tuning, ...sizes })],
  ...(withoutConfluent === null
    ? [["confluent", (brokers: string[], sizes?: FetchSizes) => confluent({ brokers, ...tuning, ...sizes })] as const]
    : []),
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

    test.each(drivers)("%s reads records that are larger than a fetch may be, of several partitions", async (_, make) => {
      const topic = uniqueName("large");
      const configEntries = [{ name: "max.message.bytes", value: String(4 * 1024 * 1024) }];
      await createTopics(admin, [{ topic, numPartitions: 2, configEntries }]);
      const brokers = kafka.brokers.split(",");
      const sink = new ProbeSink();
      const subscription = { groupId: uniqueName("group"), topics: [topic], from: "earliest", logger: silentLogger } as const;
      const session = await make(brokers, { maxBytes: 1, maxBytesPerPartition: 1 }).connect(subscription, sink);
      const sizes = [3 * 1024 * 1024, 10, 2 * 1024 * 1024];
      const records = [0, 1].flatMap((partition) =>
        sizes.map((size): OutgoingRecord => ({ topic, key: null, value: Buffer.alloc(size, "x"), headers: [], partition })),
      );
      await session.send?.(records);
      await sink.until(({ records: { length }, failures }) => length === records.length || failures.length > 0);
      await session.close(5_000);
      expect(sink.failures).toEqual([]);
      for (const partition of [0, 1]) {
        expect(sink.records.flatMap((one) => (one.partition === partition ? [one.value?.length] : []))).toEqual(sizes);
      }
    });
  },
  { concurrent: false },
);
