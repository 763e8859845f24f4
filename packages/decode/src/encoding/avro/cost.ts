/**
 * What values cost, computed from the schema before they are read. One byte can stand for an object, a timestamp's text or a map, which
 * take a hundred times as long to make as the byte took to read. Real messages do not consist of such values alone. A value that is read
 * once per message is bounded by its schema. A value in an array or a map, or in a record that contains itself, is limited by the length of
 * the message (`limits.maxCostPerByte`).
 *
 * One unit of cost is about a nanosecond of a reader that is compiled for this schema alone, garbage collection included.
 */
import { partsOf } from "./size-bounds.ts";
import type { CollectionInstruction, RecordInstruction, ReadInstruction } from "./read-instructions.ts";

export interface Costs {
  /** The cost of every item of a collection, before the content that varies. */
  readonly item: (collection: CollectionInstruction) => number;
  /** The additional cost of each branch of a union; null if the union is read once per message and costs nothing. */
  readonly branches: (union: UnionInstruction) => readonly number[] | null;
  /** Whether long bytes cost by their length too: a conversion makes something of them, and one message can hold several of them. */
  readonly isLong: (instruction: BytesInstruction) => boolean;
}

export type UnionInstruction = Extract<ReadInstruction, { kind: "union" }>;
export type BytesInstruction = Extract<ReadInstruction, { kind: "bytes" | "fixed" }>;

/** An item's slot in its array. */
const slotCost = 14;
/** An entry of a map: its key is decoded, looked up and stored. */
const entryCost = 200;
/** The blocks of a collection cost too (`blockCost`): it has two, or one if it is empty. */
const arrayCost = 30;
const mapCost = 520;
const recordCost = 80;
const fieldCost = 12;
/** A Buffer is a larger object than most, even if it is short. */
const bufferCost = 240;
const textCost = 210;
/** What conversions add. Most of them make a text, and some make lists of a text. */
const converted = { int: 130, long: 300, float: 150, double: 150, enum: 400, string: 400, bytes: 700, fixed: 700, record: 150, array: 150 };

/**
 * Computes the costs of all that can be reached from the root, in one order, so that all readers of these instructions have the same
 * bounds.
 */
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
    known.set(instruction, 0); // a record directly inside itself: it has no finite value
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
      return 0; // the cost of a union is that of its branch
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
      return 0; // a number, or a symbol that exists already
  }
}

function isConverted(instruction: Exclude<ReadInstruction, { kind: "null" | "boolean" | "union" | "map" | "mismatch" }>): boolean {
  return instruction.kind === "long" ? instruction.number !== null || instruction.bigint !== null : instruction.convert !== null;
}

/** The instructions that one message can carry out more than once: those in arrays and maps, and in records that contain themselves. */
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
      repeat(instruction); // it contains itself
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
