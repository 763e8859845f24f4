import type { LostRange, LostRangePolicy } from "@cdckit/consumer";
import { KafkaJsDriverError } from "./errors.ts";

/** What the log has at this moment. */
export interface LogEnds {
  readonly low: bigint;
  readonly high: bigint;
}

/** What is missing at an offset, or null where it can be read, or is the end. */
export function lostRangeAt(
  place: { readonly topic: string; readonly partition: number },
  offset: bigint,
  { low, high }: LogEnds,
): LostRange | null {
  const { topic, partition } = place;
  return offset >= low && offset <= high ? null : { topic, partition, firstMissing: offset, firstAvailable: low, end: high };
}

/**
 * Where a partition goes on all the same, or null where it must not: nobody has chosen to, or the log ends before the position. The topic
 * was truncated or made anew then: no range can be told that was lost, and checkpoints speak of records that are not there any more.
 */
export function goesOnAt({ firstMissing, firstAvailable, end }: LostRange, policy: LostRangePolicy = "halt"): bigint | null {
  if (policy === "halt" || firstMissing > firstAvailable) {
    return null;
  }
  return policy === "earliest" ? firstAvailable : end;
}

/** The error of a position that the log does not have. */
export function lostRangeError(lost: LostRange, groupId: string): KafkaJsDriverError {
  const { topic, partition, firstMissing, firstAvailable, end } = lost;
  const what =
    firstMissing < firstAvailable
      ? `the records from ${firstMissing} to ${firstAvailable - 1n} are gone, and group ${groupId} has not handled them`
      : `the log ends at ${end}, before offset ${firstMissing} where group ${groupId} goes on: the topic was made anew or truncated`;
  const choice = firstMissing < firstAvailable ? '; failure.lostRange "earliest" goes on behind what is gone' : "";
  return new KafkaJsDriverError(
    "offset-out-of-range",
    `${topic}[${partition}]: ${what}. Decide where to go on, and set the group's offset (kafka-consumer-groups --reset-offsets)${choice}`,
    { lost },
  );
}

/** The error of a topic that is another one under the same name. */
export function madeAnewError(lost: LostRange, groupId: string): KafkaJsDriverError {
  const { topic, partition, firstMissing } = lost;
  return new KafkaJsDriverError(
    "offset-out-of-range",
    `${topic}[${partition}]: the topic was deleted and made anew, and its offsets mean something else than the ${firstMissing} where group ${groupId} goes on. Decide where to go on, and start again`,
    { lost },
  );
}
