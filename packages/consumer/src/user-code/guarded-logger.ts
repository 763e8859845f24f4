import type { Logger } from "../observe/logger.ts";
import type { UserFunctions } from "./user-functions.ts";

/** The logger. What it throws or rejects with goes no further. */
export function guardedLogger(logger: Logger, functions: UserFunctions): Logger {
  const guarded =
    (level: keyof Logger): Logger["info"] =>
    (fields, message) =>
      functions.lookOn("the logger", () => logger[level](fields, message));
  return { debug: guarded("debug"), info: guarded("info"), warn: guarded("warn"), error: guarded("error") };
}
