import { helpUrlOf } from "./help-url.ts";

/** Every way in which the handler itself can fail. A code is written here and nowhere else. */
export type LambdaErrorCode =
  /** An option has a value that it cannot have. */
  | "invalid-option"
  /** A pattern or a set of handlers that contradicts itself or another one. */
  | "invalid-handler"
  /** What Lambda handed over is no event of Kafka, as when the function has another trigger, or a record is not as Lambda writes it. */
  | "invalid-event"
  /** `strict` is set, and no handler takes an event. */
  | "unhandled-event"
  /** Records failed, and the option `failure` is `"throw"`. The first failure is the cause, or an error that says that time ran out. */
  | "batch-failed";

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/lambda/LambdaError");

/** A handler that was set up wrongly, or that got what it cannot handle. The message never holds bytes of a record. */
export class LambdaError extends Error {
  override readonly name = "LambdaError";
  /** What happened, for programs. The page at `helpUrl` explains it. */
  readonly code: LambdaErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;

  constructor(code: LambdaErrorCode, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message. */
  toJSON(): object {
    const { name, code, message, helpUrl } = this;
    return { name, code, message, helpUrl };
  }
}

/** Whether a value is a {@link LambdaError}, also one of another copy of this package. */
export function isLambdaError(value: unknown): value is LambdaError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}
