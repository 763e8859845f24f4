import { setProperty } from "../set-property.ts";

/** The fields of an object that is being made. */
export type Fields = Record<string, unknown>;

/** Makes plain objects of such values. */
export type PlainConstructor<Values extends readonly unknown[]> = new (...values: Values) => Fields;

/**
 * A constructor for the plain objects that an envelope makes for each record. No literal, because V8 might make all later ones in the old
 * generation, and each would keep there what it refers to: see `Shapes` in `../encoding/codegen.ts`. V8 does not count the objects of a
 * constructor. The prototype is `Object.prototype`, so these objects are as plain as literals.
 */
export function plainConstructor<Values extends readonly unknown[]>(
  assign: (this: Fields, ...values: Values) => void,
): PlainConstructor<Values> {
  assign.prototype = Object.prototype;
  return assign as unknown as PlainConstructor<Values>; // `new` may call a function that is declared by this word
}

/** Sets a field, unless the message lacks it. The name is one of ours. */
export function setIfDefined(fields: Fields, name: string, value: unknown): void {
  if (value !== undefined) {
    fields[name] = value;
  }
}

/** The same, and null is no value either. */
export function setIfPresent(fields: Fields, name: string, value: unknown): void {
  if (value !== null) {
    setIfDefined(fields, name, value);
  }
}

const noNames: ReadonlySet<string> = new Set();

/** Copies the fields of a message, whose names may be any, apart from those of `without`. */
export function copyFields(fields: Fields, from: Readonly<Record<string, unknown>>, without: ReadonlySet<string> = noNames): void {
  for (const name of Object.keys(from)) {
    if (!without.has(name)) {
      setProperty(fields, name, from[name]);
    }
  }
}
