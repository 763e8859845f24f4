import { helpUrlOf } from "./help-url.ts";

/** Every way in which a recording cannot be read. */
export type RecordingErrorCode =
  /** The file is missing, a folder, not ours to read, or its gzip stream is broken. */
  | "unreadable"
  /** A line is not a record. */
  | "malformed-line";

/** What a {@link RecordingError} carries beside its code, its file and its message. */
export interface RecordingErrorOptions {
  /** The error that led to this one; absent if there was none. */
  readonly cause?: unknown;
  /** The line, counted from 1; absent if it is about the file as a whole. */
  readonly line?: number;
}

// Shared through the global symbol registry, so that an error thrown by a second copy of this package still matches.
const brand = Symbol.for("@cdckit/testkit/RecordingError");

/** A recording that could not be read. The message names the file and the line, never what the line holds. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  /** What is wrong, for programs. The page at `helpUrl` explains it. */
  readonly code: RecordingErrorCode;
  /** The page about this code: what happened, why, and what to do. */
  readonly helpUrl: string;
  /** The message without its code. */
  readonly detail: string;
  /** The path of the recording, as it was given. */
  readonly file: string;
  /** Counted from 1; absent if the file as a whole cannot be read. */
  readonly line: number | undefined;

  constructor(code: RecordingErrorCode, file: string, detail: string, options: RecordingErrorOptions = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.helpUrl = helpUrlOf(code);
    this.detail = detail;
    this.file = file;
    this.line = options.line;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Its name, code and message, and its place in the file. */
  toJSON(): object {
    const { name, code, message, helpUrl, file, line } = this;
    return { name, code, message, helpUrl, file, line };
  }
}

/** Whether a value is a {@link RecordingError}, also one of another copy of this package. */
export function isRecordingError(value: unknown): value is RecordingError {
  return value instanceof Error && brand in value;
}
