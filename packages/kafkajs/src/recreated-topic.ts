import type { LostRange } from "@cdckit/consumer";
import { type BrokerQuestions, endsAt, landmarkBefore, placeOf } from "@cdckit/driver";
import type { Held } from "./assignments.ts";

/**
 * Finds out without topic ids whether the topic was recreated. If so, returns the lost range of this member's position, otherwise null. There
 * are two signs. Another record stands at the offset of the last one that was read. Or the group's commit is gone, because Kafka deletes the
 * commits of a topic with the topic. If nothing was committed, only the first sign can be seen. Rejects if the brokers do not answer.
 */
export async function recreatedOf(
  brokers: Pick<BrokerQuestions, "committed" | "ends" | "isReplaced">,
  { assignment, expected, reached }: Held,
): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const place = placeOf(topic, partition);
  const [committed, ends] = await Promise.all([brokers.committed([assignment]), brokers.ends([topic])]);
  const log = endsAt(ends, assignment);
  const landmark = expected === null ? null : landmarkBefore(assignment, expected);
  const isReplaced = landmark !== null && landmark.offset >= log.low && (await brokers.isReplaced?.(topic, partition, landmark)) === true;
  if (!isReplaced && (reached === null || committed.has(place))) {
    return null;
  }
  const recreated = { from: null, to: null };
  return { topic, partition, firstMissing: expected ?? reached ?? 0n, firstAvailable: log.low, end: log.high, recreated };
}
