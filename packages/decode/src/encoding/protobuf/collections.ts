import type { Cursor } from "./cursor.ts";
import type { FieldStep, Step } from "./steps.ts";
import { weighPair, weightOf } from "./weight.ts";

/** What a field is before any of it was read. Required ones are undefined until then. */
export function initialOf({ cardinality, step, absent, isRequired }: FieldStep): unknown {
  if (cardinality === "repeated") {
    return [];
  }
  if (cardinality === "map") {
    return hasTextKeys(step) ? Object.create(null) : new Map();
  }
  return isRequired ? undefined : absent;
}

/** Whether a map's keys are texts: it is an object without prototype then, the one that hides no key. */
export function hasTextKeys(step: Step): boolean {
  return step.kind === "message" && step.message.fields.find(({ number }) => number === 1)?.step.kind === "string";
}

/** The message that a map's value is where its pair has none. `d` is how deep it is nested. */
export type EmptyValue = ((d: number) => unknown) | null;

/** Adds the pair that a map's entry is. */
export function addPair(at: Cursor, map: unknown, entry: unknown, empty: EmptyValue, d: number): void {
  const { key, value } = entry as { key: unknown; value: unknown }; // what a map's message reads as
  weighPair(at, key);
  const content = value === null && empty !== null ? empty(d) : value;
  if (map instanceof Map) {
    map.set(key, content);
  } else {
    (map as Record<string, unknown>)[key as string] = content; // an object without prototype: its keys are texts
  }
}

/** What an item of a list weighs beyond its place in it: what its bytes do not pay for. */
export function itemCost(step: Step): number {
  switch (step.kind) {
    case "message":
    case "bool":
    case "bytes": // weighed where they are made
      return 0;
    case "string":
    case "enum":
    case "float":
    case "double":
      return step.convert === null ? 0 : weightOf.text;
    default:
      return step.number === null ? 0 : weightOf.converted;
  }
}
