import type { Logger, LostRange, OffsetCommit, Subscription } from "@cdckit/consumer";
import type { Assignments, HeldPartition, OwnAssignment } from "./assignments.ts";
import type { BrokerQuestions, Tried } from "./broker-questions.ts";
import { unknownEndsError } from "./log-ranges.ts";
import { isOfAnotherTopic, type LogEnds, lostRangeAt, type Position, readableEnd, resumeOffset } from "./lost-range.ts";
import { type Place, placeOf, topicsOf } from "./place.ts";
import { unchangedTopics } from "./unchanged-topics.ts";

/** Where a partition starts, and why there. */
export interface Start extends OffsetCommit {
  /** The partition that starts. */
  readonly assignment: OwnAssignment;
  /** The group's commit, if there is one of this topic. Absent after a move, for which nobody asks the group. */
  readonly committed?: bigint | null;
  /** The leader epoch of the record before the start, if it is known. A fetch that names it is refused if the log was truncated below the start. */
  readonly leaderEpoch?: number | null;
  /** The lost range before the start, if the partition starts after it. */
  readonly skipped: LostRange | null;
}

/** A partition that cannot start, because the log does not have its position. */
export interface LostStart {
  readonly assignment: OwnAssignment;
  readonly lost: LostRange;
  /** What has given the position. */
  readonly keptBy: "group" | "sink";
  /** The group's commit, whatever topic it is of; null if there is none. */
  readonly commit: Position | null;
}

/** What is known of the partitions that are to start. */
export interface FoundStarts {
  readonly starts: readonly Start[];
  /** Why each of the others cannot start yet: nobody leads it, or its topic is away. They are asked for again. */
  readonly unknown: ReadonlyMap<OwnAssignment, Error>;
}

/** What a session knows before it asks. */
export interface KnownBefore<Held extends HeldPartition> {
  /** Where this member was in earlier topics of the same names. */
  readonly assignments: Pick<Assignments<Held>, "readBefore">;
  /** The partitions that there were when the session began, by `placeOf`; null if that is not known. */
  readonly existing: ReadonlySet<string> | null;
}

/**
 * Decides where partitions start. The position of `startAt` comes first, then the group's commit, then `from`. A position in an earlier topic of
 * the same name is a lost range. Kafka deletes the commits of a topic with the topic. So if there is no commit, the position of this member in
 * the earlier topic counts. `tried`: see the questions.
 */
export async function resolveStarts<Held extends HeldPartition>(
  brokers: BrokerQuestions,
  subscription: Subscription,
  assignments: readonly OwnAssignment[],
  { assignments: held, existing }: KnownBefore<Held>,
  tried?: Tried,
): Promise<FoundStarts | LostStart> {
  const { from, startAt } = subscription;
  const topics = topicsOf(assignments);
  const ids = await brokers.topicIds(topics);
  for (const assignment of assignments) {
    assignment.topicId = ids.get(assignment.topic) ?? null;
  }
  const given = new Map((await startAt?.(assignments))?.map((start) => [start.assignment, positionOf(start)]));
  const [committed, resets, ends] = await Promise.all([
    brokers.committed(assignments, tried),
    brokers.resets?.(topics, tried),
    brokers.ends(topics, tried),
  ]);
  const firstOf = await firstOffsets(brokers, from, topics, existing, tried);
  const unchanged = unchangedTopics(topics, ids, await brokers.topicIds(topics));
  const starts: Start[] = [];
  const unknown = new Map<OwnAssignment, Error>();
  for (const assignment of assignments) {
    const place = placeOf(assignment.topic, assignment.partition);
    const commit = committed.get(place) ?? null;
    const ofSink = given.get(assignment) ?? null;
    const before = outdated(held.readBefore(assignment), assignment);
    // A commit in the same earlier topic may be the note of this member that the topic was recreated, at the start of the new one.
    const ofGroup = before !== null && commit?.topicId === before.topicId ? before : commit;
    const known = ofSink ?? ofGroup ?? before ?? (resets?.has(place) === true ? fromTheStart : null) ?? askedFor(from, assignment);
    const start = await startAtPosition(brokers, subscription, { unchanged, ends, firstOf }, { assignment, known, commit, ofSink });
    if (start instanceof Error) {
      unknown.set(assignment, start);
    } else if ("lost" in start) {
      return start;
    } else {
      starts.push(start);
    }
  }
  return { starts, unknown };
}

/**
 * If a topic was recreated between the questions, the old commit would count as a position in the new topic, and what is before it would never be
 * read. So all of them are asked again.
 */
function changedTopicError({ topic }: Place): Error {
  return new Error(`topic ${topic} was deleted or created while its offsets were asked for`);
}

/** At its end, the partition would pass records over. */
function unknownTimeError({ topic, partition }: Place): Error {
  return new Error(`no broker knows the first record of the time in ${topic}[${partition}]`);
}

/** What the brokers have answered about all partitions that are to start. */
interface Answers {
  readonly unchanged: ReadonlySet<string>;
  readonly ends: ReadonlyMap<string, LogEnds>;
  readonly firstOf: (place: string, log: LogEnds) => bigint | null;
}

interface Found {
  readonly assignment: OwnAssignment;
  readonly known: Position | null;
  readonly commit: Position | null;
  readonly ofSink: Position | null;
}

/** The start at a position, or after what the log lacks there; the lost range if the partition must not start; an error if nobody knows. */
async function startAtPosition(
  brokers: BrokerQuestions,
  { lostRange, logger }: Subscription,
  { unchanged, ends, firstOf }: Answers,
  { assignment, known, commit, ofSink }: Found,
): Promise<Start | LostStart | Error> {
  const place = placeOf(assignment.topic, assignment.partition);
  if (!unchanged.has(assignment.topic)) {
    return changedTopicError(assignment);
  }
  const log = ends.get(place);
  if (log === undefined) {
    return unknownEndsError(assignment);
  }
  const wanted = known?.offset ?? firstOf(place, log);
  if (wanted === null) {
    return unknownTimeError(assignment);
  }
  if (ofSink !== null && commit === null) {
    warnWithoutId(logger, assignment);
  }
  const lost = known === null ? null : await lostAt(brokers, assignment, { ...known, landmark: commit?.landmark ?? null }, log);
  const offset = lost === null ? wanted : resumeOffset(lost, lostRange);
  if (lost !== null && offset === null) {
    return { assignment, lost, keptBy: ofSink === null ? "group" : "sink", commit };
  }
  const committed = commit === null || isOfAnotherTopic(commit, assignment) ? null : commit.offset;
  const leaderEpoch = offset === committed ? (commit?.leaderEpoch ?? null) : null;
  return { assignment, offset: offset ?? wanted, committed, leaderEpoch, skipped: lost };
}

/**
 * The position of a group whose commit the client has replaced. Nobody knows any more what it has handled: without this position, the partition
 * would start at `from`, and records would be lost in silence.
 */
const fromTheStart: Position = Object.freeze({ offset: 0n, topicId: null });

function warnWithoutId(logger: Logger, { topic, partition, topicId }: OwnAssignment): void {
  if (topicId === null) {
    const what = "a sink has a checkpoint, the group has no commit, and the brokers have no topic ids";
    logger.warn({ topic, partition }, `${what}: it cannot be known whether the topic was recreated`);
  }
}

/** The range that is lost at a position. Without topic ids, the landmark of the group's commit must still be at its offset. */
async function lostAt(brokers: BrokerQuestions, assignment: OwnAssignment, position: Position, log: LogEnds): Promise<LostRange | null> {
  const lost = lostRangeAt(assignment, position, log);
  const { landmark = null, offset } = position;
  if (lost !== null || landmark === null || assignment.topicId !== null || landmark.offset < log.low) {
    return lost;
  }
  const { topic, partition } = assignment;
  const recreated = { from: null, to: null };
  return (await brokers.isReplaced?.(topic, partition, landmark)) === true
    ? { topic, partition, firstMissing: offset, firstAvailable: log.low, end: log.high, recreated }
    : null;
}

function positionOf({ offset, topicId = null }: OffsetCommit): Position {
  return { offset, topicId };
}

/**
 * The starts of partitions without any position. A partition without a record of the time or later starts at its end, and a new one, in which
 * nothing is older than the session, at its first record. Null if that is not known.
 */
async function firstOffsets(
  brokers: BrokerQuestions,
  from: Subscription["from"],
  topics: readonly string[],
  existing: ReadonlySet<string> | null,
  tried: Tried | undefined,
): Promise<(place: string, log: LogEnds) => bigint | null> {
  if (from === "latest") {
    return (place, log) => (existing?.has(place) === false ? log.low : readableEnd(log));
  }
  if (typeof from === "object" && "timestamp" in from) {
    const since = await brokers.offsetsAt(topics, from.timestamp, tried);
    return (place, log) => (since.has(place) ? (since.get(place) ?? readableEnd(log)) : null);
  }
  return (_, { low }) => low;
}

/** The offset that the user has given. The log must have it. */
function askedFor(from: Subscription["from"], { topic, partition, topicId }: OwnAssignment): Position | null {
  const offset = typeof from === "object" && "offsets" in from ? from.offsets[topic]?.[partition] : undefined;
  return offset === undefined ? null : { offset, topicId };
}

/** The position, if it is in an earlier topic. In the current topic it is outdated, because another member may have read on since. */
function outdated(position: Position | null, assignment: OwnAssignment): Position | null {
  return position !== null && isOfAnotherTopic(position, assignment) ? position : null;
}
