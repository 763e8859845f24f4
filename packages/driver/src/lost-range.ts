import type { LostRange, LostRangePolicy, RecreatedTopic, Subscription } from "@cdckit/consumer";
import type { DriverError, MakeDriverError } from "./errors.ts";
import type { Landmark } from "./landmarks.ts";
import type { Place } from "./place.ts";

/** The ends of a log at this moment. */
export interface LogEnds {
  /** The offset of the first record that is there. */
  readonly low: bigint;
  /** The offset after the last record. */
  readonly high: bigint;
  /** The last stable offset: the end of what is committed, before the first open transaction. Absent if `high` is it. */
  readonly stable?: bigint;
}

/**
 * The end of what can be read now. A partition that starts at its end starts here, as with Java's client: records of a transaction that is open
 * come after it, and must be read when they are committed. Retention may have taken the beginning of that transaction.
 */
export function readableEnd({ low, high, stable = high }: LogEnds): bigint {
  return stable < low ? low : stable;
}

/** An offset, and the id of its topic if that is known. */
export interface Position {
  /** The next offset to read. */
  readonly offset: bigint;
  /** The id of the topic in which it was reached; null if it is not known. */
  readonly topicId: string | null;
  /** A record before it, if no id is known. */
  readonly landmark?: Landmark | null;
  /** The leader epoch of the record before it; null or absent if it is not known. */
  readonly leaderEpoch?: number | null;
}

/** A partition, and the id that its topic has now, if that is known. */
export interface IdentifiedPlace extends Place {
  /** The id of the topic; null or absent if it is not known. */
  readonly topicId?: string | null;
}

/** Whether a position belongs to an earlier topic of this name. If one of the two ids is not known, the topics count as the same. */
export function isOfAnotherTopic(position: Pick<Position, "topicId">, { topicId = null }: Pick<IdentifiedPlace, "topicId">): boolean {
  return position.topicId !== null && topicId !== null && position.topicId !== topicId;
}

/** The range that is missing at a position, or null if the position can be read or is the end of the log. */
export function lostRangeAt(place: IdentifiedPlace, position: Position, log: LogEnds): LostRange | null {
  const { low, high } = log;
  const { topic, partition, topicId = null } = place;
  const { offset } = position;
  if (isOfAnotherTopic(position, place)) {
    const recreated = { from: position.topicId, to: topicId };
    return { topic, partition, firstMissing: offset, firstAvailable: low, end: readableEnd(log), recreated };
  }
  // Not compared with the readable end: a client that reads uncommitted records may have committed a position within an open transaction.
  return offset >= low && offset <= high
    ? null
    : { topic, partition, firstMissing: offset, firstAvailable: low, end: offset > high ? high : readableEnd(log) };
}

/**
 * The offset at which a partition resumes after a lost range, or null if it must not resume. It must not if the policy is "halt". Neither may it
 * if the log ends before the position, unless the topic id shows a new topic: then the lost range is not known, and checkpoints may point to
 * records that never existed in this log.
 */
export function resumeOffset({ firstMissing, firstAvailable, end, recreated }: LostRange, policy: LostRangePolicy = "halt"): bigint | null {
  const isKnown = recreated === undefined ? firstMissing <= firstAvailable : recreated.to !== null;
  if (policy === "halt" || !isKnown) {
    return null;
  }
  return policy === "earliest" ? firstAvailable : end;
}

/**
 * The driver's error for a position that the log does not have. `keptBy`: what has given the position. A sink's checkpoint takes precedence
 * over the group's offset.
 */
export function lostRangeError(
  makeError: MakeDriverError,
  lost: LostRange,
  groupId: string,
  keptBy: "group" | "sink" = "group",
): DriverError<string> {
  const { topic, partition, firstMissing, firstAvailable, end, recreated } = lost;
  if (recreated !== undefined) {
    return recreatedError(makeError, lost, groupId, recreated);
  }
  const what =
    firstMissing < firstAvailable
      ? `the records from ${firstMissing} to ${firstAvailable - 1n} are gone, and group ${groupId} has not handled them`
      : `the log ends at ${end}, before offset ${firstMissing} at which group ${groupId} continues: it was truncated, or the topic was deleted and created again`;
  const choice = firstMissing < firstAvailable ? '; with failure.lostRange "earliest" the consumer continues after the lost records' : "";
  return makeError("offset-out-of-range", `${topic}[${partition}]: ${what}. Decide where to continue, and set ${advice[keptBy]}${choice}`, {
    lost,
  });
}

/**
 * Where a partition that is read goes on after a lost range. Null if it must not: then `fail` was called with the reason, and the session is over.
 */
export function resumeOrFail(
  lost: LostRange,
  { groupId, lostRange, startAt }: Pick<Subscription, "groupId" | "lostRange" | "startAt">,
  makeError: MakeDriverError,
  fail: (error: Error) => void,
): bigint | null {
  const offset = resumeOffset(lost, lostRange);
  if (offset === null) {
    fail(lostRangeError(makeError, lost, groupId, startAt === undefined ? "group" : "sink"));
  }
  return offset;
}

const advice = {
  group: "the group's offset (kafka-consumer-groups --reset-offsets)",
  sink: "the sink's checkpoint, because the partition starts there whatever the group's offset is (in PostgreSQL: next_offset in cdckit_checkpoints)",
} as const;

/** The error for a recreated topic. */
function recreatedError(makeError: MakeDriverError, lost: LostRange, groupId: string, { from, to }: RecreatedTopic): DriverError<string> {
  const { topic, partition, firstMissing } = lost;
  const ids = to === null ? "" : ` (its id was ${from}, and is ${to})`;
  // Without topic ids the consumer halts whatever `lostRange` is, so the message must not advise to set it.
  const choice =
    to === null
      ? ""
      : 'With failure.lostRange "earliest" the consumer reads the new topic from its start. If the commit was copied from another cluster, as MirrorMaker does it, ' +
        "commit it again without its metadata (kafka-consumer-groups --reset-offsets --to-current). ";
  return makeError(
    "topic-recreated",
    `${topic}[${partition}]: the topic was deleted and created again${ids}, and offset ${firstMissing}, the position of group ${groupId} or of one of its sinks, is one of the old topic. ${choice}To decide by hand, set the group's offset (kafka-consumer-groups --reset-offsets), and delete the sink's checkpoint of the topic`,
    { lost },
  );
}
