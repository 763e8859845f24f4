import type { LostRange, LostRangePolicy } from "@cdckit/consumer";
import type { MemoryBroker } from "./memory-broker.ts";
import { helpUrlOf } from "./help-url.ts";

/** Every way in which the broker in memory refuses a client. A code is written here and nowhere else. */
export type MemoryBrokerErrorCode =
  /** A topic of the subscription does not exist, or no topic matches it. */
  | "topic-missing"
  /** What was to be read next is not in the log: see `lost`. */
  | "offset-out-of-range"
  /** The topic was deleted and created again, and the position is of the old one: see `lost`. */
  | "topic-recreated"
  /** The group has gone on without this member: what it held is another's. */
  | "fenced"
  /** A fault that the test asked for: nothing was done. */
  | "fault"
  /** A fault that the test asked for: it was done, and the answer did not come. */
  | "answer-lost"
  /** Nobody waits for the connection any more. */
  | "aborted";

/** What a client of the broker in memory is told. */
export class MemoryBrokerError extends Error {
  override readonly name = "MemoryBrokerError";
  /** What a real broker would say, in the words of the drivers' codes. */
  readonly code: MemoryBrokerErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** With `offset-out-of-range` and `topic-recreated`: what is gone. */
  readonly lost: LostRange | null;

  constructor(code: MemoryBrokerErrorCode, detail: string, lost: LostRange | null = null) {
    super(`[${code}] ${detail}`);
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.lost = lost;
  }

  /** Its name, code and message, and what is lost, offsets as text. */
  toJSON(): object {
    const { name, code, message, helpUrl, lost } = this;
    const texts = lost === null ? null : Object.fromEntries(Object.entries(lost).map(([member, value]) => [member, jsonValue(value)]));
    return { name, code, message, helpUrl, lost: texts };
  }
}

/** The error of a position that the log does not have. */
export function lostRangeError(lost: LostRange): MemoryBrokerError {
  const { topic, partition, firstMissing, firstAvailable, end, recreated } = lost;
  if (recreated !== undefined) {
    const ids = `was deleted and created again (id ${recreated.from}, now ${recreated.to})`;
    return new MemoryBrokerError(
      "topic-recreated",
      `${topic}[${partition}]: the topic ${ids}, and ${firstMissing} is an offset of the old one`,
      lost,
    );
  }
  const what =
    firstMissing < firstAvailable
      ? `the records from ${firstMissing} to ${firstAvailable - 1n} are gone`
      : `the log ends at ${end}, before offset ${firstMissing}: the log was truncated`;
  return new MemoryBrokerError("offset-out-of-range", `${topic}[${partition}]: ${what}`, lost);
}

/**
 * The offset at which a partition goes on all the same, or null if it must not: the subscription does not ask for it, or the log was truncated before the position. No
 * range can be told that was lost then, and checkpoints speak of records that are not there any more.
 */
export function resumeOffset({ firstMissing, firstAvailable, end, recreated }: LostRange, policy: LostRangePolicy = "halt"): bigint | null {
  if (policy === "halt" || (recreated === undefined && firstMissing > firstAvailable)) {
    return null;
  }
  return policy === "earliest" ? firstAvailable : end;
}

/** An offset, and the id of the topic that it is of, if that is known. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly topicId?: string | null | undefined;
}

/** What the log lacks at a position, or null. */
export function lostRangeAt(broker: MemoryBroker, { topic, partition, offset, topicId = null }: Position): LostRange | null {
  const { start, end: logEnd, stableEnd: end } = broker.log(topic, partition);
  const current = broker.topicId(topic);
  if (topicId !== null && topicId !== current) {
    return { topic, partition, firstMissing: offset, firstAvailable: start, end, recreated: { from: topicId, to: current } };
  }
  return offset >= start && offset <= logEnd ? null : { topic, partition, firstMissing: offset, firstAvailable: start, end };
}

function jsonValue(value: string | number | bigint): string | number {
  return typeof value === "bigint" ? String(value) : value;
}
