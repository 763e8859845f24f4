/** What is known of a reader's steps before any byte is read: how little a value can take, how deep it can nest. */
import type { ResolvedLimits } from "../../options.ts";
import type { CollectionStep, RecordStep, Step } from "./steps.ts";

export interface Extent {
  /** The least bytes that a value takes; too small rather than too large where steps are recursive. */
  readonly minBytes: (step: Step) => number;
  /** The least bytes that an item of a collection takes. */
  readonly minItemBytes: (collection: CollectionStep) => number;
  /** What reading a record takes from the message's budget: its fields of no bytes, and the record if it takes none itself. */
  readonly charge: (record: RecordStep) => number;
}

/** Measures all that can be reached from the root, in one order, so that every reader of these steps has the same bounds. */
export function measureSteps(root: Step): Extent {
  const known = new Map<Step, number>();
  const minBytes = (step: Step): number => {
    const cached = known.get(step);
    if (cached !== undefined) {
      return cached;
    }
    known.set(step, 0); // met again inside itself
    const parts = partsOf(step).map(minBytes);
    const least = leastBytes(step, parts);
    known.set(step, least);
    return least;
  };
  minBytes(root);
  const minItemBytes = (collection: CollectionStep): number =>
    collection.kind === "array"
      ? minBytes(collection.items)
      : minBytes(collection.values) + (collection.keys === null ? 1 : minBytes(collection.keys));
  const charge = (record: RecordStep): number => {
    const empty = record.fields.filter(({ step }) => step.kind === "null" || (step.kind === "fixed" && step.size === 0)).length;
    return minBytes(record) === 0 ? empty + 1 : empty;
  };
  return { minBytes, minItemBytes, charge };
}

function leastBytes(step: Step, parts: readonly number[]): number {
  switch (step.kind) {
    case "null":
    case "mismatch":
      return 0;
    case "float":
      return 4;
    case "double":
      return 8;
    case "fixed":
      return step.size;
    case "record":
      return parts.reduce((sum, part) => sum + part, 0);
    case "union":
      return 1 + parts.reduce((least, part) => Math.min(least, part), Number.POSITIVE_INFINITY);
    default:
      return 1; // a varint or a boolean; a collection may be empty, a string too
  }
}

/** Whether values can nest deeper than the limit: else depth need not be counted. */
export function canExceedDepth(step: Step, limits: Pick<ResolvedLimits, "maxDepth">): boolean {
  const inside = new Set<Step>();
  const heights = new Map<Step, number>();
  const height = (current: Step): number => {
    if (inside.has(current)) {
      return Number.POSITIVE_INFINITY;
    }
    const cached = heights.get(current);
    if (cached !== undefined) {
      return cached;
    }
    inside.add(current);
    const own = current.kind === "record" || current.kind === "array" || current.kind === "map" ? 1 : 0;
    const result = own + partsOf(current).reduce((most, part) => Math.max(most, height(part)), 0);
    inside.delete(current);
    heights.set(current, result);
    return result;
  };
  return height(step) > limits.maxDepth;
}

/** The steps directly inside a step. */
export function partsOf(step: Step): readonly Step[] {
  switch (step.kind) {
    case "record":
      return step.fields.map((field) => field.step);
    case "union":
      return step.branches;
    case "array":
      return step.placeholder === null ? [step.items] : [step.items, step.placeholder.raw];
    case "map":
      return [...(step.keys === null ? [] : [step.keys]), step.values, ...(step.placeholder === null ? [] : [step.placeholder.raw])];
    default:
      return [];
  }
}

/** Whether a collection's items of no bytes count themselves: records do. */
export function spendsItself(collection: CollectionStep): boolean {
  return (collection.kind === "array" ? collection.items : collection.values).kind === "record";
}

/** How many steps can be reached from the root. */
export function countSteps(root: Step): number {
  const seen = new Set<Step>([root]);
  for (const step of seen) {
    for (const part of partsOf(step)) {
      seen.add(part); // a set is walked to the end that it has by then
    }
  }
  return seen.size;
}
