import { DriverError, type DriverErrorCode, type DriverErrorOptions, isDriverErrorNamed, type MakeDriverError } from "@cdckit/driver";

/** Every way in which the driver can fail: those of all drivers, and those of this client. */
export type PlatformaticDriverErrorCode =
  | DriverErrorCode
  /** The package @platformatic/kafka is not installed, or does not load in this version of Node. */
  | "client-missing"
  /** The brokers do not have the protocol that `groupProtocol` names, or the group is one of the other protocol. */
  | "group-protocol-unsupported"
  /** A commit was refused, or was not answered. */
  | "commit-failed"
  /** A record batch stays unreadable when it is fetched again. The cause says what is wrong with it. */
  | "batch-unreadable"
  /** The brokers, or the client, answered something after which the driver cannot go on. The error is the cause. */
  | "client-crashed";

/** What a {@link PlatformaticDriverError} carries beside its code and its message. */
export type PlatformaticDriverErrorOptions = DriverErrorOptions;

const name = "PlatformaticDriverError" as const;

/** A client that cannot connect, or cannot go on. The message says what is wrong and what to check. It never holds credentials. */
export class PlatformaticDriverError extends DriverError<PlatformaticDriverErrorCode> {
  override readonly name: typeof name = name;
}

export const makeError: MakeDriverError = (code, detail, options) => new PlatformaticDriverError(code, detail, options);

/** Whether a value is a {@link PlatformaticDriverError}, also one of another copy of this package. */
export function isPlatformaticDriverError(value: unknown): value is PlatformaticDriverError {
  return isDriverErrorNamed(value, name);
}
