import { UNAVAILABLE } from "../values/unavailable.ts";

const inspectSymbol = Symbol.for("nodejs.util.inspect.custom");

type Inspect = (value: unknown, options: object) => string;

/**
 * Makes `console.log` and `JSON.stringify` show a plain object for instances whose fields are computed on access. The methods are set on
 * the prototype from outside, because isolatedDeclarations does not allow a computed member in a class.
 */
export function showAs<Instance extends object>(prototype: Instance, toPlain: (instance: Instance) => Record<string, unknown>): void {
  Object.defineProperty(prototype, inspectSymbol, {
    value(this: Instance, _depth: number, options: object, inspect: Inspect): string {
      return inspect(toPlain(this), options);
    },
  });
  Object.defineProperty(prototype, "toJSON", {
    value(this: Instance): unknown {
      return plainJson(toPlain(this));
    },
  });
}

/** The form that JSON can hold: bigints as text, unavailable columns as a marker, maps as pairs. */
function plainJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (value === UNAVAILABLE) {
    return { $unavailable: true };
  }
  if (Array.isArray(value)) {
    return value.map(plainJson);
  }
  if (value instanceof Map) {
    return [...value].map(([key, item]) => [plainJson(key), plainJson(item)]);
  }
  return typeof value === "object" && value !== null && isPlainObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainJson(item)]))
    : value;
}

export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
