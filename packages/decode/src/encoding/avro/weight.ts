/**
 * What values cost, told before they are read. A byte can stand for an object, a timestamp's text or a map, which take a hundred times
 * what the byte took; no message that says something consists of them. What is read once a message is bounded by its schema; what stands
 * in arrays and maps, or repeats by a record that holds itself, is weighed against the message's length (`limits.maxWeightPerByte`).
 *
 * A weight is about a nanosecond of a reader that was compiled for this message alone, its garbage counted in.
 */
import { partsOf } from "./extent.ts";
import type { CollectionStep, RecordStep, Step } from "./steps.ts";

export interface Weights {
  /** What every item of a collection weighs, whatever it holds. */
  readonly item: (collection: CollectionStep) => number;
  /** What each branch of a union adds to that; null where nothing is weighed: the union is read once a message. */
  readonly branches: (union: UnionStep) => readonly number[] | null;
  /** Whether its bytes weigh by their length too: something is made of them, and one message can hold it more than once. */
  readonly isLong: (step: BytesStep) => boolean;
}

export type UnionStep = Extract<Step, { kind: "union" }>;
export type BytesStep = Extract<Step, { kind: "bytes" | "fixed" }>;

/** An item's place in its array. */
const slotWeight = 14;
/** An entry of a map: its key is made, looked for and kept. */
const entryWeight = 200;
/** Collections weigh their blocks too (`blockWeight`): each has two, or one where it is empty. */
const arrayWeight = 30;
const mapWeight = 520;
const recordWeight = 80;
const fieldWeight = 12;
/** An object of the runtime that is larger than most, whatever bytes it shows. */
const bufferWeight = 240;
const textWeight = 210;
/** What conversions make of a value: text, most often; of text they may make lists. */
const converted = { int: 130, long: 300, float: 150, double: 150, enum: 400, string: 400, bytes: 700, fixed: 700, record: 150, array: 150 };

/** Weighs all that can be reached from the root, in one order, so that every reader of these steps has the same bounds. */
export function weighSteps(root: Step): Weights {
  const repeated = repeatedSteps(root);
  const known = new Map<RecordStep, number>();
  const weightOf = (step: Step): number => {
    if (step.kind !== "record") {
      return ownWeight(step);
    }
    const cached = known.get(step);
    if (cached !== undefined) {
      return cached;
    }
    known.set(step, 0); // met again inside itself, with nothing between: no message has one
    const defaults = [...(step.projected?.defaults.values() ?? [])].reduce((sum, { weight }) => sum + fieldWeight + weight, 0);
    const weight = step.fields.reduce((sum, field) => sum + fieldWeight + weightOf(field.step), ownWeight(step) + defaults);
    known.set(step, weight);
    return weight;
  };
  return {
    item: (collection) =>
      collection.kind === "array"
        ? slotWeight + weightOf(collection.items)
        : entryWeight + weightOf(collection.values) + (collection.keys === null ? 0 : weightOf(collection.keys)),
    branches: (union) => (repeated.has(union) ? union.branches.map(weightOf) : null),
    isLong: (step) => step.convert !== null && repeated.has(step),
  };
}

function ownWeight(step: Step): number {
  switch (step.kind) {
    case "null":
    case "boolean":
    case "mismatch":
    case "union":
      return 0; // a union is weighed by its branch
    case "map":
      return mapWeight;
    case "bytes":
    case "fixed":
      return step.convert === null ? bufferWeight : converted[step.kind];
    default:
      return plainWeight(step.kind) + (isConverted(step) ? converted[step.kind] : 0);
  }
}

function plainWeight(kind: keyof typeof converted): number {
  switch (kind) {
    case "array":
      return arrayWeight;
    case "record":
      return recordWeight;
    case "string":
      return textWeight;
    default:
      return 0; // a number, or a symbol that is at hand
  }
}

function isConverted(step: Exclude<Step, { kind: "null" | "boolean" | "union" | "map" | "mismatch" }>): boolean {
  return step.kind === "long" ? step.number !== null || step.bigint !== null : step.convert !== null;
}

/** The steps that one message can read more than once. */
function repeatedSteps(root: Step): ReadonlySet<Step> {
  const repeated = new Set<Step>();
  const inside = new Set<Step>();
  const seen = new Set<Step>();
  const repeat = (step: Step): void => {
    if (!repeated.has(step)) {
      repeated.add(step);
      partsOf(step).forEach(repeat);
    }
  };
  const visit = (step: Step): void => {
    if (inside.has(step)) {
      repeat(step); // it holds itself
    }
    if (seen.has(step)) {
      return;
    }
    seen.add(step);
    inside.add(step);
    for (const part of partsOf(step)) {
      visit(part);
      if (step.kind === "array" || step.kind === "map") {
        repeat(part);
      }
    }
    inside.delete(step);
  };
  visit(root);
  return repeated;
}
