import type { Cursor } from "./cursor.ts";
import type { FieldInstruction, ReadInstruction } from "./read-instructions.ts";
import { addPairCost, costOf } from "./cost.ts";

/** What a field is before any of it was read. Required ones are undefined until then. */
export function initialOf({ cardinality, instruction, absent, isRequired }: FieldInstruction): unknown {
  if (cardinality === "repeated") {
    return [];
  }
  if (cardinality === "map") {
    return hasTextKeys(instruction) ? Object.create(null) : new Map();
  }
  return isRequired ? undefined : absent;
}

/** Whether a map's keys are texts: it is an object without prototype then, the one that hides no key. */
export function hasTextKeys(instruction: ReadInstruction): boolean {
  return instruction.kind === "message" && instruction.message.fields.find(({ number }) => number === 1)?.instruction.kind === "string";
}

/** The message that a map's value is where its pair has none. `d` is how deep it is nested. */
export type EmptyValue = ((d: number) => unknown) | null;

/** Adds the pair that a map's entry is. */
export function addPair(at: Cursor, map: unknown, entry: unknown, empty: EmptyValue, d: number): void {
  const { key, value } = entry as { key: unknown; value: unknown }; // what a map's message reads as
  addPairCost(at, key);
  const content = value === null && empty !== null ? empty(d) : value;
  if (map instanceof Map) {
    map.set(key, content);
  } else {
    (map as Record<string, unknown>)[key as string] = content; // an object without prototype: its keys are texts
  }
}

/** What an item of a list costs beyond its place in it: what its bytes do not pay for. */
export function itemCost(instruction: ReadInstruction): number {
  switch (instruction.kind) {
    case "message":
    case "bool":
    case "bytes": // metered where they are made
      return 0;
    case "string":
    case "enum":
    case "float":
    case "double":
      return instruction.convert === null ? 0 : costOf.text;
    default:
      return instruction.number === null ? 0 : costOf.converted;
  }
}
