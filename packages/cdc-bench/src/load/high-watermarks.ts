import type { Kafka } from "kafkajs";

/** The part of kafkajs' cluster that is used here. */
interface KafkaJsCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  fetchTopicsOffset(
    asked: readonly {
      readonly topic: string;
      readonly fromBeginning: false;
      readonly partitions: readonly { readonly partition: number }[];
    }[],
  ): Promise<
    readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]
  >;
}

type MakeCluster = (options: { readonly allowAutoTopicCreation: false; readonly isolationLevel: number }) => KafkaJsCluster;

const readUncommitted = 0;

/**
 * The ends of the logs of topics with what open transactions have written, by topic and partition. kafkajs' admin answers with the last stable
 * offsets. The cluster inside its client answers as it is told to: a symbol property of the client makes one, which its types do not have. It is
 * made for one question, because it would ask stale leaders the next time.
 */
export async function highWatermarks(kafka: Kafka, topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<number, bigint>>> {
  const cluster = clusterOf(kafka);
  try {
    await cluster.connect();
    await cluster.addMultipleTargetTopics(topics);
    const asked = topics.map((topic) => ({ topic, fromBeginning: false as const, partitions: partitionsOf(cluster, topic) }));
    const answers = await cluster.fetchTopicsOffset(asked);
    return new Map(
      answers.map(({ topic, partitions }) => [topic, new Map(partitions.map(({ partition, offset }) => [partition, BigInt(offset)]))]),
    );
  } finally {
    await cluster.disconnect();
  }
}

function clusterOf(kafka: Kafka): KafkaJsCluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const make = symbol === undefined ? undefined : (kafka as unknown as Record<symbol, unknown>)[symbol];
  if (typeof make !== "function") {
    throw new TypeError("expected kafkajs 2.2, whose client makes clusters");
  }
  return (make as MakeCluster)({ allowAutoTopicCreation: false, isolationLevel: readUncommitted });
}

function partitionsOf(cluster: KafkaJsCluster, topic: string): readonly { readonly partition: number }[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ partition: partitionId }));
}
