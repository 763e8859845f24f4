import { setTimeout as pass } from "node:timers/promises";
import { BenchError } from "../../bench-error.ts";
import type { ClusterConnection } from "../connection.ts";
import { explainRefusal, explainRefusedWrite } from "../explain-refusal.ts";
import { createKafkaClient } from "../kafka-client.ts";
import { type Acks, type BatchAnswer, type PlacedBatch, produceRequest, type WireRequest } from "./produce-request.ts";

const requestTimeoutMs = 40_000; // longer than the broker's own
const maxAttempts = 10;
const pauseMs = 200;

/** Sends record batches that are bytes already, several requests at a time. */
export interface BatchWriter {
  /** How many partitions a topic has. */
  partitionsOf(topic: string): number;
  /**
   * Sends each batch to its leader, and resolves when all are acknowledged. Calls may overlap; batches of one partition stay in the order
   * of the calls, except after a leader has moved. Rejects with a sentence if a broker refuses.
   */
  send(batches: readonly PlacedBatch[]): Promise<void>;
  /** How often batches were sent again because a leader had moved or was not there yet. */
  readonly retries: number;
  close(): Promise<void>;
}

/** The part of kafkajs' own cluster that is needed; its types do not show it. */
interface KafkaJsCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  findBroker(node: { readonly nodeId: string }): Promise<KafkaJsBroker>;
}

interface KafkaJsBroker {
  readonly connectionPool: { send(request: WireRequest): Promise<readonly BatchAnswer[]> };
}

/** Errors that pass: the leader moved, is being chosen, or the topic was made a moment ago. */
const passingErrors: ReadonlyMap<number, string> = new Map([
  [3, "UNKNOWN_TOPIC_OR_PARTITION"],
  [5, "LEADER_NOT_AVAILABLE"],
  [6, "NOT_LEADER_OR_FOLLOWER"],
  [7, "REQUEST_TIMED_OUT"],
  [19, "NOT_ENOUGH_REPLICAS"],
]);

const otherErrors: ReadonlyMap<number, string> = new Map([
  [2, "CORRUPT_MESSAGE"],
  [10, "MESSAGE_TOO_LARGE: lower --batch-bytes, or raise max.message.bytes of the topic"],
  [18, "RECORD_LIST_TOO_LARGE: lower --batch-bytes, or raise segment.bytes of the topic"],
  [29, "TOPIC_AUTHORIZATION_FAILED: the user needs Write on it"],
  [76, "UNSUPPORTED_COMPRESSION_TYPE"],
  [87, "INVALID_RECORD"],
]);

/** Connects to the leaders of the topics, with kafkajs' connections and logins. */
export async function openBatchWriter(connection: ClusterConnection, topics: readonly string[], acks: Acks): Promise<BatchWriter> {
  const cluster = clusterOf(connection);
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics(topics);
  } catch (error) {
    await cluster.disconnect().catch(() => {});
    throw await explainRefusedWrite(connection, error, topics);
  }
  return new ClusterWriter(cluster, connection, acks);
}

/**
 * kafkajs' producer encodes each record as several objects, and reaches a fraction of the rate; its cluster is what knows leaders, logins
 * and connections. It is behind a symbol: the version of kafkajs is fixed in package.json, and an integration test writes through it.
 */
function clusterOf(connection: ClusterConnection): KafkaJsCluster {
  const kafka = createKafkaClient(connection, 2, { requestTimeout: requestTimeoutMs });
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const create = symbol === undefined ? undefined : (kafka as unknown as Record<symbol, unknown>)[symbol];
  if (typeof create !== "function") {
    throw new Error("this version of kafkajs has no createCluster: cdc-bench needs the one in its package.json");
  }
  return (create as (options: object) => KafkaJsCluster)({
    allowAutoTopicCreation: false,
    metadataMaxAge: 300_000,
    maxInFlightRequests: null,
  });
}

class ClusterWriter implements BatchWriter {
  readonly #cluster: KafkaJsCluster;
  readonly #connection: ClusterConnection;
  readonly #acks: Acks;
  retries = 0;

  constructor(cluster: KafkaJsCluster, connection: ClusterConnection, acks: Acks) {
    this.#cluster = cluster;
    this.#connection = connection;
    this.#acks = acks;
  }

  partitionsOf(topic: string): number {
    return this.#cluster.findTopicPartitionMetadata(topic).length;
  }

  async send(batches: readonly PlacedBatch[]): Promise<void> {
    let left = batches;
    for (let attempt = 1; left.length > 0; attempt++) {
      const refused = await this.#sendOnce(left);
      const final = refused.find(({ errorCode }) => !passingErrors.has(errorCode));
      const last = final ?? (attempt === maxAttempts ? refused[0] : undefined);
      if (last !== undefined) {
        const reason = passingErrors.get(last.errorCode) ?? otherErrors.get(last.errorCode) ?? `error ${last.errorCode}`;
        throw new BenchError("connection", `a broker refuses records of ${last.topic}[${last.partition}]: ${reason}.`);
      }
      left = left.filter(({ topic, partition }) => refused.some((answer) => answer.topic === topic && answer.partition === partition));
      if (left.length > 0) {
        this.retries++;
        await pass(pauseMs);
        await this.#cluster.refreshMetadata();
      }
    }
  }

  async close(): Promise<void> {
    await this.#cluster.disconnect();
  }

  async #sendOnce(batches: readonly PlacedBatch[]): Promise<readonly BatchAnswer[]> {
    const byLeader = new Map<number, PlacedBatch[]>();
    for (const batch of batches) {
      const leader = this.#leaderOf(batch);
      const placed = byLeader.get(leader) ?? [];
      byLeader.set(leader, placed);
      placed.push(batch);
    }
    const answers = await Promise.all([...byLeader].map(([leader, placed]) => this.#sendTo(leader, placed)));
    return answers.flat().filter(({ errorCode }) => errorCode !== 0);
  }

  #leaderOf({ topic, partition }: PlacedBatch): number {
    const found = this.#cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
    if (found === undefined) {
      throw new BenchError("connection", `the brokers know no partition ${topic}[${partition}].`);
    }
    return found.leader;
  }

  async #sendTo(leader: number, batches: readonly PlacedBatch[]): Promise<readonly BatchAnswer[]> {
    try {
      const broker = await this.#cluster.findBroker({ nodeId: String(leader) });
      return (await broker.connectionPool.send(produceRequest(batches, this.#acks))) ?? [];
    } catch (error) {
      throw await explainRefusal(this.#connection, error);
    }
  }
}
