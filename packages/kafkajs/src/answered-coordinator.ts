/** The parts of kafkajs' cluster that are used here. Its types leave them out. */
export interface CoordinatorCluster {
  readonly brokerPool: BrokerPool;
  findGroupCoordinatorMetadata(asked: object): Promise<unknown>;
}
interface BrokerPool {
  withBroker<Answer>(ask: (asked: object) => Promise<Answer>): Promise<Answer | null>;
}

/**
 * Makes a cluster fail with the broker's answer if the user may not use the group. By itself, kafkajs asks the next broker after any failure, forgets
 * each of them, and says at last that no coordinator was found. That passes as a rule, so that the group would be asked for again and again.
 */
export function answeringCoordinator<Cluster extends CoordinatorCluster>(cluster: Cluster): Cluster {
  const find = cluster.findGroupCoordinatorMetadata;
  cluster.findGroupCoordinatorMetadata = async (asked) => {
    let refusal: unknown;
    const withBroker: BrokerPool["withBroker"] = (ask) =>
      cluster.brokerPool.withBroker(async (broker) => {
        try {
          return await ask(broker);
        } catch (error) {
          refusal = isRefusal(error) ? error : refusal;
          throw error;
        }
      });
    try {
      return await find.call(Object.create(cluster, { brokerPool: { value: { withBroker } } }), asked);
    } catch (error) {
      throw refusal ?? error;
    }
  };
  return cluster;
}

/** Of groups, and of the transactional ids whose coordinators are found in the same way. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && String((error as Error & { readonly type?: unknown }).type).endsWith("_AUTHORIZATION_FAILED");
}
