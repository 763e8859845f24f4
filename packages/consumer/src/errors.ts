import type { RecordCoordinates } from "@cdckit/decode";
import { helpUrlOf } from "./help-url.ts";

/** Every way in which a consumer itself can fail. A code is written here and nowhere else. */
export type ConsumerErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** A sink that has no such methods, or whose name another sink has. */
  | "invalid-sink"
  /** A pattern or a set of handlers that contradicts itself or another one. */
  | "invalid-handler"
  /** A method was called at a time when it cannot work: `run()` twice, `on()` after `run()`. */
  | "wrong-phase"
  /** A handler threw or rejected. The cause is what it threw. */
  | "handler-failed"
  /** A row or a key did not pass the validator of its table. The validator's issues are in the cause. */
  | "invalid-row"
  /** The decoder failed with something other than a `DecodeError`. The cause is what it threw. */
  | "decoder-failed"
  /** The log of a partition ends below what was handled: it was truncated, or its topic was recreated. */
  | "log-truncated"
  /** The address of the registry is no schema registry, or the registry refuses these credentials. */
  | "registry-unusable"
  /** The driver failed with something that is not an `Error`. */
  | "driver-failed"
  /** The driver lacks what the options need. For example, a driver that cannot write cannot write dead letters. */
  | "unsupported-by-driver"
  /** A dead letter could not be written to the dead-letter topic. The cause is what the driver said. */
  | "dead-letter-failed"
  /** A sink could not claim partitions, or could not apply what it was given. The cause is what it said. */
  | "sink-failed"
  /** A tombstone came that may be a delete, and nothing says of which table: of one that a sink takes, or of another one. */
  | "table-unknown"
  /** `strict` is set, and no handler and no sink takes an event. */
  | "unhandled-event"
  /** `seek()` cannot move the partition: another member has it, the log lacks the offset, or a sink keeps a checkpoint of its own. */
  | "seek-refused"
  /** A function of the options failed (`isRetriable`, a clock, `random`, a schema source). The cause is what it threw. */
  | "callback-failed"
  /** So many records failed that single records cannot be to blame. The cause is the last failure. */
  | "failures-systemic"
  /** The deadline of a stop, or a second signal, came before the work in flight was handled. */
  | "work-abandoned"
  /** A worker thread could not be started, threw outside of its consumer, ended before its consumer, or does not answer any more. */
  | "worker-failed";

/** What a {@link ConsumerError} carries beside its code and its message. */
export interface ConsumerErrorOptions {
  /** The error that led to this one, whole; absent if there was none. */
  readonly cause?: unknown;
  /** The record at which it happened; absent if it is about no record. */
  readonly at?: RecordCoordinates;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/consumer/ConsumerError");

/**
 * A consumer that was set up wrongly, or that had to halt. The message says what was expected, what was found and what to do. It never holds
 * bytes of a record. Recognise it with {@link isConsumerError}, not with `instanceof`.
 */
export class ConsumerError extends Error {
  override readonly name = "ConsumerError";
  /** What happened, for programs. The page at `helpUrl` explains it. */
  readonly code: ConsumerErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** The record at which the consumer halted, if it halted at one. */
  readonly at: RecordCoordinates | undefined;

  constructor(code: ConsumerErrorCode, detail: string, options: ConsumerErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.at = options.at;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code, message and place, the offset as text. */
  toJSON(): object {
    const { name, code, message, helpUrl, at } = this;
    return { name, code, message, helpUrl, ...(at === undefined ? {} : { at: { ...at, offset: String(at.offset) } }) };
  }
}

/** Whether a value is a {@link ConsumerError}, of this copy of the package or another one. */
export function isConsumerError(value: unknown): value is ConsumerError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}
