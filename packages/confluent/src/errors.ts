import { DriverError, type DriverErrorCode, type DriverErrorOptions, isDriverErrorNamed, type MakeDriverError } from "@cdckit/driver";

/** Every way in which the driver can fail: those of all drivers, and those of this client. */
export type ConfluentDriverErrorCode =
  | DriverErrorCode
  /** The package @confluentinc/kafka-javascript is not installed. */
  | "client-missing"
  /** The package is installed, but its native part is missing or does not load on this machine. */
  | "native-part-missing"
  /** A record batch is damaged, or is written in a way that librdkafka does not know. Its error is the cause. */
  | "batch-unreadable"
  /** A commit was refused, or was not answered. */
  | "commit-failed"
  /** librdkafka gave up. Its error is the cause. */
  | "client-crashed";

/** What a {@link ConfluentDriverError} carries beside its code and its message. */
export type ConfluentDriverErrorOptions = DriverErrorOptions;

const name = "ConfluentDriverError" as const;

/** A client that cannot connect, or cannot go on. The message says what is wrong and what to check. It never holds credentials. */
export class ConfluentDriverError extends DriverError<ConfluentDriverErrorCode> {
  override readonly name: typeof name = name;
}

export const makeError: MakeDriverError = (code, detail, options) => new ConfluentDriverError(code, detail, options);

/** Whether a value is a {@link ConfluentDriverError}, also one of another copy of this package. */
export function isConfluentDriverError(value: unknown): value is ConfluentDriverError {
  return isDriverErrorNamed(value, name);
}
