import { isJsonObject } from "./json-object.ts";

/** The same text for equal JSON values, independent of the order of their names. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { n: String(value) }; // JSON can hold 1e400, a double cannot
  }
  // A list of pairs, because an object would put names that are numbers first and cannot hold `__proto__`.
  return isJsonObject(value)
    ? {
        o: Object.keys(value)
          .sort()
          .map((name) => [name, sorted(value[name])]),
      }
    : value;
}
