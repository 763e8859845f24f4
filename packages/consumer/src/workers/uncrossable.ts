import { types } from "node:util";

/** A part of the options that a thread would not get, or would get as something else. */
export interface Uncrossable {
  /** `decoder.values.decimal`. */
  readonly path: string;
  /** `a function`, `an instance of Kafka`. */
  readonly what: string;
}

/**
 * The first part that a structured clone refuses or changes. A function is refused by it. An object with a class becomes one without
 * methods, which would fail later, and far from here.
 */
export function uncrossable(options: object): Uncrossable | null {
  return find(options, "", new Set());
}

function find(value: unknown, path: string, seen: Set<object>): Uncrossable | null {
  if (typeof value === "function" || typeof value === "symbol") {
    return { path, what: `a ${typeof value}` };
  }
  if (typeof value !== "object" || value === null || isCloned(value) || seen.has(value)) {
    return null;
  }
  seen.add(value);
  const className = classOf(value);
  if (className !== null) {
    return { path, what: `an instance of ${className}` };
  }
  for (const [name, member] of Object.entries(value)) {
    const found = find(member, path === "" ? name : `${path}.${name}`, seen);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

/** What arrives as what it was. Keys of maps and members of sets are not looked at: options have none that could be functions. */
function isCloned(value: object): boolean {
  return types.isRegExp(value) || types.isDate(value) || types.isUint8Array(value) || types.isMap(value) || types.isSet(value);
}

/** The name of its class. Null if it has none: an object literal or an array. */
function classOf(value: object): string | null {
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name?: string } } | null;
  const isPlain = prototype === null || prototype === Object.prototype || Array.isArray(value);
  return isPlain ? null : (prototype.constructor?.name ?? "a class");
}
