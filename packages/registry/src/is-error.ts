import { types } from "node:util";

/**
 * Whether it is an `Error`, of any copy of the language's objects. In Jest, packages have a copy of their own, and what Node throws (`fetch`, its
 * sockets) is of Node's.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value) || value instanceof DOMException;
  } catch {
    return false; // a proxy whose traps throw
  }
}
