import process from "node:process";
import type { Logger } from "@cdckit/consumer";

/** pino's numbers. */
const levels = { warn: 40, error: 50 } as const;

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
  const { err, ...rest } = fields;
  process.stderr.write(
    `${JSON.stringify({ level, time: Date.now(), ...rest, ...(err === undefined ? {} : { err: errorForm(err) }), msg })}\n`,
  );
}

/** What pino writes of an error, with its causes. */
function errorForm(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { name, message, stack, cause } = error;
  return { type: name, message, stack, ...(cause === undefined ? {} : { cause: errorForm(cause) }) };
}
