import { bounded, type Landmark, type TopicIdsByName } from "@cdckit/driver";
import type { DecompressOptions } from "@cdckit/record-batch";
import type { Kafka } from "kafkajs";
import { createClusterKey } from "./create-cluster.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { landmarksIn } from "./landmarks.ts";
import { type DescribedTopics, type KafkaJsRequest, metadataRequest, type VersionRange } from "./metadata-request.ts";
import { fetchedFrom } from "./wire/decoder-tap.ts";
import type { FetchedPartition } from "./wire/fetch-response.ts";

/** The part of kafkajs' cluster that is used here. */
interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  readonly brokerPool: { readonly seedBroker?: Broker };
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(broker: { readonly nodeId: string }): Promise<Broker>;
}

interface Broker {
  readonly brokerAddress: string;
  readonly versions: Readonly<Record<number, VersionRange>> | null;
  readonly connectionPool: { send<Answer>(request: KafkaJsRequest<Answer>): Promise<Answer> };
  fetch(request: object): Promise<unknown>;
  listOffsets(request: object): Promise<{ readonly responses: readonly { readonly partitions: readonly ListedPartition[] }[] }>;
}

interface ListedPartition {
  readonly partition: number;
  readonly offset: string;
}

type MakeCluster = (options: { readonly metadataMaxAge: number; readonly allowAutoTopicCreation: boolean }) => Cluster;

const answerDeadlineMs = 5_000;
const metadataMaxAgeMs = 300_000;
const readUncommitted = 0;
const readCommitted = 1;
const latest = "-1";
const none: TopicIdsByName = new Map();

/**
 * Asks what kafkajs' admin cannot: the ids of topics (kafkajs supports Metadata up to version 6, which has none), the ends of logs with what open
 * transactions have written, and single records. The cluster inside a client can, with the client's own addresses, TLS and SASL. A symbol property
 * of the client makes such a cluster. With a wrapper around kafkajs' client nothing is known.
 */
export class ClusterQuestions {
  /** What the logins of a question may add to its deadline. */
  readonly loginMs: number;
  readonly #makeCluster: MakeCluster | null;
  readonly #decompression: DecompressOptions;
  #cluster: Promise<Cluster> | undefined;
  #isClosed = false;

  constructor(kafka: Kafka, decompression: DecompressOptions, loginMs: number = 0) {
    this.#makeCluster = clusterMaker(kafka);
    this.loginMs = loginMs;
    this.#decompression = decompression;
  }

  /** The ids of these topics, null for one that does not exist; empty if ids cannot be known. */
  topicIds(topics: readonly string[]): Promise<TopicIdsByName> {
    return topics.length === 0
      ? Promise.resolve(none)
      : this.#ask(async (cluster) => (await askTopics(cluster, topics))?.ids ?? none, none);
  }

  /** Those of these topics that the brokers keep from the user; empty if that cannot be known. */
  hidden(topics: readonly string[]): Promise<readonly string[]> {
    return this.#ask(async (cluster) => (await askTopics(cluster, topics))?.hidden ?? [], []);
  }

  /** The records of the batch that contains an offset; empty if it cannot be fetched or does not exist. */
  recordsAt(topic: string, partition: number, offset: bigint): Promise<readonly Landmark[]> {
    return this.#ask(async (cluster) => {
      const fetched = await fetchAt(cluster, topic, partition, offset);
      return fetched === null ? [] : landmarksIn(fetched, this.#decompression);
    }, []);
  }

  /**
   * The ends of the logs of a topic, open transactions included, by partition; null if they cannot be known. kafkajs' admin answers with the last
   * stable offsets. The cluster keeps what it knows of a topic for minutes: partitions that are newer are left out, unless it `asksAgain`.
   */
  highWatermarks(topic: string, asksAgain: boolean = false): Promise<ReadonlyMap<number, bigint> | null> {
    return this.#ask<ReadonlyMap<number, bigint> | null>((cluster) => endsOf(cluster, topic, asksAgain), null);
  }

  async #ask<T>(question: (cluster: Cluster) => Promise<T>, unknown: T): Promise<T> {
    if (this.#makeCluster === null || this.#isClosed) {
      return unknown;
    }
    this.#cluster ??= connected(this.#makeCluster);
    const asked = this.#cluster;
    const deadlineMs = answerDeadlineMs + this.loginMs;
    try {
      return await bounded(
        asked.then(question),
        deadlineMs,
        () => new KafkaJsDriverError("brokers-unreachable", `no broker answered a question about topics within ${deadlineMs} ms`),
      );
    } catch (error) {
      // The next question may go to another broker.
      if (this.#cluster === asked) {
        this.#cluster = undefined;
      }
      void letGo(asked);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const cluster = this.#cluster;
    this.#cluster = undefined;
    await letGo(cluster);
  }
}

function clusterMaker(kafka: Kafka): MakeCluster | null {
  const symbol = createClusterKey(kafka);
  const make = symbol === undefined ? undefined : (kafka as unknown as Record<symbol, unknown>)[symbol]; // its types do not have it
  return typeof make === "function" ? (make as MakeCluster) : null;
}

async function connected(makeCluster: MakeCluster): Promise<Cluster> {
  const cluster = makeCluster({ metadataMaxAge: metadataMaxAgeMs, allowAutoTopicCreation: false });
  await cluster.connect();
  return cluster;
}

/** Asks the same broker for as long as it answers, because another one may be late and still know a deleted topic. */
async function askTopics({ brokerPool }: Cluster, topics: readonly string[]): Promise<DescribedTopics | null> {
  const { seedBroker } = brokerPool;
  const request = metadataRequest(seedBroker?.versions ?? {}, topics);
  return request === null || seedBroker === undefined ? null : seedBroker.connectionPool.send(request);
}

/** Fetches one batch. Null if the partition has no leader, or has nothing there. */
async function fetchAt(cluster: Cluster, topic: string, partition: number, offset: bigint): Promise<FetchedPartition | null> {
  await cluster.addMultipleTargetTopics([topic]);
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]));
  if (nodeId === undefined) {
    return null;
  }
  const broker = await cluster.findBroker({ nodeId });
  const partitions = [{ partition, fetchOffset: String(offset), maxBytes: 1 }];
  const [fetched] = await fetchedFrom(broker, {
    isolationLevel: readCommitted,
    maxWaitTime: 1,
    minBytes: 1,
    topics: [{ topic, partitions }],
  });
  return fetched ?? null;
}

async function endsOf(cluster: Cluster, topic: string, asksAgain: boolean): Promise<ReadonlyMap<number, bigint>> {
  await cluster.addMultipleTargetTopics([topic]);
  if (asksAgain) {
    await cluster.refreshMetadata();
  }
  const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
  const byLeader = Object.entries(cluster.findLeaderForPartitions(topic, partitions));
  const answers = await Promise.all(
    byLeader.map(async ([nodeId, ofLeader]) => {
      const broker = await cluster.findBroker({ nodeId });
      const asked = ofLeader.map((partition) => ({ partition, timestamp: latest }));
      return broker.listOffsets({ isolationLevel: readUncommitted, topics: [{ topic, partitions: asked }] });
    }),
  );
  const listed = answers.flatMap(({ responses }) => responses.flatMap((response) => response.partitions));
  return new Map(listed.map(({ partition, offset }) => [partition, BigInt(offset)]));
}

async function letGo(cluster: Promise<Cluster> | undefined): Promise<void> {
  // The first failure is reported, not this one.
  await cluster?.then((one) => one.disconnect()).catch(() => {});
}
