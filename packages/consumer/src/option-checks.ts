import { maxTimerMs } from "./clock.ts";
import { ConsumerError } from "./errors.ts";
import { readMember } from "./user-code/user-value.ts";

/** Throws a `ConsumerError` that names the option, what it must be and what it is. */
export function check(fits: boolean, path: string, expected: string, found: unknown): void {
  if (!fits) {
    throw new ConsumerError("invalid-option", `${path} must be ${expected}, got ${textOf(found)}`);
  }
}

/** So that an empty list, an empty text and a list of them can be told apart. */
function textOf(found: unknown): string {
  if (Array.isArray(found)) {
    return `[${found.map(textOf).join(", ")}]`;
  }
  return typeof found === "string" ? JSON.stringify(found) : String(found);
}

/** Refuses what lacks one of these methods: the first call of it would fail, and much later. */
export function checkMethods(path: string, value: unknown, methods: readonly string[], expected: string): void {
  const missing = methods.filter((method) => typeof readMember(value, method) !== "function");
  if (missing.length > 0) {
    const isObject = typeof value === "object" && value !== null;
    const found = isObject ? `an object without ${missing.join(", ")}` : value === null ? "null" : `a ${typeof value}`;
    throw new ConsumerError("invalid-option", `${path} must be ${expected}, got ${found}`);
  }
}

export function checkCount(path: string, value: unknown): void {
  check(Number.isSafeInteger(value) && (value as number) >= 1, path, "a positive integer", value);
}

export function checkNumber(path: string, value: unknown, min: number, max: number): void {
  const fits = typeof value === "number" && value >= min && value <= max;
  check(fits, path, max === Number.MAX_SAFE_INTEGER ? `a number from ${min} on` : `a number from ${min} to ${max}`, value);
}

/** A time after which something happens. */
export function checkDelay(path: string, value: unknown, min = 1): void {
  const fits = typeof value === "number" && value >= min && value <= maxTimerMs;
  check(fits, path, `milliseconds from ${min} to ${maxTimerMs} (24 days, the longest delay of a timer)`, value);
}

export function checkChoice(path: string, value: unknown, choices: readonly string[]): void {
  check(choices.includes(value as string), path, choices.map((choice) => JSON.stringify(choice)).join(" or "), value);
}

/** The options that are given: one that is undefined gets its default, as one that is left out does. */
export function givenOf<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options; // members that may be left out
}

/** Refuses names that are no options: a misspelt option would otherwise have no effect, and nobody would notice. */
export function checkMembers(path: string, given: unknown, members: readonly string[]): void {
  check(typeof given === "object" && given !== null, path === "" ? "options" : path, "an object of options", given);
  for (const [name, value] of Object.entries(given as object)) {
    if (value !== undefined && !members.includes(name)) {
      throw new ConsumerError(
        "invalid-option",
        `${path === "" ? name : `${path}.${name}`} is no option; the options are ${members.join(", ")}`,
      );
    }
  }
}
