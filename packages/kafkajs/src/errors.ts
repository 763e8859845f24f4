import type { LostRange } from "@cdckit/consumer";

/** Every way in which the driver can fail. A code is written here and nowhere else. */
export type KafkaJsDriverErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** The package kafkajs is not installed. */
  | "kafkajs-missing"
  /** No broker answered. */
  | "brokers-unreachable"
  /** The listener speaks another protocol than the one that was tried: TLS or plain, HTTP. */
  | "protocol-mismatch"
  /** A broker refused the user or the certificate, or its own certificate is not trusted. */
  | "authentication-failed"
  /** The user may not do this. */
  | "not-authorized"
  /** A topic of the subscription does not exist, or no topic matches it. */
  | "topic-missing"
  /** Members of the group subscribe to different topics, and some partitions are read by nobody. */
  | "subscriptions-differ"
  /** The log does not have the group's next offset: records that nobody has handled are gone. See `lost`. */
  | "offset-out-of-range"
  /** The topic was deleted and created again, and the next offset is one of the old topic. See `lost`. */
  | "topic-recreated"
  /** Records could not be written. Whether some of them were is not known. */
  | "send-failed"
  /** A transaction failed. Nothing of it is visible, unless the message says that this is not known. */
  | "transaction-failed"
  /** Another member holds the partition, or has written and committed meanwhile. Nothing was written. */
  | "fenced"
  /** A compressed batch is damaged, or larger than it may be. */
  | "batch-unreadable"
  /** kafkajs gave up. Its error is the cause. */
  | "client-crashed";

export interface KafkaJsDriverErrorOptions {
  readonly cause?: unknown;
  /** With `offset-out-of-range` and `topic-recreated`: what is missing. */
  readonly lost?: LostRange;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/kafkajs/KafkaJsDriverError");

/** A client that cannot connect, or cannot go on. The message says what is wrong and what to check. It never holds credentials. */
export class KafkaJsDriverError extends Error {
  override readonly name = "KafkaJsDriverError";
  readonly code: KafkaJsDriverErrorCode;
  /** With `offset-out-of-range` and `topic-recreated`: what is missing. */
  readonly lost: LostRange | null;
  /** kafkajs reads this. A retry would fail in the same way. */
  readonly retriable = false;

  constructor(code: KafkaJsDriverErrorCode, detail: string, options: KafkaJsDriverErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.lost = options.lost ?? null;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message, and the lost range with offsets as text. */
  toJSON(): object {
    const { name, code, message, lost } = this;
    const texts = lost === null ? null : Object.fromEntries(Object.entries(lost).map(([member, value]) => [member, jsonValue(value)]));
    return { name, code, message, lost: texts };
  }
}

/** Whether a value is a {@link KafkaJsDriverError}, also one of another copy of this package. */
export function isKafkaJsDriverError(value: unknown): value is KafkaJsDriverError {
  return value instanceof Error && brand in value;
}

function jsonValue(value: string | number | bigint): string | number {
  return typeof value === "bigint" ? String(value) : value;
}
