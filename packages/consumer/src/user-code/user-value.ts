/**
 * Reading what code of the user's threw, rejected with or returned. That may be anything: nothing, a text, an object whose getters throw, a
 * revoked proxy. All such values are read here, so that reading one never throws.
 */
import { types } from "node:util";

/** The member of that name. Undefined if there is none, or if it cannot be read. */
export function readMember(value: unknown, name: PropertyKey): unknown {
  if (!hasMembers(value)) {
    return undefined;
  }
  try {
    return (value as Readonly<Record<PropertyKey, unknown>>)[name];
  } catch {
    return undefined; // a getter or a trap that throws says nothing
  }
}

/** The member of that name, if it is a text that is not empty. */
export function readText(value: unknown, name: PropertyKey): string | undefined {
  const member = readMember(value, name);
  return typeof member === "string" && member !== "" ? member : undefined;
}

/**
 * Whether it is an `Error`, of any copy of the language's objects. In Jest, packages have a copy of their own, and what Node throws (`fetch`,
 * `node:fs`, the reason of `AbortSignal.timeout`) is of Node's.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value) || value instanceof DOMException;
  } catch {
    return false; // a proxy whose trap throws
  }
}

/** The value as a text, for a message. */
export function textOf(value: unknown): string {
  try {
    return isError(value) ? (readText(value, "message") ?? nameOf(value)) : String(value);
  } catch {
    return `${typeof value === "object" ? "an object" : `a ${typeof value}`} that has no text`;
  }
}

/** The name of an error's class, or the type of a value that is no error. */
export function nameOf(value: unknown): string {
  return isError(value) ? (readText(value, "name") ?? "Error") : typeof value;
}

/** Its `code`, if that is a text or a number. */
export function codeOf(value: unknown): string | number | undefined {
  const code = readMember(value, "code");
  return typeof code === "string" || typeof code === "number" ? code : undefined;
}

const maxCauses = 8;

/** The error, its cause, and so on. An aggregate counts as the first of its errors: a host name that refuses has one for each address. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let next: unknown = error;
  while (typeof next === "object" && next !== null && causes.length < maxCauses) {
    causes.push(next);
    // The member is absent, or a list. If it is something else, it has no member 0.
    next = readMember(next, "cause") ?? readMember(readMember(next, "errors"), 0);
  }
  return causes;
}

/** An error whose message can be read: the value itself if it is one, otherwise an error with the value as its cause. */
export function toError(value: unknown): Error {
  return isError(value) && typeof readMember(value, "message") === "string" ? value : new Error(textOf(value), { cause: value });
}

const nativeThen = Promise.prototype.then;

/**
 * Whether what a function returned is to be awaited, if its `then` may be read where it is called: a `then` that cannot be read throws here, as
 * the function might have. `undefined` is what most handlers return, and it is asked about first (bench `runtime`).
 */
export function isThenable<T>(returned: T | PromiseLike<T>): returned is PromiseLike<T> {
  return hasMembers(returned) && typeof (returned as { readonly then?: unknown }).then === "function";
}

/**
 * What a function returned, if it is to be awaited. Null if not. The promise is the language's own, whatever was returned: it settles once,
 * and neither reading nor calling its `then` throws.
 */
export function pendingOf(returned: unknown): Promise<unknown> | null {
  if (!hasMembers(returned)) {
    return null;
  }
  try {
    const { then } = returned as { readonly then?: unknown };
    if (typeof then !== "function") {
      return null;
    }
    if (then === nativeThen && types.isPromise(returned) && returned.constructor === Promise) {
      return returned;
    }
  } catch (error) {
    return Promise.reject(error as Error); // what it threw, whatever that is
  }
  return new Promise((resolve) => resolve(returned));
}

/** Functions have members, too, and may be promises of a library's own. */
function hasMembers(value: unknown): value is object {
  return value !== undefined && value !== null && (typeof value === "object" || typeof value === "function");
}
