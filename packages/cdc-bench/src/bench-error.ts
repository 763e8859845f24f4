import { exitCodes, type ExitCode } from "./exit-codes.ts";

/** Why a command cannot give its answer. */
export type BenchErrorCode =
  /** A flag, a combination of flags or a file that was named is wrong. */
  | "usage"
  /** A broker or a registry cannot be reached, or refuses. */
  | "connection"
  /** There are no messages, or fewer than were asked for. */
  | "too-few-messages"
  /** There are messages, and none of them can be decoded. */
  | "decode-errors";

const exitCodeByCode: Readonly<Record<BenchErrorCode, ExitCode>> = {
  usage: exitCodes.usage,
  connection: exitCodes.connection,
  "too-few-messages": exitCodes.tooFewMessages,
  "decode-errors": exitCodes.decodeErrors,
};

/** A command's end that the user can do something about: one sentence or two, never a stack trace. */
export class BenchError extends Error {
  override readonly name = "BenchError";
  readonly code: BenchErrorCode;
  /** The message without its code: what the user reads. */
  readonly detail: string;

  constructor(code: BenchErrorCode, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`[${code}] ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = detail;
  }

  get exitCode(): ExitCode {
    return exitCodeByCode[this.code];
  }
}

/** What an error of cdckit says, without its code and its full stop: for a sentence of ours around it. */
export function withoutCode(message: string): string {
  return message.replace(/^\[[a-z-]+\] /, "").replace(/\.$/, "");
}

/** What an error of cdckit says, without its code, as a sentence: some end with a question, and some without a full stop. */
export function sentenceOf(message: string): string {
  const text = withoutCode(message);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
