import type { LostRange, LostRangePolicy, RecreatedTopic } from "@cdckit/consumer";
import { KafkaJsDriverError } from "./errors.ts";
import type { Landmark } from "./landmarks.ts";

/** What the log has at this moment. */
export interface LogEnds {
  readonly low: bigint;
  readonly high: bigint;
}

/** An offset, and the id of the topic that it is of, if that is known. */
export interface Position {
  readonly offset: bigint;
  readonly topicId: string | null;
  /** A record before it, if no id is known. */
  readonly landmark?: Landmark | null;
}

/** A partition, and the id that its topic has now, if that is known. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly topicId?: string | null;
}

/** Whether a position is of a topic that had this name before. What is not known of either is taken for the same. */
export function isOfAnotherTopic(position: Pick<Position, "topicId">, { topicId = null }: Pick<Place, "topicId">): boolean {
  return position.topicId !== null && topicId !== null && position.topicId !== topicId;
}

/** What is missing at a position, or null where it can be read, or is the end. */
export function lostRangeAt(place: Place, position: Position, { low, high }: LogEnds): LostRange | null {
  const { topic, partition, topicId = null } = place;
  const { offset } = position;
  if (isOfAnotherTopic(position, place)) {
    const recreated = { from: position.topicId, to: topicId };
    return { topic, partition, firstMissing: offset, firstAvailable: low, end: high, recreated };
  }
  return offset >= low && offset <= high ? null : { topic, partition, firstMissing: offset, firstAvailable: low, end: high };
}

/**
 * Where a partition goes on all the same, or null where it must not: nobody has chosen to; or the log ends before the position, and no
 * topic id tells that it is a new one: no range can be told that was lost then, and checkpoints speak of records that are not there any more.
 */
export function resumeOffset({ firstMissing, firstAvailable, end, recreated }: LostRange, policy: LostRangePolicy = "halt"): bigint | null {
  const isKnown = recreated === undefined ? firstMissing <= firstAvailable : recreated.to !== null;
  if (policy === "halt" || !isKnown) {
    return null;
  }
  return policy === "earliest" ? firstAvailable : end;
}

/**
 * The error of a position that the log does not have. `keptBy`: who says where the partition starts; a sink's word counts more than the
 * group's offset.
 */
export function lostRangeError(lost: LostRange, groupId: string, keptBy: "group" | "sink" = "group"): KafkaJsDriverError {
  const { topic, partition, firstMissing, firstAvailable, end, recreated } = lost;
  if (recreated !== undefined) {
    return recreatedError(lost, groupId, recreated);
  }
  const what =
    firstMissing < firstAvailable
      ? `the records from ${firstMissing} to ${firstAvailable - 1n} are gone, and group ${groupId} has not handled them`
      : `the log ends at ${end}, before offset ${firstMissing} where group ${groupId} goes on: it was truncated, or the topic was deleted and created again`;
  const choice = firstMissing < firstAvailable ? '; failure.lostRange "earliest" goes on behind what is gone' : "";
  return new KafkaJsDriverError(
    "offset-out-of-range",
    `${topic}[${partition}]: ${what}. Decide where to go on, and set ${advice[keptBy]}${choice}`,
    { lost },
  );
}

const advice = {
  group: "the group's offset (kafka-consumer-groups --reset-offsets)",
  sink: "the sink's checkpoint, where the partition starts whatever the group's offset is (in PostgreSQL: next_offset in cdckit_checkpoints)",
} as const;

/** The error of a topic that is another one under the same name. */
function recreatedError(lost: LostRange, groupId: string, { from, to }: RecreatedTopic): KafkaJsDriverError {
  const { topic, partition, firstMissing } = lost;
  const ids = to === null ? "" : ` (its id was ${from}, and is ${to})`;
  // Without topic ids the consumer halts whatever `lostRange` says: advice to set it would lead to the same halt.
  const choice = to === null ? "Decide" : 'failure.lostRange "earliest" reads the new topic from its start; to decide';
  return new KafkaJsDriverError(
    "topic-recreated",
    `${topic}[${partition}]: the topic was deleted and created again${ids}, and offset ${firstMissing}, where group ${groupId} or a sink of it goes on, is of the old one. ${choice} by hand where to go on: set the group's offset (kafka-consumer-groups --reset-offsets), and delete the sink's checkpoint of the topic`,
    { lost },
  );
}
