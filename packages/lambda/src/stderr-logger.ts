import process from "node:process";
import { types } from "node:util";
import type { Logger } from "@cdckit/consumer";

/** pino's numbers. */
const levels = { warn: 40, error: 50 } as const;

/** How many causes of an error are written, the cause of its cause included. */
const maxCauses = 8;

/** The logger that is used if none was given: warnings and errors, one line each, in the format of pino. */
export const stderrLogger: Logger = Object.freeze({
  debug: ignore,
  info: ignore,
  warn: (fields: Readonly<Record<string, unknown>>, msg: string) => write(levels.warn, fields, msg),
  error: (fields: Readonly<Record<string, unknown>>, msg: string) => write(levels.error, fields, msg),
});

/** Logs nothing. */
export const silentLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore });

function ignore(): void {}

function write(level: number, fields: Readonly<Record<string, unknown>>, msg: string): void {
  process.stderr.write(`${lineOf({ level, time: Date.now() }, fields, msg)}\n`);
}

/** A line is written whatever its fields are: an error of a handler may have members that refer to themselves, or that throw. */
function lineOf(head: object, fields: Readonly<Record<string, unknown>>, msg: string): string {
  const { err, ...rest } = fields;
  try {
    // A handler may throw undefined: without the member, the line would give no reason at all.
    return JSON.stringify({ ...head, ...rest, ...("err" in fields ? { err: errorForm(err, maxCauses) } : {}), msg });
  } catch {
    return JSON.stringify({ ...head, ...rest, msg });
  }
}

/** What pino writes of an error, with its causes. A chain of causes may lead back to its beginning, so that it is cut. */
function errorForm(error: unknown, causesLeft: number): unknown {
  if (!(error instanceof Error || types.isNativeError(error))) {
    return String(error); // errors of another realm, as Node's are in Jest, are errors, too
  }
  const { name, message, stack, cause } = error;
  const isLast = cause === undefined || causesLeft === 0;
  return { type: name, message, stack, ...(isLast ? {} : { cause: errorForm(cause, causesLeft - 1) }) };
}
