import type { LogRange, LostRange, PartitionAssignment } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import { lostRangeAt, readableEnd } from "./lost-range.ts";
import { placeOf, topicsOf } from "./place.ts";

/** The ends of the logs, and the group's commits. Partitions that no broker knows are left out. */
export async function rangesOf(
  brokers: Pick<BrokerQuestions, "ends" | "committed">,
  assignments: readonly PartitionAssignment[],
): Promise<readonly LogRange[]> {
  const [ends, committed] = await Promise.all([brokers.ends(topicsOf(assignments)), brokers.committed(assignments)]);
  return assignments.flatMap((assignment) => {
    const place = placeOf(assignment.topic, assignment.partition);
    const log = ends.get(place);
    return log === undefined
      ? []
      : [{ assignment, start: log.low, end: readableEnd(log), committed: committed.get(place)?.offset ?? null }];
  });
}

/** The range that the log lacks at an offset of a partition that is read, or null if the partition can go on. */
export async function missingAt(
  brokers: Pick<BrokerQuestions, "ends">,
  assignment: PartitionAssignment,
  offset: bigint | null,
): Promise<LostRange | null> {
  const { topic, partition } = assignment;
  const log = (await brokers.ends([topic])).get(placeOf(topic, partition));
  return log === undefined || offset === null ? null : lostRangeAt(assignment, { offset, topicId: null }, log);
}
