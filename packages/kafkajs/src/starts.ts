import type { Logger, LostRange, OffsetCommit, Subscription } from "@cdckit/consumer";
import type { Assignments, OwnAssignment } from "./assignments.ts";
import { type BrokerOffsets, placeOf } from "./broker-offsets.ts";
import { resumeOffset, isOfAnotherTopic, type LogEnds, lostRangeAt, type Position } from "./lost-range.ts";

export interface Start extends OffsetCommit {
  /** The group's commit, if there is one of this topic. */
  readonly committed: bigint | null;
  /** The lost range before the start, if the partition starts after it. */
  readonly skipped: LostRange | null;
}

/** A partition that cannot start, because the log does not have its position. */
export interface LostStart {
  readonly assignment: OwnAssignment;
  readonly lost: LostRange;
  /** What has given the position. */
  readonly keptBy: "group" | "sink";
}

/**
 * Decides where partitions start. The position of `startAt` comes first, then the group's commit, then `from`. kafkajs itself would silently
 * move an offset that is out of range to the start or the end of the log. A position in an earlier topic of the same name is a lost range. Kafka
 * deletes the commits of a topic with the topic. So if there is no commit, the position of this member in the earlier topic counts.
 */
export async function resolveStarts(
  brokerOffsets: BrokerOffsets,
  { groupId, from, startAt, lostRange, logger }: Subscription,
  assignments: readonly OwnAssignment[],
  held: Pick<Assignments, "readBefore">,
): Promise<readonly Start[] | LostStart> {
  const topics = [...new Set(assignments.map(({ topic }) => topic))];
  const ids = await brokerOffsets.topicIds(topics);
  for (const assignment of assignments) {
    assignment.topicId = ids.get(assignment.topic) ?? null;
  }
  const given = new Map((await startAt?.(assignments))?.map((start) => [start.assignment, positionOf(start)]));
  const [committed, ends] = await Promise.all([brokerOffsets.committed(groupId, topics), brokerOffsets.ends(topics)]);
  const firstOf = await firstOffsets(brokerOffsets, from, topics);
  const starts: Start[] = [];
  for (const assignment of assignments) {
    const place = placeOf(assignment.topic, assignment.partition);
    const log = ends.get(place);
    const commit = committed.get(place) ?? null;
    if (given.has(assignment) && commit === null) {
      warnWithoutId(logger, assignment);
    }
    const known = given.get(assignment) ?? commit ?? outdated(held.readBefore(assignment), assignment) ?? askedFor(from, assignment);
    const lost = known === null ? null : await lostAt(brokerOffsets, assignment, { ...known, landmark: commit?.landmark ?? null }, log);
    let offset = known?.offset ?? firstOf(place, log);
    if (lost !== null) {
      const resumed = resumeOffset(lost, lostRange);
      if (resumed === null) {
        return { assignment, lost, keptBy: given.has(assignment) ? "sink" : "group" };
      }
      offset = resumed;
    }
    const ownCommit = commit === null || isOfAnotherTopic(commit, assignment) ? null : commit.offset;
    starts.push({ assignment, offset, committed: ownCommit, skipped: lost });
  }
  return starts;
}

function warnWithoutId(logger: Logger, { topic, partition, topicId }: OwnAssignment): void {
  if (topicId === null) {
    const what = "a sink has a checkpoint, the group has no commit, and the brokers have no topic ids";
    logger.warn({ topic, partition }, `${what}: it cannot be known whether the topic was recreated`);
  }
}

/** The range that is lost at a position. Without topic ids, the landmark of the group's commit must still be at its offset. */
async function lostAt(
  brokerOffsets: BrokerOffsets,
  assignment: OwnAssignment,
  position: Position,
  log: LogEnds | undefined,
): Promise<LostRange | null> {
  if (log === undefined) {
    return null;
  }
  const lost = lostRangeAt(assignment, position, log);
  const { landmark = null, offset } = position;
  if (lost !== null || landmark === null || assignment.topicId !== null || landmark.offset < log.low) {
    return lost;
  }
  const { topic, partition } = assignment;
  const recreated = { from: null, to: null };
  return (await brokerOffsets.isReplaced(topic, partition, landmark))
    ? { topic, partition, firstMissing: offset, firstAvailable: log.low, end: log.high, recreated }
    : null;
}

function positionOf({ offset, topicId = null }: OffsetCommit): Position {
  return { offset, topicId };
}

/** The starts of partitions without any position. */
async function firstOffsets(
  brokerOffsets: BrokerOffsets,
  from: Subscription["from"],
  topics: readonly string[],
): Promise<(place: string, log: LogEnds | undefined) => bigint> {
  const since = typeof from === "object" && "timestamp" in from ? await brokerOffsets.offsetsAt(topics, from.timestamp) : null;
  return (place, log) => (from === "latest" ? log?.high : (since?.get(place) ?? log?.low)) ?? 0n;
}

/** The offset that the user has given. The log must have it. */
function askedFor(from: Subscription["from"], { topic, partition, topicId }: OwnAssignment): Position | null {
  const offset = typeof from === "object" && "offsets" in from ? from.offsets[topic]?.[partition] : undefined;
  return offset === undefined ? null : { offset, topicId: topicId ?? null };
}

/** The position, if it is in an earlier topic. In the current topic it is outdated, because another member may have read on since. */
function outdated(position: Position | null, assignment: OwnAssignment): Position | null {
  return position !== null && isOfAnotherTopic(position, assignment) ? position : null;
}
