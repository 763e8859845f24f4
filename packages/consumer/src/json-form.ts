import { isError } from "./user-code/user-value.ts";

/** Gives the object a JSON form, in which `JSON.stringify` writes bigints as text, as in events. The method is not enumerable. */
export function withJson<T extends object>(value: T): T {
  Object.defineProperty(value, "toJSON", { value: () => jsonOf({ ...value }), configurable: true });
  return value;
}

/** What JSON can carry: bigints as text, errors with their names and messages. An object with a JSON form of its own keeps it. */
export function jsonOf(value: unknown): unknown {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (Array.isArray(value)) {
    return value.map(jsonOf);
  }
  if (typeof value !== "object" || value === null || "toJSON" in value) {
    return value;
  }
  if (isError(value)) {
    return { name: value.name, message: value.message };
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, jsonOf(member)]));
}
