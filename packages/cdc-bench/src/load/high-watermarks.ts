import type { Kafka } from "kafkajs";
import { type InnerCluster, innerClusterOf } from "./inner-cluster.ts";

/**
 * The ends of the logs of topics with what open transactions have written, by topic and partition. kafkajs' admin answers with the last stable
 * offsets.
 */
export async function highWatermarks(kafka: Kafka, topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<number, bigint>>> {
  const cluster = innerClusterOf(kafka);
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

function partitionsOf(cluster: InnerCluster, topic: string): readonly { readonly partition: number }[] {
  return cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ partition: partitionId }));
}
