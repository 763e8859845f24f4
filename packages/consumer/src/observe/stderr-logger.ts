import type { Logger } from "./logger.ts";

export interface StderrLoggerParts {
  /** Takes one line, with its line end. */
  readonly write: (line: string) => void;
  readonly wallMs: () => number;
  readonly pid: number;
  readonly hostname: string;
}

/** pino's numbers. */
const levels = { warn: 40, error: 50 } as const;

/** The logger that is used if none was given. It writes warnings and errors, one line each, in the format of pino. */
export function stderrLogger({ write, wallMs, pid, hostname }: StderrLoggerParts): Logger {
  const log =
    (level: number) =>
    (fields: Readonly<Record<string, unknown>>, msg: string): void => {
      write(`${lineOf({ level, time: wallMs(), pid, hostname, ...fields, msg })}\n`);
    };
  return Object.freeze({ debug: ignore, info: ignore, warn: log(levels.warn), error: log(levels.error) });
}

function ignore(): void {}

/** A line is written whatever its fields are: JSON has no bigint, and an object of a client may refer to itself. */
function lineOf({ msg, ...fields }: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify({ ...fields, msg }, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  } catch {
    const { level, time, pid, hostname } = fields;
    return JSON.stringify({ level, time, pid, hostname, msg });
  }
}
