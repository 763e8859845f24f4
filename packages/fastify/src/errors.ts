import { helpUrlOf } from "./help-url.ts";

/** Every way in which the plugin itself can fail. A code is written here and nowhere else. */
export type FastifyCdcErrorCode =
  /** An option has a value that it cannot have. */
  "invalid-option";

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/fastify/FastifyCdcError");

/** A plugin that was registered with wrong options. */
export class FastifyCdcError extends Error {
  override readonly name = "FastifyCdcError";
  /** What is wrong, for programs. The page at `helpUrl` explains it. */
  readonly code: FastifyCdcErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;

  constructor(code: FastifyCdcErrorCode, detail: string) {
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

/** Whether a value is a {@link FastifyCdcError}, also one of another copy of this package. */
export function isFastifyCdcError(value: unknown): value is FastifyCdcError {
  try {
    return value instanceof Error && brand in value;
  } catch {
    return false; // a proxy whose traps throw
  }
}
