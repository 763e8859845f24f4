import { isRecordBatchError } from "@cdckit/record-batch";
import { DriverError, type DriverErrorCode, type DriverErrorOptions, isDriverErrorNamed, type MakeDriverError } from "@cdckit/driver";

/** Every way in which the driver can fail: those of all drivers, and those of this client. */
export type KafkaJsDriverErrorCode =
  | DriverErrorCode
  /** The package kafkajs is not installed. */
  | "kafkajs-missing"
  /** Members of the group subscribe to different topics, and some partitions are read by nobody. */
  | "subscriptions-differ"
  /** A compressed batch is damaged, or larger than it may be. */
  | "batch-unreadable"
  /** kafkajs gave up. Its error is the cause. */
  | "client-crashed";

/** What a {@link KafkaJsDriverError} carries beside its code and its message. */
export type KafkaJsDriverErrorOptions = DriverErrorOptions;

const name = "KafkaJsDriverError" as const;

/** A client that cannot connect, or cannot go on. The message says what is wrong and what to check. It never holds credentials. */
export class KafkaJsDriverError extends DriverError<KafkaJsDriverErrorCode> {
  override readonly name: typeof name = name;
  /** kafkajs reads this. A retry would fail in the same way. */
  readonly retriable = false;
}

export const makeError: MakeDriverError = (code, detail, options) => new KafkaJsDriverError(code, detail, options);

/** A record batch that cannot be read. Its own error is the cause. */
export function unreadable(error: unknown): Error {
  return isRecordBatchError(error)
    ? new KafkaJsDriverError("batch-unreadable", error.message.replace(/^\[[a-z-]+\] /, ""), { cause: error })
    : (error as Error);
}

/** Whether a value is a {@link KafkaJsDriverError}, also one of another copy of this package. */
export function isKafkaJsDriverError(value: unknown): value is KafkaJsDriverError {
  return isDriverErrorNamed(value, name);
}

/** Why sockets and joins end when the driver is closed. */
export const driverClosed = "the driver was closed";
