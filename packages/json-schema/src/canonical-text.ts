import { isJsonObject } from "./json-object.ts";

/** The same text for the same JSON value, whatever the order of its names. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? "";
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { n: String(value) }; // 1e400, which JSON has and a double has not
  }
  // As a list of pairs: an object would put names that are numbers first, and has no place for `__proto__`.
  return isJsonObject(value)
    ? {
        o: Object.keys(value)
          .sort()
          .map((name) => [name, sorted(value[name])]),
      }
    : value;
}
