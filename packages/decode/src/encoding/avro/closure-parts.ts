/** Parts that the closures of `closures.ts` share, for reading and for skipping. */
import { setProperty } from "../../set-property.ts";
import { addCost, addEntriesCost, closeBlock, countZeroBytes, type Cursor, malformed, openBlock, tooDeep, truncated } from "./cursor.ts";
import type { Costs } from "./cost.ts";
import type { CollectionInstruction, MismatchInstruction, RecordInstruction } from "./read-instructions.ts";
import { countsItself, type SizeBounds } from "./size-bounds.ts";

/** Moves over the value at `p`, and leaves the position after it in `Cursor.p`. `d` is the depth of the value. */
export type Closure = (b: Uint8Array, p: number, e: number, d: number) => unknown;

/** Moves over an item. `i` is its index among all items, `count` the number of items in its block. */
export type ItemClosure = (b: Uint8Array, p: number, e: number, d: number, i: number, count: number) => void;

/** Walks the blocks of a collection. */
export type Blocks = (b: Uint8Array, p: number, e: number, d: number, item: ItemClosure) => void;

export type Columns = Record<string, unknown>;

/** Moves over a field. If the record is read, the field's value is put into it. */
export type FieldClosure = (target: Columns, b: Uint8Array, p: number, e: number, d: number) => void;

/** The size bounds and the costs of a schema. */
export interface Bounds {
  readonly sizeBounds: SizeBounds;
  readonly costs: Costs;
}

export function walkBlocks(instruction: CollectionInstruction, at: Cursor, { sizeBounds, costs }: Bounds): Blocks {
  const minBytes = sizeBounds.minItemBytes(instruction);
  const cost = costs.item(instruction);
  const countsZeroBytes = minBytes === 0 && !countsItself(instruction);
  return (b, p, e, d, item) => {
    enter(at, d, 0);
    at.p = p;
    for (let i = 0; ; ) {
      const count = openBlock(at, b, at.p, e, minBytes, cost);
      const { blockEnd } = at;
      if (countsZeroBytes) {
        countZeroBytes(at, count);
      }
      if (instruction.kind === "map") {
        addEntriesCost(at, i, count);
      }
      for (const end = i + count; i < end; i++) {
        item(b, at.p, e, d + 1, i, count);
      }
      closeBlock(blockEnd, at.p);
      if (count === 0) {
        return;
      }
    }
  };
}

/** Enters a record or a collection: checks its depth, and counts its parts that take no bytes. */
export function enter(at: Cursor, depth: number, zeroByteCount: number): void {
  if (depth > at.maxDepth) {
    throw tooDeep(at);
  }
  if (zeroByteCount > 0) {
    countZeroBytes(at, zeroByteCount);
  }
}

/** Fails if the writer's schema writes a value that the reader's schema does not accept. */
export function refuse({ error }: MismatchInstruction): () => never {
  return () => {
    throw error();
  };
}

/** Adds the cost of a union's branch, if one message can read the union more than once. */
export function addBranchCost(at: Cursor, costs: readonly number[] | null, branch: number): void {
  if (costs !== null) {
    addCost(at, costs[branch] ?? 0);
  }
}

/** Walks the entries of a map. */
export type Pairs = (b: Uint8Array, p: number, e: number, d: number, keep: (name: unknown, content: unknown) => void) => void;

export function readObject(pairs: Pairs): Closure {
  return (b, p, e, d) => {
    const object = Object.create(null) as Record<string, unknown>; // without prototype, so that no key meets an inherited property
    pairs(b, p, e, d, (name, content) => {
      object[name as string] = content; // a map's keys are strings here
    });
    return object;
  };
}

export function readMap(pairs: Pairs): Closure {
  return (b, p, e, d) => {
    const map = new Map<unknown, unknown>();
    pairs(b, p, e, d, (name, content) => map.set(name, content));
    return map;
  };
}

/** Given to the fields of a skipped record, which do not change it. */
export const skippedRecord: Columns = Object.freeze({});

/** Makes the objects of a record: with the defaults of the reader's own schema, and in its order. */
export function emptyRecords(record: RecordInstruction): () => Columns {
  const { order, defaults } = placesOf(record);
  return () => {
    const target: Columns = {};
    for (const name of order) {
      setProperty(target, name, defaults.get(name)?.make()); // fields without a default here are read later
    }
    return target;
  };
}

export function readBoolean(at: Cursor, b: Uint8Array, p: number, e: number): boolean {
  if (p >= e) {
    throw truncated();
  }
  const byte = b[p];
  if (byte !== 0 && byte !== 1) {
    throw malformed("a boolean that is neither 0 nor 1");
  }
  at.p = p + 1;
  return byte === 1;
}

/** The names that a record's object has, in their order, if the reader's own schema has an order and defaults. */
function placesOf({ fields, resolution }: RecordInstruction): NonNullable<RecordInstruction["resolution"]> {
  if (resolution === undefined) {
    return { order: [], defaults: new Map() };
  }
  const read = new Set(fields.filter((field) => field.use !== "skip").map((field) => field.name));
  return { order: resolution.order.filter((name) => read.has(name) || resolution.defaults.has(name)), defaults: resolution.defaults };
}
