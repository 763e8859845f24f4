import type { LostRange } from "@cdckit/consumer";
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

/** The error of a position that the log does not have. */
export function lostRangeError(lost: LostRange, groupId: string): KafkaJsDriverError {
  const { topic, partition, firstMissing, firstAvailable, end } = lost;
  const what =
    firstMissing < firstAvailable
      ? `the records from ${firstMissing} to ${firstAvailable - 1n} are gone, and group ${groupId} has not handled them`
      : `the log ends at ${end}, before offset ${firstMissing} where group ${groupId} goes on: the topic was made anew or truncated`;
  return new KafkaJsDriverError(
    "offset-out-of-range",
    `${topic}[${partition}]: ${what}. Decide where to go on, and set the group's offset (kafka-consumer-groups --reset-offsets)`,
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
