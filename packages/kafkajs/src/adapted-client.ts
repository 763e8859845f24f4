import type { Kafka } from "kafkajs";
import { answeringCoordinator, type CoordinatorCluster } from "./answered-coordinator.ts";
import { createClusterKey } from "./create-cluster.ts";
import { type PooledCluster, withoutIdleTimers } from "./idle-timers.ts";
import { keepSteady } from "./steady-moment.ts";

/** The part of kafkajs' cluster that says when its metadata is too old. Its types leave it out. */
export interface AgingCluster {
  readonly brokerPool: { metadataMaxAge: number; metadataExpireAt: number | null };
}

type CreateCluster = (options: object) => CoordinatorCluster & PooledCluster & AgingCluster;

/**
 * A client with the settings of this one, in whose clusters defects of kafkajs are mended. The given client stays as it is.
 *
 * If kafkajs is of another build, or the client is of a class of the application's own, which may not bear a stand-in, it is returned as it is.
 */
export function adaptedClient(kafka: Kafka): Kafka {
  const key = createClusterKey(kafka);
  const createCluster = key === undefined ? undefined : (kafka as unknown as Record<symbol, CreateCluster>)[key]; // kafkajs' types leave it out
  if (key === undefined || createCluster === undefined || !isOfKafkaJs(kafka)) {
    return kafka;
  }
  const adapted = (options: object): object => {
    const cluster = createCluster(options);
    keepSteady(cluster.brokerPool, "metadataExpireAt");
    return answeringCoordinator(withoutIdleTimers(cluster));
  };
  return Object.create(kafka, { [key]: { value: adapted } }) as Kafka;
}

/** Whether nobody has derived the client's class. */
function isOfKafkaJs(kafka: Kafka): boolean {
  return Object.getPrototypeOf(Object.getPrototypeOf(kafka)) === Object.prototype;
}
