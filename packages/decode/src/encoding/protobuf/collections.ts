import type { Cursor } from "./cursor.ts";
import type { FieldInstruction, ReadInstruction } from "./read-instructions.ts";
import { addPairCost, costOf } from "./cost.ts";

/** The value of a field before any of it was read. Required fields are undefined until then. */
export function initialOf({ cardinality, instruction, absent, makeAbsent, isRequired }: FieldInstruction): unknown {
  if (cardinality === "repeated") {
    return [];
  }
  if (cardinality === "map") {
    return hasTextKeys(instruction) ? Object.create(null) : new Map();
  }
  if (isRequired) {
    return undefined;
  }
  return makeAbsent === null ? absent : makeAbsent();
}

/** Whether a map's keys are texts. Such a map is an object without prototype, so that no key meets an inherited property. */
export function hasTextKeys(instruction: ReadInstruction): boolean {
  return instruction.kind === "message" && instruction.message.fields.find(({ number }) => number === 1)?.instruction.kind === "string";
}

/** Reads the value of a map's pair that has none, if that value is a message. `d` is the depth. */
export type EmptyValue = ((d: number) => unknown) | null;

/** Adds one pair to a map. */
export function addPair(at: Cursor, map: unknown, entry: unknown, empty: EmptyValue, d: number): void {
  const { key, value } = entry as { key: unknown; value: unknown }; // the message of a map's pair has these two fields
  addPairCost(at, key);
  const content = value === null && empty !== null ? empty(d) : value;
  if (map instanceof Map) {
    map.set(key, content);
  } else {
    (map as Record<string, unknown>)[key as string] = content; // hasTextKeys: such a map is an object without prototype
  }
}

/** The cost of an item of a list beyond its slot in the list, which its bytes do not pay for. */
export function itemCost(instruction: ReadInstruction): number {
  switch (instruction.kind) {
    case "message":
    case "bool":
    case "bytes": // takeBytes adds their cost
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
