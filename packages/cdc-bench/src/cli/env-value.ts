import { BenchError } from "../bench-error.ts";
import type { Terminal } from "../terminal.ts";

/** The setting that an environment variable holds, or undefined if it is missing or empty. A wrong one is named, and not repeated. */
export function envValue<T>(name: string, env: Terminal["env"], parse: (text: string) => T): T | undefined {
  const text = env[name];
  if (text === undefined || text === "") {
    return undefined;
  }
  try {
    return parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BenchError("usage", `the environment variable ${name} is wrong. ${reason}`, { cause: error });
  }
}

/** `true` and `false`, as people write them. */
export function parseSwitch(text: string): boolean {
  const lower = text.trim().toLowerCase();
  if (["true", "1", "yes", "on"].includes(lower)) {
    return true;
  }
  if (["false", "0", "no", "off"].includes(lower)) {
    return false;
  }
  throw new TypeError("It must be true or false.");
}
