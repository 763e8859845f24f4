import type { Kafka } from "kafkajs";

/**
 * The key below which a client of kafkajs 2.2 keeps the function that makes its clusters, each with connections of its own. kafkajs' types leave it
 * out. Undefined for a wrapper around a client, and for another build of kafkajs.
 */
export function createClusterKey(kafka: Kafka): symbol | undefined {
  return Object.getOwnPropertySymbols(kafka).find(({ description }) => description === "private:Kafka:createCluster");
}
