import type { Kafka } from "kafkajs";
import { bounded } from "./bounded.ts";
import { KafkaJsDriverError } from "./errors.ts";
import { type KafkaJsRequest, metadataRequest, type TopicIdsByName, type VersionRange } from "./metadata-request.ts";

/** The parts of kafkajs' cluster that are used here. */
interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  readonly brokerPool: { readonly seedBroker?: Broker };
}

interface Broker {
  readonly versions: Readonly<Record<number, VersionRange>> | null;
  readonly connectionPool: { send<Answer>(request: KafkaJsRequest<Answer>): Promise<Answer> };
}

type MakeCluster = (options: { readonly metadataMaxAge: number; readonly allowAutoTopicCreation: boolean }) => Cluster;

const answerDeadlineMs = 5_000;
const metadataMaxAgeMs = 300_000;
const none: TopicIdsByName = new Map();

/**
 * Asks a broker for the ids of topics. kafkajs speaks Metadata up to version 6, which has none, and its clients let no other request
 * through; the cluster that they are made of does, with the client's own addresses, TLS and SASL. It is behind a symbol of the client. Of
 * a client that is none of kafkajs' own (a wrapper), and of a broker without topic ids, nothing is known.
 */
export class TopicIds {
  readonly #makeCluster: MakeCluster | null;
  #cluster: Promise<Cluster> | undefined;
  #isClosed = false;

  constructor(kafka: Kafka) {
    this.#makeCluster = clusterMaker(kafka);
  }

  /** The ids of those that there are; empty if they cannot be known. */
  async of(topics: readonly string[]): Promise<TopicIdsByName> {
    if (this.#makeCluster === null || this.#isClosed || topics.length === 0) {
      return none;
    }
    this.#cluster ??= connected(this.#makeCluster);
    const asked = this.#cluster;
    try {
      return await bounded(
        asked.then((cluster) => ask(cluster, topics)),
        answerDeadlineMs,
        () => new KafkaJsDriverError("brokers-unreachable", `no broker told the ids of the topics within ${answerDeadlineMs} ms`),
      );
    } catch (error) {
      // The next one may be another broker.
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
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const make = symbol === undefined ? undefined : (kafka as unknown as Record<symbol, unknown>)[symbol]; // its types do not have it
  return typeof make === "function" ? (make as MakeCluster) : null;
}

async function connected(makeCluster: MakeCluster): Promise<Cluster> {
  const cluster = makeCluster({ metadataMaxAge: metadataMaxAgeMs, allowAutoTopicCreation: false });
  await cluster.connect();
  return cluster;
}

/** Always of the same broker, as long as it answers: another one may be behind it, and still tell of a topic that is gone. */
async function ask({ brokerPool }: Cluster, topics: readonly string[]): Promise<TopicIdsByName> {
  const { seedBroker } = brokerPool;
  const request = metadataRequest(seedBroker?.versions ?? {}, topics);
  return request === null || seedBroker === undefined ? none : seedBroker.connectionPool.send(request);
}

async function letGo(cluster: Promise<Cluster> | undefined): Promise<void> {
  // What went wrong before is what is reported.
  await cluster?.then((one) => one.disconnect()).catch(() => {});
}
