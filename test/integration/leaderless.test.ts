import { confluent } from "@cdckit/confluent";
import { createConsumer, type Health, type KafkaDriver, silentLogger } from "@cdckit/consumer";
import { platformatic } from "@cdckit/platformatic";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { EveryBroker } from "./every-broker.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { type RackBroker, type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const tuning = { heartbeatIntervalMs: 300, sessionTimeoutMs: 10_000, maxWaitMs: 100, metadataMaxAgeMs: 1_000 } as const;
const withinMs = 5_000;
const connection = "the connection to the brokers";

/** kafkajs reads nothing at all while a partition of its topics has no leader, and its wait is for the group. */
const drivers: readonly (readonly [string, (brokers: readonly string[]) => KafkaDriver])[] = [
  ...platformaticClients.map(
    ({ major, ...client }) =>
      [`platformatic ${major}`, (brokers: readonly string[]): KafkaDriver => platformatic({ brokers, ...tuning, ...client })] as const,
  ),
  ...(withoutConfluent === null
    ? [["confluent", (brokers: readonly string[]): KafkaDriver => confluent({ brokers: [...brokers], ...tuning })] as const]
    : []),
];

describe.skipIf(skipReason !== "")("a partition whose only broker is gone", { meta: { skipReason } }, () => {
  let cluster: RackCluster;
  let admin: Admin;
  /** One for each topic: kafkajs writes to none of its topics while one of them has a partition without a leader. */
  let producers: readonly [Producer, Producer];
  let firstBroker: EveryBroker;

  beforeAll(async () => {
    cluster = await startRackCluster();
    const brokers = [`127.0.0.1:${cluster.first.port}`];
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING });
    firstBroker = new EveryBroker(brokers);
    admin = kafka.admin();
    const makeProducer = (): Producer => kafka.producer({ metadataMaxAge: 500, retry: { retries: 20 } });
    producers = [makeProducer(), makeProducer()];
    await Promise.all([admin, ...producers, firstBroker].map((client) => client.connect()));
  });
  afterAll(async () => {
    await Promise.all([firstBroker.close(), ...[admin, ...producers].map((client) => client.disconnect())]);
    await cluster.stop();
  });

  describe.each(drivers)("%s", (_, make) => {
    test("is named within 5 s of the metadata that says so, until it has a leader again", { timeout: 180_000 }, async ({
      onTestFinished,
    }) => {
      const [led, lost] = [uniqueName("led"), uniqueName("leaderless")];
      const onBroker = (topic: string, { id }: RackBroker) => ({ topic, replicaAssignment: [{ partition: 0, replicas: [id] }] });
      await createTopics(admin, [onBroker(led, cluster.first), onBroker(lost, cluster.second)]);
      const ends: string[] = [];
      const logger = {
        ...silentLogger,
        warn: (fields: { readonly what?: string }, message: string) =>
          fields.what === connection && message.endsWith("is not waited for any more") && ends.push(message),
      } as typeof silentLogger;
      const begin = () => {
        const groupId = uniqueName("leaderless");
        const consumer = createConsumer({ driver: make(cluster.brokers), groupId, topics: [led, lost], signals: false, logger });
        const handled: string[] = [];
        consumer.on("*", ({ record }) => void handled.push(record.topic));
        const run = consumer.run().catch(() => {});
        onTestFinished(async () => {
          await consumer.stop();
          await run;
        });
        return { consumer, handled };
      };
      const { consumer, handled } = begin();
      const writeTo = (topic: string): Promise<unknown> =>
        producers[topic === led ? 0 : 1].send({ topic, messages: [{ value: '{"id":1}' }] });
      await Promise.all([led, lost].map(writeTo));
      await vi.waitFor(() => expect(handled.toSorted()).toEqual([led, lost].toSorted()), 60_000);
      expect(consumer.health()).toMatchObject({ ready: true, waits: [] });

      await cluster.crashSecond();
      let isDown = true;
      const startSecond = async (): Promise<void> => {
        if (isDown) {
          isDown = false;
          await cluster.startSecond();
        }
      };
      onTestFinished(startSecond);
      await firstBroker.untilLeaderless(lost);
      // The broker that is gone is named until then, and not anew after each answer of the other one.
      expect(ends.length).toBeLessThan(3);
      const expected = {
        what: "the leader",
        place: `${lost}[0]`,
        cause: expect.stringContaining(`[partition-unavailable] no broker leads ${lost}[0]`) as string,
      };
      await vi.waitFor(
        () => expect(consumer.health()).toMatchObject({ live: true, waits: [expected] } satisfies Partial<Record<keyof Health, unknown>>),
        withinMs,
      );
      await writeTo(led);
      await vi.waitFor(() => expect(handled.filter((topic) => topic === led)).toHaveLength(2), 30_000);
      expect(consumer.health().waits).toMatchObject([expected]);

      // A member that starts meanwhile reads what it can.
      const late = begin();
      await vi.waitFor(() => expect(late.handled).toEqual([led, led]), 30_000);
      const startOffset = {
        what: "the start offset",
        place: `${lost}[0]`,
        cause: `[partition-unavailable] no broker knows the ends of ${lost}[0]`,
      };
      await vi.waitFor(() => expect(late.consumer.health()).toMatchObject({ live: true, waits: [startOffset] }), withinMs);

      await startSecond();
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, waits: [], reasons: [] }), 60_000);
      await writeTo(lost);
      await vi.waitFor(() => expect(handled.filter((topic) => topic === lost)).toHaveLength(2), 30_000);
      await vi.waitFor(() => expect(late.handled.filter((topic) => topic === lost)).toHaveLength(2), 30_000);
      expect(late.consumer.health()).toMatchObject({ ready: true, waits: [] });
    });
  });
});
