import { createRequire } from "node:module";
import type { Logger } from "@cdckit/consumer";
import type { Bindings } from "pino";
import { printable } from "../report/text-width.ts";
import { hasColors } from "../report/text-style.ts";
import { textWithoutLogins } from "../report/without-logins.ts";
import type { Terminal } from "../terminal.ts";

/** pino's levels: a level shows itself and what is worse. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof logLevels)[number];

const methods = ["debug", "info", "warn", "error"] as const;

const secretNames = [
  "password",
  "passphrase",
  "secret",
  "token",
  "authorization",
  "credentials",
  "apiKey",
  "sasl",
  "ssl",
  "auth",
  "key",
  "value",
];
/** Fields of a line, and fields of what is in them: no line of ours is deeper. */
const secretPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

const require = createRequire(import.meta.url);

/**
 * The logger of a command: pino, on stderr. Lines of JSON for programs; on a terminal, lines for people, above the live view. pino is loaded
 * with the first line that is written, because most commands write none.
 * @param levelOf asked for each line, since flags are read after the logger is made
 */
export function createLogger(terminal: Pick<Terminal, "stderr" | "env" | "liveLine">, levelOf: () => LogLevel): Logger {
  let opened: Logger | undefined;
  const write = (method: (typeof methods)[number], fields: Readonly<Record<string, unknown>>, message: string): void => {
    const level = levelOf();
    if (logLevels.indexOf(method) >= logLevels.indexOf(level)) {
      opened ??= openPino(terminal, level);
      opened[method](fields, message);
    }
  };
  return {
    debug: (fields, message) => write("debug", fields, message),
    info: (fields, message) => write("info", fields, message),
    warn: (fields, message) => write("warn", fields, message),
    error: (fields, message) => write("error", fields, message),
  };
}

function openPino({ stderr, env, liveLine }: Pick<Terminal, "stderr" | "env" | "liveLine">, level: LogLevel): Logger {
  const { pino } = require("pino") as typeof import("pino");
  const format = liveLine ? prettyFormat(env) : (line: string): string => line;
  return pino(
    {
      name: "cdc-bench",
      level,
      redact: { paths: secretPaths, censor: "[redacted]" },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map((arg: unknown) => (typeof arg === "string" ? clean(arg) : arg)) as typeof args);
        },
      },
      formatters: { log: (fields) => cleanFields(fields) },
    },
    // In the same moment: nothing waits in a stream of its own when the process ends.
    { write: (line: string) => void stderr.write(format(line)) },
  );
}

function prettyFormat(env: Terminal["env"]): (line: string) => string {
  const { prettyFactory } = require("pino-pretty") as typeof import("pino-pretty");
  return prettyFactory({ colorize: hasColors(env, true), ignore: "pid,hostname,name", translateTime: "SYS:HH:MM:ss.l" });
}

/** Text of servers and of users, without what moves the cursor and without what logs in at an address. */
function clean(text: string): string {
  return printable(textWithoutLogins(text));
}

function cleanFields(fields: Bindings): Bindings {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? clean(value) : value]));
}
