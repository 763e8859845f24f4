import type { Logger, LogRange, LostRange, OffsetCommit, PartitionAssignment } from "@cdckit/consumer";
import type { Held } from "./assignments.ts";
import { landmarkBefore } from "./landmarks.ts";
import { type BrokerOffsets, placeOf } from "./broker-offsets.ts";
import { lostRangeAt } from "./lost-range.ts";

/** The range that the log lacks at the partition's next offset, or null if the partition can go on. */
export async function missingOf(brokerOffsets: BrokerOffsets, { assignment, expected }: Held): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const log = (await brokerOffsets.ends([topic])).get(placeOf(topic, partition));
  return log === undefined || expected === null ? null : lostRangeAt(assignment, { offset: expected, topicId: null }, log);
}

/** The ends of the logs, and the group's commits. */
export async function rangesOf(
  brokerOffsets: BrokerOffsets,
  groupId: string,
  assignments: readonly PartitionAssignment[],
): Promise<readonly LogRange[]> {
  const topics = [...new Set(assignments.map(({ topic }) => topic))];
  const [ends, committed] = await Promise.all([brokerOffsets.ends(topics), brokerOffsets.committed(groupId, topics)]);
  return assignments.flatMap((assignment) => {
    const place = placeOf(assignment.topic, assignment.partition);
    const log = ends.get(place);
    const commit = committed.get(place)?.offset ?? null;
    return log === undefined ? [] : [{ assignment, start: log.low, end: log.high, committed: commit }];
  });
}

/**
 * Finds out without topic ids whether the topic was recreated. If so, returns the lost range of this member's position, otherwise null. There
 * are two signs. Another record stands at the offset of the last one that was read. Or the group's commit is gone, because Kafka deletes the
 * commits of a topic with the topic. If nothing was committed, only the first sign can be seen.
 */
export async function recreatedOf(
  brokerOffsets: Pick<BrokerOffsets, "committed" | "ends" | "isReplaced">,
  groupId: string,
  { assignment, expected, reached }: Held,
): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const place = placeOf(topic, partition);
  const [committed, ends] = await Promise.all([brokerOffsets.committed(groupId, [topic]), brokerOffsets.ends([topic])]);
  const log = ends.get(place);
  if (log === undefined) {
    return null;
  }
  const landmark = expected === null ? null : landmarkBefore(assignment, expected);
  const isReplaced = landmark !== null && landmark.offset >= log.low && (await brokerOffsets.isReplaced(topic, partition, landmark));
  if (!isReplaced && (reached === null || committed.has(place))) {
    return null;
  }
  const recreated = { from: null, to: null };
  return { topic, partition, firstMissing: expected ?? reached ?? 0n, firstAvailable: log.low, end: log.high, recreated };
}

/**
 * A recreated topic halts this member, and the next member must halt too. Kafka has deleted the group's commit with the old topic. So the start
 * of the new topic is committed with the id of the old one. A client without topic ids starts there, and skips nothing.
 */
export async function holdBack(
  assignment: PartitionAssignment,
  lost: LostRange,
  commit: (offset: OffsetCommit) => Promise<void>,
  logger: Logger,
): Promise<void> {
  if (lost.recreated !== undefined) {
    const { topic, partition, firstAvailable, recreated } = lost;
    await commit({ assignment, offset: firstAvailable, topicId: recreated.from }).catch(() => {
      logger.warn({ topic, partition }, "the start of a recreated topic could not be committed");
    });
  }
}
