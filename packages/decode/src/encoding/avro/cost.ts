/**
 * What values cost, told before they are read. A byte can stand for an object, a timestamp's text or a map, which take a hundred times
 * what the byte took; no message that says something consists of them. What is read once a message is bounded by its schema; what stands
 * in arrays and maps, or repeats by a record that holds itself, is metered against the message's length (`limits.maxCostPerByte`).
 *
 * A cost is about a nanosecond of a reader that was compiled for this message alone, its garbage counted in.
 */
import { partsOf } from "./size-bounds.ts";
import type { CollectionInstruction, RecordInstruction, ReadInstruction } from "./read-instructions.ts";

export interface Costs {
  /** What every item of a collection costs, whatever it holds. */
  readonly item: (collection: CollectionInstruction) => number;
  /** What each branch of a union adds to that; null where nothing is metered: the union is read once a message. */
  readonly branches: (union: UnionInstruction) => readonly number[] | null;
  /** Whether its bytes cost by their length too: something is made of them, and one message can hold it more than once. */
  readonly isLong: (instruction: BytesInstruction) => boolean;
}

export type UnionInstruction = Extract<ReadInstruction, { kind: "union" }>;
export type BytesInstruction = Extract<ReadInstruction, { kind: "bytes" | "fixed" }>;

/** An item's place in its array. */
const slotCost = 14;
/** An entry of a map: its key is made, looked for and kept. */
const entryCost = 200;
/** Collections cost their blocks too (`blockCost`): each has two, or one where it is empty. */
const arrayCost = 30;
const mapCost = 520;
const recordCost = 80;
const fieldCost = 12;
/** An object of the runtime that is larger than most, whatever bytes it shows. */
const bufferCost = 240;
const textCost = 210;
/** What conversions make of a value: text, most often; of text they may make lists. */
const converted = { int: 130, long: 300, float: 150, double: 150, enum: 400, string: 400, bytes: 700, fixed: 700, record: 150, array: 150 };

/** Meters all that can be reached from the root, in one order, so that every reader of these steps has the same bounds. */
export function planCosts(root: ReadInstruction): Costs {
  const repeated = repeatedInstructions(root);
  const known = new Map<RecordInstruction, number>();
  const costOf = (instruction: ReadInstruction): number => {
    if (instruction.kind !== "record") {
      return ownCost(instruction);
    }
    const cached = known.get(instruction);
    if (cached !== undefined) {
      return cached;
    }
    known.set(instruction, 0); // met again inside itself, with nothing between: no message has one
    const defaults = [...(instruction.resolution?.defaults.values() ?? [])].reduce((sum, { cost }) => sum + fieldCost + cost, 0);
    const cost = instruction.fields.reduce((sum, field) => sum + fieldCost + costOf(field.instruction), ownCost(instruction) + defaults);
    known.set(instruction, cost);
    return cost;
  };
  return {
    item: (collection) =>
      collection.kind === "array"
        ? slotCost + costOf(collection.items)
        : entryCost + costOf(collection.values) + (collection.keys === null ? 0 : costOf(collection.keys)),
    branches: (union) => (repeated.has(union) ? union.branches.map(costOf) : null),
    isLong: (instruction) => instruction.convert !== null && repeated.has(instruction),
  };
}

function ownCost(instruction: ReadInstruction): number {
  switch (instruction.kind) {
    case "null":
    case "boolean":
    case "mismatch":
    case "union":
      return 0; // a union is metered by its branch
    case "map":
      return mapCost;
    case "bytes":
    case "fixed":
      return instruction.convert === null ? bufferCost : converted[instruction.kind];
    default:
      return plainCost(instruction.kind) + (isConverted(instruction) ? converted[instruction.kind] : 0);
  }
}

function plainCost(kind: keyof typeof converted): number {
  switch (kind) {
    case "array":
      return arrayCost;
    case "record":
      return recordCost;
    case "string":
      return textCost;
    default:
      return 0; // a number, or a symbol that is at hand
  }
}

function isConverted(instruction: Exclude<ReadInstruction, { kind: "null" | "boolean" | "union" | "map" | "mismatch" }>): boolean {
  return instruction.kind === "long" ? instruction.number !== null || instruction.bigint !== null : instruction.convert !== null;
}

/** The steps that one message can read more than once. */
function repeatedInstructions(root: ReadInstruction): ReadonlySet<ReadInstruction> {
  const repeated = new Set<ReadInstruction>();
  const inside = new Set<ReadInstruction>();
  const seen = new Set<ReadInstruction>();
  const repeat = (instruction: ReadInstruction): void => {
    if (!repeated.has(instruction)) {
      repeated.add(instruction);
      partsOf(instruction).forEach(repeat);
    }
  };
  const visit = (instruction: ReadInstruction): void => {
    if (inside.has(instruction)) {
      repeat(instruction); // it holds itself
    }
    if (seen.has(instruction)) {
      return;
    }
    seen.add(instruction);
    inside.add(instruction);
    for (const part of partsOf(instruction)) {
      visit(part);
      if (instruction.kind === "array" || instruction.kind === "map") {
        repeat(part);
      }
    }
    inside.delete(instruction);
  };
  visit(root);
  return repeated;
}
