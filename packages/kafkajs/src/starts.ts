import type { LostRange, OffsetCommit, PartitionAssignment, Subscription } from "@cdckit/consumer";
import { type LogScout, placeOf } from "./log-scout.ts";
import { goesOnAt, lostRangeAt } from "./lost-range.ts";

export interface Start extends OffsetCommit {
  /** The group's commit, where there is one. */
  readonly committed: bigint | null;
  /** What retention has taken in front of it, where it goes on all the same. */
  readonly passedOver: LostRange | null;
}

/** Where each partition starts, or the first that cannot: what is to be read there is not in the log. */
export interface Starts {
  readonly starts: readonly Start[];
  readonly lost: LostRange | null;
}

/**
 * Decides where partitions start: where `startAt` says, or else at the group's commit, or else where `from` says. kafkajs would decide by
 * itself, and answer an offset that is out of range with the start or the end of the log, without a word.
 */
export async function resolveStarts(
  scout: LogScout,
  { groupId, from, startAt, lostRange }: Subscription,
  assignments: readonly PartitionAssignment[],
): Promise<Starts> {
  const topics = [...new Set(assignments.map(({ topic }) => topic))];
  const given = new Map((await startAt?.(assignments))?.map(({ assignment, offset }) => [assignment, offset]));
  const [committed, ends] = await Promise.all([scout.committed(groupId, topics), scout.ends(topics)]);
  const starts: Start[] = [];
  for (const assignment of assignments) {
    const place = placeOf(assignment.topic, assignment.partition);
    const log = ends.get(place);
    const commit = committed.get(place) ?? null;
    const offset = given.get(assignment) ?? commit ?? (from === "earliest" ? log?.low : log?.high);
    const lost = log === undefined || offset === undefined ? null : lostRangeAt(assignment, offset, log);
    const position = lost === null ? (offset ?? 0n) : goesOnAt(lost, lostRange);
    if (position === null) {
      return { starts: [], lost };
    }
    starts.push({ assignment, offset: position, committed: commit, passedOver: lost });
  }
  return { starts, lost: null };
}
