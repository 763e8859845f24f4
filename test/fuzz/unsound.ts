import { UNAVAILABLE } from "@cdckit/decode";

const maxDepth = 400;

/**
 * What is wrong with a value that a decoder gave; null where nothing is. Rows are made of plain data: no functions, no `undefined`, no
 * objects whose prototype came from bytes.
 */
export function unsound(value: unknown, depth: number = 0): string | null {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return null;
    case "object":
      return value === null ? null : depth > maxDepth ? "a value that has no end" : unsoundObject(value, depth);
    case "symbol":
      return value === UNAVAILABLE ? null : "a symbol";
    default:
      return typeof value;
  }
}

function unsoundObject(value: object, depth: number): string | null {
  if (value instanceof Uint8Array) {
    return null;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    return prototype === Array.prototype ? firstUnsound(value, depth) : "a list with a prototype of its own";
  }
  if (prototype === Map.prototype) {
    return firstUnsound([...(value as ReadonlyMap<unknown, unknown>)].flat(), depth);
  }
  if (prototype !== Object.prototype && prototype !== null) {
    return "an object with a prototype of its own";
  }
  for (const name in value) {
    if (!Object.hasOwn(value, name)) {
      return `an inherited column ${name}`;
    }
    const found = unsound((value as Record<string, unknown>)[name], depth + 1);
    if (found !== null) {
      return `${found} in ${name}`;
    }
  }
  return null;
}

function firstUnsound(items: readonly unknown[], depth: number): string | null {
  for (const item of items) {
    const found = unsound(item, depth + 1);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
