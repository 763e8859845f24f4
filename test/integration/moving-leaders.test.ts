import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KafkaDriver, type PartitionAssignment, silentLogger } from "@cdckit/consumer";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, type ITopicConfig, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClusterNode, type RunningCluster, startCluster } from "../../scripts/stack/kafka.mjs";
import { kafkaReleases, versions } from "../../scripts/stack/versions.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { EveryBroker } from "./every-broker.ts";
import { uniqueName } from "./stack.ts";

/** By the names that `npm run test:brokers` knows. A client that is not asked for need not be installed. */
const drivers: Readonly<Record<string, () => Promise<readonly MakeDriver[]>>> = {
  kafkajs: async () => {
    const { kafkajs } = await import("@cdckit/kafkajs");
    const own = (brokers: string[]): Kafka => new Kafka({ brokers, logLevel: logLevel.NOTHING, retry });
    return [
      { name: "kafkajs", make: (brokers) => kafkajs({ brokers, ...tuning }) },
      { name: "kafkajs, own client", make: (brokers) => kafkajs({ kafka: own(brokers), ...tuning }) },
    ];
  },
  platformatic: async () => {
    const { platformatic } = await import("@cdckit/platformatic");
    return [{ name: "platformatic", make: (brokers) => platformatic({ brokers, ...tuning }) }];
  },
  confluent: async () => {
    const { confluent } = await import("@cdckit/confluent");
    return [{ name: "confluent", make: (brokers) => confluent({ brokers, ...tuning }) }];
  },
};

interface MakeDriver {
  readonly name: string;
  readonly make: (brokers: string[]) => KafkaDriver;
}

/** As the driver's own clients have it. */
const retry = { initialRetryTime: 300, maxRetryTime: 1_000, retries: 10 };
const tuning = Object.freeze({ heartbeatIntervalMs: 300, sessionTimeoutMs: 10_000, maxWaitMs: 100, metadataMaxAgeMs: 1_000 });
const partitions = 3;
/** So many records are written ahead of the reader at most: fetches and writes are under way all the time. */
const maxAhead = 300;

const { CDCKIT_BROKERS: size = "1", CDCKIT_KAFKA: release = versions.kafka, CDCKIT_DRIVER: chosen = "kafkajs" } = process.env;
const skipReason =
  size === "3" ? null : "it kills brokers of a cluster of its own, for minutes: `npm run test:brokers -- --brokers 3` runs it";
const made = skipReason === null ? await (drivers[chosen]?.() ?? Promise.reject(new Error(`no driver is called ${chosen}`))) : [];

describe.skipIf(skipReason !== null)("on three brokers", { meta: skipReason === null ? {} : { skipReason } }, () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-cluster-"));
  let cluster: RunningCluster;
  let admin: Admin;
  let producer: Producer;
  let everyBroker: EveryBroker;

  beforeAll(async () => {
    cluster = await startCluster({ dir, ...(kafkaReleases[release] && { jars: kafkaReleases[release] }) });
    const client = new Kafka({
      brokers: cluster.brokers.split(","),
      logLevel: logLevel.NOTHING,
      retry: { retries: 30, maxRetryTime: 500 },
    });
    admin = client.admin();
    // Not idempotent: kafkajs does not recover when a broker refuses the sequence of a batch that was written as its leader moved. What the log
    // has twice is read twice: offsets are compared with the log's own.
    producer = client.producer({ metadataMaxAge: 500 });
    everyBroker = new EveryBroker(cluster.brokers.split(","));
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin?.disconnect(), producer?.disconnect()]);
    await cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  if (made.length === 0) {
    test("a leader moves and brokers are killed", () => {});
  }

  for (const { name, make } of made) {
    test(`${name}: a leader that moves while its partition is read costs no record, and none is out of order`, async () => {
      const topic = uniqueName("moves");
      // Two replicas, so that there is a broker to move to.
      const replicas = [0, 1, 2].map((partition) => ({ partition, replicas: [1 + (partition % 3), 1 + ((partition + 1) % 3)] }));
      await create(topic, { replicaAssignment: replicas, configEntries: [{ name: "min.insync.replicas", value: "1" }] });
      const groupId = uniqueName("group");
      const { sink, session, keepsPartitions } = await reading(make, topic, groupId);
      const writer = write(topic, sink);
      for (const round of [1, 2, 3]) {
        await someMore(sink);
        const moved = replicas.map(({ partition, replicas: now }) => ({
          partition,
          replicas: now.map((id) => 1 + ((id - 1 + round) % 3)),
        }));
        const before = await leadersOf(topic);
        await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: moved }] });

        await waitUntil({
          what: `leaders that are not ${before.join()}`,
          check: async () => (await leadersOf(topic)).every((leader, partition) => leader > 0 && leader !== before[partition]),
          deadlineMs: 60_000,
        });
      }
      await someMore(sink);
      await writer.end();
      const ends = await endsOf(topic);
      await everything(sink, ends);
      expect(sink.failures).toEqual([]);
      if (keepsPartitions) {
        expect([sink.revocations, sink.losses]).toEqual([[], []]);
        expect(offsetsOf(sink)).toEqual(inOrder(ends));
      } else {
        // kafkajs itself joins its group again when it learns of another leader: what is not committed then comes again.
        expect(firstTimes(sink)).toEqual(inOrder(ends));
      }
      await commitAll(session, sink);
      await session.close(10_000);
      expect(await committedOf(groupId, topic)).toEqual(ends.map(String));
    });

    test(`${name}: each broker is killed and comes back, and nothing is lost, reordered or committed too early`, {
      timeout: 400_000,
    }, async () => {
      const topic = uniqueName("killed");
      await create(topic, { numPartitions: partitions });
      const groupId = uniqueName("group");
      const { sink, session } = await reading(make, topic, groupId);
      const writer = write(topic, sink);
      for (const node of cluster.nodes) {
        await someMore(sink);
        await killed(node, async () => {
          await someMore(sink);
          // The group's coordinator may have been there: a commit may be refused until another broker is it, and the consumer asks again, too.
          const isCommitted = () => commitAll(session, sink).then(() => true);
          await waitUntil({ what: "a commit", check: isCommitted, deadlineMs: 60_000 });
        });
      }
      await someMore(sink);
      await writer.end();
      const ends = await endsOf(topic);
      await everything(sink, ends);
      expect([sink.failures, sink.losses]).toEqual([[], []]);
      // A member that has lost its coordinator may have to join again. What it had not committed comes again then, from there on and in order.
      expect(firstTimes(sink)).toEqual(inOrder(ends));
      expect(sink.revocations.length === 0 ? offsetsOf(sink) : firstTimes(sink)).toEqual(inOrder(ends));
      await commitAll(session, sink);
      await session.close(10_000);
      expect(await committedOf(groupId, topic)).toEqual(ends.map(String));
    });
  }

  async function create(topic: string, config: Partial<ITopicConfig>): Promise<void> {
    await admin.createTopics({ topics: [{ topic, ...config }], waitForLeaders: false });
    await everyBroker.connect();
    await everyBroker.untilKnown(topic, partitions);
    await everyBroker.close(); // some of them are killed next
  }

  async function reading(make: MakeDriver["make"], topic: string, groupId: string) {
    const sink = new ProbeSink();
    const driver = make(cluster.brokers.split(","));
    const session = await driver.connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ held }) => held.length === partitions);
    return { sink, session, keepsPartitions: driver.capabilities.cooperative };
  }

  /** Writes to all partitions, a few records at a time, until `end` is called. What the log has counts: kafkajs may write a batch twice, or leave it out. */
  function write(topic: string, sink: ProbeSink): { readonly end: () => Promise<void> } {
    let hasEnded = false;
    const ends = Array.from({ length: partitions }, () => 0);
    const isFarAhead = (): boolean => ends.reduce((sum, end) => sum + end, 0) - sink.records.length > maxAhead;
    const writing = (async () => {
      while (!hasEnded && sink.failures.length === 0) {
        const messages = Array.from({ length: partitions * 10 }, (_, i) => ({ partition: i % partitions, value: "v" }));
        for (const { partition, baseOffset } of await producer.send({ topic, messages })) {
          ends[partition] = Number(baseOffset) + 10;
        }
        await sink.until(({ failures }) => hasEnded || failures.length > 0 || !isFarAhead());
      }
    })();
    return {
      end: () => {
        hasEnded = true;
        return writing;
      },
    };
  }

  /** By partition: the end of the log. */
  async function endsOf(topic: string): Promise<readonly number[]> {
    const found = await admin.fetchTopicOffsets(topic);
    return found.sort((a, b) => a.partition - b.partition).map(({ high }) => Number(high));
  }

  async function leadersOf(topic: string): Promise<number[]> {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return [...(topics[0]?.partitions ?? [])].sort((a, b) => a.partitionId - b.partitionId).map(({ leader }) => leader);
  }

  async function committedOf(groupId: string, topic: string): Promise<readonly string[]> {
    const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return [...(found?.partitions ?? [])].sort((a, b) => a.partition - b.partition).map(({ offset }) => offset);
  }
});

/** By partition: every offset, once. */
function inOrder(ends: readonly number[]): readonly number[][] {
  return ends.map((end) => Array.from({ length: end }, (_, i) => i));
}

/** Each partition is read on, or the driver has failed. */
async function someMore(sink: ProbeSink): Promise<void> {
  const before = firstTimes(sink).map(({ length }) => length);
  await sink.until(
    ({ failures }) => failures.length > 0 || firstTimes(sink).every(({ length }, partition) => length >= (before[partition] ?? 0) + 100),
  );
}

async function killed(node: ClusterNode, meanwhile: () => Promise<void>): Promise<void> {
  await node.crash();
  try {
    await meanwhile();
  } finally {
    await node.startAgain();
  }
}

async function everything(sink: ProbeSink, ends: readonly number[]): Promise<void> {
  await sink.until(
    ({ failures }) => failures.length > 0 || firstTimes(sink).every(({ length }, partition) => length >= (ends[partition] ?? 0)),
  );
}

/** By partition: the offsets, as they came. */
function offsetsOf(sink: ProbeSink): readonly number[][] {
  return Array.from({ length: partitions }, (_, partition) =>
    sink.records.filter((one) => one.partition === partition).map(({ offset }) => Number(offset)),
  );
}

/** The same without what had come before. */
function firstTimes(sink: ProbeSink): readonly number[][] {
  return offsetsOf(sink).map((offsets) => [...new Set(offsets)]);
}

async function commitAll(session: Awaited<ReturnType<KafkaDriver["connect"]>>, sink: ProbeSink): Promise<void> {
  const held: ReadonlySet<PartitionAssignment> = new Set(sink.held);
  const latest = new Map(
    sink.batches.filter(({ assignment }) => held.has(assignment)).map((batch) => [batch.assignment, batch.nextOffset]),
  );
  await session.commit([...latest].map(([assignment, offset]) => ({ assignment, offset })));
}
