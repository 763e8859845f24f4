import type { Kafka } from "kafkajs";

/** The part of kafkajs' cluster that is used here. */
export interface InnerCluster {
  readonly brokerPool: { readonly seedBroker?: InnerBroker };
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findGroupCoordinator(asked: { readonly groupId: string }): Promise<InnerBroker>;
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

/** The part of kafkajs' broker that is used here: each question fails with what the broker answers. */
export interface InnerBroker {
  metadata(topics: readonly string[]): Promise<unknown>;
  findGroupCoordinator(asked: { readonly groupId: string; readonly coordinatorType: number }): Promise<unknown>;
  offsetCommit(commit: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }): Promise<unknown>;
}

type MakeCluster = (options: { readonly allowAutoTopicCreation: false; readonly isolationLevel: number }) => InnerCluster;

const readUncommitted = 0;

/**
 * The cluster inside kafkajs' client, which answers what its admin keeps to itself. A symbol property of the client makes one, which its types do
 * not have. It is made for one question, because it would ask stale leaders the next time. Who asks disconnects it.
 */
export function innerClusterOf(kafka: Kafka): InnerCluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
  const make = symbol === undefined ? undefined : (kafka as unknown as Record<symbol, unknown>)[symbol];
  if (typeof make !== "function") {
    throw new TypeError("expected kafkajs 2.2, whose client makes clusters");
  }
  return (make as MakeCluster)({ allowAutoTopicCreation: false, isolationLevel: readUncommitted });
}
