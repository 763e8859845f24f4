import type { Logger } from "@cdckit/consumer";

/**
 * The logger. What it throws or rejects with goes no further: the answer to Lambda would be lost, and the records of all partitions would come
 * again.
 */
export function guardedLogger(logger: Logger): Logger {
  const guarded =
    (level: keyof Logger): Logger["info"] =>
    (fields, message) => {
      const { err: _, ...readable } = fields;
      for (const given of [fields, readable]) {
        try {
          // A logger of JavaScript may be async, whatever its type says.
          void Promise.resolve(logger[level](given, message) as unknown).catch(ignore);
          return;
        } catch {
          // pino throws if the error cannot be read, and a handler may throw anything: its record is logged without it.
        }
      }
    };
  return Object.freeze({ debug: guarded("debug"), info: guarded("info"), warn: guarded("warn"), error: guarded("error") });
}

function ignore(): void {}
