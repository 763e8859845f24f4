import type { LostRange } from "@cdckit/consumer";
import { helpUrlOf } from "./help-url.ts";

/** How every driver can fail. A driver adds the codes of its client. A code is written once: here, or in that driver. */
export type DriverErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** No broker answered. */
  | "brokers-unreachable"
  /** The listener speaks another protocol than the one that was tried: TLS or plain, HTTP. */
  | "protocol-mismatch"
  /** A broker refused the user or the certificate, its own certificate is not trusted, or a function gave no credential. */
  | "authentication-failed"
  /** The user may not do this. */
  | "not-authorized"
  /** A topic of the subscription does not exist, or no topic matches it. */
  | "topic-missing"
  /** A partition cannot be read or started for now. It is tried again, and `health()` reports this until it succeeds. */
  | "partition-unavailable"
  /** The log does not have the group's next offset: records that nobody has handled are gone. See `lost`. */
  | "offset-out-of-range"
  /** The topic was deleted and created again, and the next offset is one of the old topic. See `lost`. */
  | "topic-recreated"
  /** Records could not be written. Whether some of them were is not known. */
  | "send-failed"
  /** A transaction failed. Nothing of it is visible, unless the message says that this is not known. */
  | "transaction-failed"
  /** Another member holds the partition, or has written and committed meanwhile. Nothing was written. */
  | "fenced";

/** What a {@link DriverError} carries beside its code and its message. */
export interface DriverErrorOptions {
  /** The client's error, whole; absent if there was none. */
  readonly cause?: unknown;
  /** With `offset-out-of-range` and `topic-recreated`: what is missing. */
  readonly lost?: LostRange;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/driver/DriverError");

/**
 * A client that cannot connect, or cannot go on. The message says what is wrong and what to check. It never holds credentials. A driver has a
 * class of its own, which gives it a name.
 */
export class DriverError<Code extends string = DriverErrorCode> extends Error {
  /** What happened, for programs. The page at `helpUrl` explains it. */
  readonly code: Code;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** With `offset-out-of-range` and `topic-recreated`: what is missing. */
  readonly lost: LostRange | null;

  constructor(code: Code, detail: string, options: DriverErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.lost = options.lost ?? null;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message, and the lost range with offsets as text. */
  toJSON(): object {
    const { name, code, message, helpUrl, lost } = this;
    const texts = lost === null ? null : Object.fromEntries(Object.entries(lost).map(([member, value]) => [member, jsonValue(value)]));
    return { name, code, message, helpUrl, lost: texts };
  }
}

/** Makes an error of the driver's own class, whose name and guard its users know. */
export type MakeDriverError = (code: DriverErrorCode, detail: string, options?: DriverErrorOptions) => DriverError<string>;

/** Whether a value is a {@link DriverError} of a driver's class, also one of another copy of this package. */
export function isDriverErrorNamed(value: unknown, name: string): value is DriverError<string> {
  try {
    return value instanceof Error && brand in value && value.name === name;
  } catch {
    return false; // a proxy whose traps throw
  }
}

function jsonValue(value: string | number | bigint | object): string | number | object {
  return typeof value === "bigint" ? String(value) : value;
}
