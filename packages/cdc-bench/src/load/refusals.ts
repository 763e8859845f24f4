import type { Kafka } from "kafkajs";
import { type InnerBroker, innerClusterOf } from "./inner-cluster.ts";

const ofGroup = 0;

/** What a broker answers a user who may not see a group; null for others. kafkajs says only that it has found no coordinator. */
export function groupRefusal(kafka: Kafka, groupId: string): Promise<Error | null> {
  return refusalOf(kafka, (broker) => broker.findGroupCoordinator({ groupId, coordinatorType: ofGroup }));
}

/** What a broker answers a user who may not see a topic, whether it exists or not; null for others. In the list of topics it is missing. */
export function topicRefusal(kafka: Kafka, topic: string): Promise<Error | null> {
  return refusalOf(kafka, (broker) => broker.metadata([topic]));
}

async function refusalOf(kafka: Kafka, ask: (broker: InnerBroker) => Promise<unknown>): Promise<Error | null> {
  const cluster = innerClusterOf(kafka);
  try {
    await cluster.connect();
    const { seedBroker } = cluster.brokerPool;
    await (seedBroker === undefined ? undefined : ask(seedBroker));
    return null;
  } catch (error) {
    return error instanceof Error && isRefusal(error) ? error : null; // what else fails is found by the question that this explains
  } finally {
    await cluster.disconnect();
  }
}

function isRefusal({ type }: Error & { readonly type?: unknown }): boolean {
  return typeof type === "string" && type.endsWith("_AUTHORIZATION_FAILED");
}
