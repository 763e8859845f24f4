import type { LogRange, LostRange, PartitionAssignment } from "@cdckit/consumer";
import type { BrokerQuestions } from "./broker-questions.ts";
import { type LogEnds, lostRangeAt, readableEnd } from "./lost-range.ts";
import { type Place, placeOf, topicsOf } from "./place.ts";

/** The ends of the logs, and the group's commits. Partitions whose ends are not known are left out. */
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

/** The range that the log lacks at an offset of a partition that is read, or null if the partition can go on. Rejects if that is not known. */
export async function missingAt(
  brokers: Pick<BrokerQuestions, "ends">,
  assignment: PartitionAssignment,
  offset: bigint | null,
): Promise<LostRange | null> {
  if (offset === null) {
    return null;
  }
  const log = endsAt(await brokers.ends([assignment.topic]), assignment);
  return lostRangeAt(assignment, { offset, topicId: null }, log);
}

/** A partition whose ends are not known is asked for again: its position cannot be checked, and a start at 0 would be a guess. */
export function endsAt(ends: ReadonlyMap<string, LogEnds>, { topic, partition }: Place): LogEnds {
  const log = ends.get(placeOf(topic, partition));
  if (log === undefined) {
    throw unknownEndsError({ topic, partition });
  }
  return log;
}

/** No leader has said where the log begins and ends. */
export function unknownEndsError({ topic, partition }: Place): Error {
  return new Error(`no broker knows the ends of ${topic}[${partition}]`);
}
