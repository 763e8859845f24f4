import type { Kafka } from "kafkajs";
import { innerClusterOf } from "./inner-cluster.ts";

const noGeneration = -1;

/**
 * Commits offsets of a topic for a group, as nobody of it. Only a group without members takes them: false if it has some, and nothing was
 * committed. kafkajs' own `setOffsets` joins the group, and rebalances a group of the consumer protocol, which it takes for an empty one.
 */
export async function commitOffsets(kafka: Kafka, groupId: string, topic: string, offsets: ReadonlyMap<number, bigint>): Promise<boolean> {
  const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }));
  const cluster = innerClusterOf(kafka);
  try {
    await cluster.connect();
    const coordinator = await cluster.findGroupCoordinator({ groupId });
    await coordinator.offsetCommit({ groupId, groupGenerationId: noGeneration, memberId: "", topics: [{ topic, partitions }] });
    return true;
  } catch (error) {
    if ((error as { readonly type?: unknown }).type === "UNKNOWN_MEMBER_ID") {
      return false;
    }
    throw error;
  } finally {
    await cluster.disconnect();
  }
}
