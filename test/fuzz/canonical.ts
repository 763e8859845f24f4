import { UNAVAILABLE } from "@cdckit/decode";

/** A text that is equal for equal values and for no others: it tells -0 from 0, 1n from 1, a Map from an object. */
export function canonical(value: unknown): string {
  switch (typeof value) {
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return `${value}n`;
    case "string":
      return JSON.stringify(value);
    case "symbol":
      return value === UNAVAILABLE ? "UNAVAILABLE" : String(value);
    case "object":
      return value === null ? "null" : canonicalObject(value);
    default:
      return String(value);
  }
}

function canonicalObject(value: object): string {
  if (value instanceof Uint8Array) {
    return `bytes ${Buffer.from(value).toString("hex")}`;
  }
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join()}]`;
  }
  if (value instanceof Map) {
    return `Map{${[...value].map(([key, item]) => `${canonical(key)}=>${canonical(item)}`).join()}}`;
  }
  const bare = Object.getPrototypeOf(value) === null ? "bare" : "";
  // The order of columns is the schema's or the text's, and no part of what a row says.
  const names = Object.keys(value).sort();
  return `${bare}{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join()}}`;
}
