import { confluent } from "@cdckit/confluent";
import { type DriverSession, type KafkaDriver, type OutgoingRecord, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { EveryBroker } from "./every-broker.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { type RackCluster, startRackCluster } from "./rack-cluster.ts";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics, uniqueName } from "./stack.ts";

const skipReason = await missingForKafka();
const tuning = { heartbeatIntervalMs: 300, sessionTimeoutMs: 10_000, maxWaitMs: 100 } as const;
const ofPlatformatic = platformaticClients.map(
  ({ major, ...client }) =>
    [`platformatic ${major}`, (brokers: readonly string[]): KafkaDriver => platformatic({ brokers, ...tuning, ...client })] as const,
);
const drivers: readonly (readonly [string, (brokers: readonly string[]) => KafkaDriver])[] = [
  ["kafkajs", (brokers) => kafkajs({ brokers: [...brokers], ...tuning })],
  ...ofPlatformatic,
  ...(withoutConfluent === null
    ? [["confluent", (brokers: readonly string[]): KafkaDriver => confluent({ brokers: [...brokers], ...tuning })] as const]
    : []),
];
const count = 40;

describe.skipIf(skipReason !== "")("what is written to two brokers", { meta: { skipReason }, timeout: 120_000 }, () => {
  let cluster: RackCluster;
  let admin: Admin;
  let firstBroker: EveryBroker;

  beforeAll(async () => {
    cluster = await startRackCluster();
    const brokers = [`127.0.0.1:${cluster.first.port}`];
    admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
    firstBroker = new EveryBroker(brokers);
    await Promise.all([admin.connect(), firstBroker.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin?.disconnect(), firstBroker?.close()]);
    await cluster?.stop();
  });

  /** A topic with a partition on each broker, and a member that writes to it. */
  async function setUp(make: (brokers: readonly string[]) => KafkaDriver) {
    const topic = uniqueName("written");
    const replicaAssignment = [cluster.first, cluster.second].map(({ id }, partition) => ({ partition, replicas: [id] }));
    await createTopics(admin, [{ topic, replicaAssignment }]);
    const join = async (from: "earliest" | "latest"): Promise<{ readonly session: DriverSession; readonly sink: ProbeSink }> => {
      const sink = new ProbeSink();
      const session = await make(cluster.brokers).connect(
        { groupId: uniqueName("group"), topics: [topic], from, logger: silentLogger },
        sink,
      );
      onTestFinished(() => session.close(5_000));
      return { session, sink };
    };
    const { session } = await join("latest");
    const readAll = async (): Promise<readonly string[]> => {
      const high = (await admin.fetchTopicOffsets(topic)).reduce((sum, one) => sum + Number(one.high), 0);
      const reader = await join("earliest");
      await reader.sink.until(({ records }) => records.length >= high);
      return reader.sink.records.map(({ value }) => String(Buffer.from(value ?? [])));
    };
    return { topic, session, readAll };
  }

  const valuesOf = (round: string): readonly string[] => Array.from({ length: count }, (_, i) => `${round}${String(i).padStart(2, "0")}`);
  const withKeys = (topic: string, round: string): readonly OutgoingRecord[] =>
    valuesOf(round).map((value) => ({ topic, key: Buffer.from(value), value: Buffer.from(value), headers: [] }));

  test.each(drivers)("stands in the log once if a leader has moved since the last write: %s", async (_, make) => {
    const { topic, session, readAll } = await setUp(make);
    await session.send?.(withKeys(topic, "a"));
    const { first } = cluster;
    await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: [{ partition: 1, replicas: [first.id] }] }] });
    await vi.waitFor(
      async () => {
        const [{ partitions } = { partitions: [] }] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
        expect(partitions.map(({ leader }) => leader)).toEqual([first.id, first.id]);
      },
      { timeout: 30_000, interval: 100 },
    );
    await session.send?.(withKeys(topic, "b"));
    expect((await readAll()).toSorted()).toEqual([...valuesOf("a"), ...valuesOf("b")]);
  });

  // kafkajs writes to no partition of a topic while one of them has no leader, and librdkafka draws twice at most, by chance.
  test.each(ofPlatformatic)("goes to a partition with a leader if it has no key, and one has none: %s", async (_, make) => {
    const { topic, session, readAll } = await setUp(make);
    await cluster.crashSecond();
    let isDown = true;
    const startSecond = async (): Promise<void> => {
      if (isDown) {
        isDown = false;
        await cluster.startSecond();
      }
    };
    onTestFinished(startSecond);
    await firstBroker.untilLeaderless(topic);
    for (const value of valuesOf("c").slice(0, 6)) {
      await session.send?.([{ topic, key: null, value: Buffer.from(value), headers: [] }]);
    }
    await startSecond();
    expect((await readAll()).toSorted()).toEqual(valuesOf("c").slice(0, 6));
  });
});
