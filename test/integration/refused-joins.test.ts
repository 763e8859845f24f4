import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

type Make = (brokers: string[], sessionTimeoutMs?: number) => KafkaDriver;

const settings = (sessionTimeoutMs: number | undefined) =>
  sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs, rebalanceTimeoutMs: sessionTimeoutMs };
const sticky: readonly (readonly [string, Make])[] = [
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [`platformatic ${major}`, (brokers: string[], ms?: number) => platformatic({ brokers, ...settings(ms), ...client })] as const,
  ),
  ...(withoutConfluent === null
    ? [["confluent", (brokers: string[], ms?: number) => confluent({ brokers, ...settings(ms) })] as const]
    : []),
];
const eager: readonly [string, Make] = ["kafkajs", (brokers, ms) => kafkajs({ brokers, ...settings(ms) })];

await describeWithKafka("a group that does not let a member in ends its consumer with what to do", (kafka) => {
  const brokers = [kafka.brokers];

  async function newTopic(): Promise<string> {
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const topic = uniqueName("joined");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await admin.disconnect();
    return topic;
  }

  const failureOf = (driver: KafkaDriver, topic: string, groupId: string): Promise<unknown> => {
    const consumer = createConsumer({ driver, groupId, topics: [topic], signals: false, logger: false });
    consumer.on("*", () => {});
    return consumer.run().catch((error: unknown) => error);
  };

  test.concurrent.each([
    ...sticky.map(([name, make]) => [name, make, eager[1], "cooperative-sticky"] as const),
    ...sticky.slice(0, 1).map(([, other]) => [eager[0], eager[1], other, "kafkajs' RoundRobinAssigner"] as const),
  ])("its members have another strategy: %s", async (_, make, makeOther, strategy) => {
    const topic = await newTopic();
    const groupId = uniqueName("joined");
    const other = createConsumer({ driver: makeOther(brokers), groupId, topics: [topic], signals: false, logger: false });
    other.on("*", () => {});
    const ended = other.run();
    await expect.poll(() => other.health().reasons).toEqual([]); // no partition that is not assigned
    expect(await failureOf(make(brokers), topic, groupId)).toMatchObject({
      code: "client-crashed",
      message: expect.stringContaining(
        `the group ${groupId} has members that divide its partitions by another strategy than ${strategy}. Stop them all`,
      ) as string,
    });
    await other.stop();
    await ended;
  });

  test.concurrent.each([...sticky, eager])("the brokers do not allow its session timeout: %s", async (_, make) => {
    expect(await failureOf(make(brokers, 3_600_000), await newTopic(), uniqueName("joined"))).toMatchObject({
      code: "client-crashed",
      message: expect.stringContaining("the brokers do not allow this sessionTimeoutMs") as string,
    });
  });
});
