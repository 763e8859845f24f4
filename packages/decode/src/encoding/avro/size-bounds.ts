/** What is known of instructions before any byte is read: the fewest bytes that a value takes, and how deep it can nest. */
import type { ResolvedLimits } from "../../options.ts";
import type { CollectionInstruction, RecordInstruction, ReadInstruction } from "./read-instructions.ts";

export interface SizeBounds {
  /** The fewest bytes that a value takes. If instructions are recursive, the bound may be lower than the true minimum, never higher. */
  readonly minBytes: (instruction: ReadInstruction) => number;
  /** The fewest bytes that an item of a collection takes. */
  readonly minItemBytes: (collection: CollectionInstruction) => number;
  /** How many parts without bytes a record takes from the message's budget: its fields without bytes, and itself if it has no bytes. */
  readonly zeroByteCount: (record: RecordInstruction) => number;
}

/**
 * Computes the bounds of all that can be reached from the root, in one order, so that all readers of these instructions have the same
 * bounds.
 */
export function measureSizes(root: ReadInstruction): SizeBounds {
  const known = new Map<ReadInstruction, number>();
  const minBytes = (instruction: ReadInstruction): number => {
    const cached = known.get(instruction);
    if (cached !== undefined) {
      return cached;
    }
    known.set(instruction, 0); // the lower bound for an instruction inside of itself
    const parts = partsOf(instruction).map(minBytes);
    const bytes = minBytesOf(instruction, parts);
    known.set(instruction, bytes);
    return bytes;
  };
  minBytes(root);
  const minItemBytes = (collection: CollectionInstruction): number =>
    collection.kind === "array"
      ? minBytes(collection.items)
      : minBytes(collection.values) + (collection.keys === null ? 1 : minBytes(collection.keys));
  const zeroByteCount = (record: RecordInstruction): number => {
    const empty = record.fields.filter(
      ({ instruction }) => instruction.kind === "null" || (instruction.kind === "fixed" && instruction.size === 0),
    ).length;
    return minBytes(record) === 0 ? empty + 1 : empty;
  };
  return { minBytes, minItemBytes, zeroByteCount };
}

function minBytesOf(instruction: ReadInstruction, parts: readonly number[]): number {
  switch (instruction.kind) {
    case "null":
    case "mismatch":
      return 0;
    case "float":
      return 4;
    case "double":
      return 8;
    case "fixed":
      return instruction.size;
    case "record":
      return parts.reduce((sum, part) => sum + part, 0);
    case "union":
      return 1 + parts.reduce((bytes, part) => Math.min(bytes, part), Number.POSITIVE_INFINITY);
    default:
      return 1; // a varint or a boolean; a collection may be empty, a string too
  }
}

/** Whether values can be nested deeper than the limit. If not, generated code need not count the depth. */
export function canExceedDepth(instruction: ReadInstruction, limits: Pick<ResolvedLimits, "maxDepth">): boolean {
  const inside = new Set<ReadInstruction>();
  const heights = new Map<ReadInstruction, number>();
  const height = (current: ReadInstruction): number => {
    if (inside.has(current)) {
      return Number.POSITIVE_INFINITY;
    }
    const cached = heights.get(current);
    if (cached !== undefined) {
      return cached;
    }
    inside.add(current);
    const own = current.kind === "record" || current.kind === "array" || current.kind === "map" ? 1 : 0;
    const result = own + partsOf(current).reduce((max, part) => Math.max(max, height(part)), 0);
    inside.delete(current);
    heights.set(current, result);
    return result;
  };
  return height(instruction) > limits.maxDepth;
}

/** The instructions directly inside of an instruction. */
export function partsOf(instruction: ReadInstruction): readonly ReadInstruction[] {
  switch (instruction.kind) {
    case "record":
      return instruction.fields.map((field) => field.instruction);
    case "union":
      return instruction.branches;
    case "array":
      return instruction.placeholder === null ? [instruction.items] : [instruction.items, instruction.placeholder.raw];
    case "map":
      return [
        ...(instruction.keys === null ? [] : [instruction.keys]),
        instruction.values,
        ...(instruction.placeholder === null ? [] : [instruction.placeholder.raw]),
      ];
    default:
      return [];
  }
}

/** Whether the items of a collection count themselves if they take no bytes. Records do. */
export function countsItself(collection: CollectionInstruction): boolean {
  return (collection.kind === "array" ? collection.items : collection.values).kind === "record";
}

/** How many instructions can be reached from the root. */
export function countInstructions(root: ReadInstruction): number {
  const seen = new Set<ReadInstruction>([root]);
  for (const instruction of seen) {
    for (const part of partsOf(instruction)) {
      seen.add(part); // the loop also visits what is added here
    }
  }
  return seen.size;
}
