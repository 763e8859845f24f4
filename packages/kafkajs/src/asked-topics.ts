import type { Cluster } from "kafkajs";

/** The part of kafkajs' cluster that is used here. Its types leave it out. */
interface AskingCluster {
  /** What it asks the brokers about. kafkajs replaces the set. */
  targetTopics: Set<string>;
}

/**
 * The topics that a consumer of kafkajs asks the brokers about. If one of them does not exist, kafkajs takes the answer for a failure, and reads none
 * of the others.
 */
export class AskedTopics {
  #cluster: AskingCluster | undefined;
  #leftOut: ReadonlySet<string> = new Set();

  /** The cluster of the consumer whose topics these are. */
  askedBy(cluster: Cluster): void {
    this.#cluster = cluster as unknown as AskingCluster;
  }

  /**
   * kafkajs asks about all topics but these. It does so before its next fetch if one has come back, and then joins the group again. If all are
   * missing, it asks for all: without any topic, it would ask for every topic of the brokers.
   */
  leaveOut(missing: ReadonlySet<string>): void {
    const cluster = this.#cluster;
    if (cluster !== undefined) {
      const all = [...cluster.targetTopics, ...this.#leftOut];
      const rest = all.filter((topic) => !missing.has(topic));
      cluster.targetTopics = new Set(rest.length === 0 ? all : rest);
      this.#leftOut = new Set(all.filter((topic) => !cluster.targetTopics.has(topic)));
    }
  }
}
