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
import { type RackBroker, type RackCluster, startRackCluster } from "./rack-cluster.ts";
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

  /** A topic with a partition on each of these brokers (one on each by default), and a member that writes to it and may read it. */
  async function setUp(make: (brokers: readonly string[]) => KafkaDriver, on = [cluster.first, cluster.second]) {
    const topic = uniqueName("written");
    const replicaAssignment = on.map(({ id }, partition) => ({ partition, replicas: [id] }));
    const reads = uniqueName("read"); // of its own: kafkajs joins its group again when it learns of another leader
    await createTopics(admin, [
      { topic, replicaAssignment },
      { topic: reads, replicaAssignment: [{ partition: 0, replicas: [cluster.first.id] }] },
    ]);
    const join = async (of: string): Promise<{ readonly session: DriverSession; readonly sink: ProbeSink }> => {
      const sink = new ProbeSink();
      const session = await make(cluster.brokers).connect(
        { groupId: uniqueName("group"), topics: [of], from: "earliest", logger: silentLogger },
        sink,
      );
      onTestFinished(() => session.close(5_000));
      return { session, sink };
    };
    const { session, sink } = await join(reads);
    const readAll = async (): Promise<readonly string[]> => {
      const ends = await admin.fetchTopicOffsets(topic);
      const reader = await join(topic);
      // The markers of transactions are no records.
      await reader.sink.until(({ batches }) =>
        ends.every(
          ({ partition, high }) =>
            high === "0" || batches.some(({ assignment, nextOffset }) => assignment.partition === partition && nextOffset >= BigInt(high)),
        ),
      );
      return reader.sink.records.map(({ value }) => String(Buffer.from(value ?? [])));
    };
    return { topic, session, sink, readAll };
  }

  /** Resolves when the broker knows that it leads the partition now. */
  async function move(topic: string, partition: number, to: RackBroker): Promise<void> {
    await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: [{ partition, replicas: [to.id] }] }] });
    await vi.waitFor(
      async () => {
        const [{ partitions } = { partitions: [] }] = (await admin.fetchTopicMetadata({ topics: [topic] })).topics;
        expect(partitions.find(({ partitionId }) => partitionId === partition)?.leader).toBe(to.id);
      },
      { timeout: 30_000, interval: 100 },
    );
  }

  const valuesOf = (round: string): readonly string[] => Array.from({ length: count }, (_, i) => `${round}${String(i).padStart(2, "0")}`);
  const withKeys = (topic: string, round: string): readonly OutgoingRecord[] =>
    valuesOf(round).map((value) => ({ topic, key: Buffer.from(value), value: Buffer.from(value), headers: [] }));

  test.each(drivers)("stands in the log once if a leader has moved since the last write: %s", async (_, make) => {
    const { topic, session, readAll } = await setUp(make);
    await session.send?.(withKeys(topic, "a"));
    await move(topic, 1, cluster.first);
    await session.send?.(withKeys(topic, "b"));
    expect((await readAll()).toSorted()).toEqual([...valuesOf("a"), ...valuesOf("b")]);
  });

  test.each(drivers)("stands in the log once, and in order, if a leader moves away from one that takes its part: %s", async (_, make) => {
    const { topic, session, sink, readAll } = await setUp(make, [cluster.first, cluster.first, cluster.first]);
    const inEach = (round: string) =>
      [0, 1, 2].flatMap((partition) => withKeys(topic, `${round}${partition}`).map((one) => ({ ...one, partition })));
    await sink.until(({ starts }) => starts.length === 1);
    const offsets = (offset: bigint) => sink.held.map((assignment) => ({ assignment, offset }));
    await session.send?.(inEach("a"));
    await session.transact?.(inEach("b"), offsets(1n));
    await move(topic, 1, cluster.second);
    await session.send?.(inEach("c"));
    await session.transact?.(inEach("d"), offsets(2n));
    await move(topic, 1, cluster.first);
    await move(topic, 2, cluster.second);
    await session.transact?.(inEach("e"), offsets(3n));
    await session.send?.(inEach("f"));
    const all = await readAll();
    for (const partition of [0, 1, 2]) {
      const expected = ["a", "b", "c", "d", "e", "f"].flatMap((round) => valuesOf(`${round}${partition}`));
      expect(all.filter((value) => value[1] === String(partition))).toEqual(expected);
    }
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
