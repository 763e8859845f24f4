import { helpUrlOf } from "./help-url.ts";

/** Every way in which the module itself can fail. A code is written here and nowhere else. */
export type NestCdcErrorCode =
  /** A method with `@CdcHandler` that cannot be called, that the consumer refuses, or that several consumers of the app would call. */
  | "invalid-handler"
  /** What `CdcModule` was given is no way to make the options of a consumer. */
  | "invalid-option";

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/nestjs/NestCdcError");

/** A handler that the module cannot use. */
export class NestCdcError extends Error {
  override readonly name = "NestCdcError";
  /** What is wrong, for programs. The page at `helpUrl` explains it. */
  readonly code: NestCdcErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;

  constructor(code: NestCdcErrorCode, detail: string) {
    super(`[${code}] ${detail}`);
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

/** Whether a value is a {@link NestCdcError}, also one of another copy of this package. */
export function isNestCdcError(value: unknown): value is NestCdcError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}
