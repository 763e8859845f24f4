/** How closures move behind a value, checking all that reading would but its content. */
import {
  closeBlock,
  type Cursor,
  malformed,
  openBlock,
  readIndex,
  readLength,
  skipInt,
  skipLong,
  spend,
  tooDeep,
  truncated,
  weigh,
  weighEntries,
  weighLong,
} from "./cursor.ts";
import type { Extent } from "./extent.ts";
import { spendsItself } from "./extent.ts";
import type { CollectionStep, MismatchStep, RecordStep, Step } from "./steps.ts";
import { TextMemo } from "../text-cache.ts";
import type { BytesStep, UnionStep, Weights } from "./weight.ts";

/** The position behind the value at `p`. `d` is how deep the value is nested. */
export type Skip = (b: Uint8Array, p: number, e: number, d: number) => number;

/** Walks the blocks of a collection; `item` gives the position behind an item. */
export type Blocks = (b: Uint8Array, p: number, e: number, d: number, item: SkipItem) => number;

/** The position behind an item; `i` is its place among all items, `count` how many its block has. */
export type SkipItem = (position: number, i: number, count: number) => number;

/** The fields that were peeked, in the order in which they were asked for. */
export type Peeked = (string | null | undefined)[];

export class SkipWeaver {
  readonly #at: Cursor;
  readonly #extent: Extent;
  readonly #weights: Weights;
  readonly #skips = new Map<RecordStep, Skip>();

  constructor(at: Cursor, extent: Extent, weights: Weights) {
    this.#at = at;
    this.#extent = extent;
    this.#weights = weights;
  }

  skip(step: Step): Skip {
    const at = this.#at;
    switch (step.kind) {
      case "null":
        return (_b, p) => p;
      case "boolean":
        return skipBoolean;
      case "int":
        return skipInt;
      case "long":
        return skipLong;
      case "fixed":
        return this.#weighLong(step, skipBytes(step.size));
      case "float":
      case "double":
        return skipBytes(this.#extent.minBytes(step));
      case "string":
        return (b, p, e) => readLength(at, b, p, e) + at.p;
      case "bytes":
        return this.#weighLong(step, (b, p, e) => readLength(at, b, p, e) + at.p);
      case "enum": {
        const count = step.symbols.length;
        return (b, p, e) => {
          readIndex(at, b, p, e, count);
          return at.p;
        };
      }
      case "union": {
        const branches = step.branches.map((branch) => this.skip(branch));
        return this.#branch(step, branches);
      }
      case "mismatch":
        return refuse(step);
      case "record":
        return this.#skipRecord(step);
      case "array": {
        const item = this.skip(step.items);
        const blocks = this.blocks(step);
        return (b, p, e, d) => blocks(b, p, e, d, (position) => item(b, position, e, d + 1));
      }
      case "map": {
        const key = this.skip(step.keys ?? { kind: "string", convert: null, placeholder: null });
        const value = this.skip(step.values);
        const blocks = this.blocks(step);
        return (b, p, e, d) => blocks(b, p, e, d, (position) => value(b, key(b, position, e, d + 1), e, d + 1));
      }
    }
  }

  #weighLong(step: BytesStep, skip: Skip): Skip {
    if (!this.#weights.isLong(step)) {
      return skip;
    }
    const at = this.#at;
    return (b, p, e, d) => {
      const next = skip(b, p, e, d);
      weighLong(at, next - (step.kind === "fixed" ? p : at.p));
      return next;
    };
  }

  #branch(union: UnionStep, branches: readonly Skip[]): Skip {
    const at = this.#at;
    const weights = this.#weights.branches(union);
    return (b, p, e, d) => {
      const branch = readIndex(at, b, p, e, branches.length);
      weighBranch(at, weights, branch);
      return branches[branch]?.(b, at.p, e, d) ?? p;
    };
  }

  #skipRecord(record: RecordStep): Skip {
    const known = this.#skips.get(record);
    if (known !== undefined) {
      return known;
    }
    const at = this.#at;
    const skips: Skip[] = [];
    const charge = this.#extent.charge(record);
    const skipRecord: Skip = (b, p, e, d) => {
      enter(at, d, charge);
      let position = p;
      for (const skip of skips) {
        position = skip(b, position, e, d + 1);
      }
      return position;
    };
    this.#skips.set(record, skipRecord); // before the fields: they may hold the record
    skips.push(...record.fields.map((field) => this.skip(field.step)));
    return skipRecord;
  }

  blocks(step: CollectionStep): Blocks {
    const at = this.#at;
    const minBytes = this.#extent.minItemBytes(step);
    const weight = this.#weights.item(step);
    const spends = minBytes === 0 && !spendsItself(step);
    return (b, p, e, d, item) => {
      enter(at, d, 0);
      let position = p;
      for (let i = 0; ; ) {
        const count = openBlock(at, b, position, e, minBytes, weight);
        const { blockEnd } = at;
        position = at.p;
        if (spends) {
          spend(at, count);
        }
        if (step.kind === "map") {
          weighEntries(at, i, count);
        }
        for (const end = i + count; i < end; i++) {
          position = item(position, i, count);
        }
        closeBlock(blockEnd, position);
        if (count === 0) {
          return position;
        }
      }
    };
  }

  /** Skips a record, and leaves the peeked fields in `peeked`. */
  peekRecord(record: RecordStep, peek: readonly number[], peeked: Peeked): Skip {
    const at = this.#at;
    const charge = this.#extent.charge(record);
    const skips = record.fields.map(({ step }, i) => {
      const place = peek.indexOf(i);
      return place < 0 ? this.skip(step) : this.#peekText(step, (value) => (peeked[place] = value));
    });
    return (b, p, e, d) => {
      enter(at, d, charge);
      return skips.reduce((position, skip) => skip(b, position, e, d + 1), p);
    };
  }

  #peekText(step: Step, keep: (value: string | null) => void): Skip {
    const at = this.#at;
    if (step.kind === "union") {
      const branches = step.branches.map((branch) => this.#peekText(branch, keep));
      return this.#branch(step, branches);
    }
    if (step.kind === "null") {
      return (_b, p) => {
        keep(null);
        return p;
      };
    }
    const memo = new TextMemo();
    return (b, p, e) => {
      const end = readLength(at, b, p, e) + at.p;
      keep(memo.read(at.texts, b, at.p, end));
      return end;
    };
  }
}

/** Opens a record or a collection: it counts as a level, and its parts of no bytes count. */
export function enter(at: Cursor, depth: number, charge: number): void {
  if (depth > at.maxDepth) {
    throw tooDeep(at);
  }
  if (charge > 0) {
    spend(at, charge);
  }
}

/** Reads no value of the writer's that the reader's schema has no place for. */
export function refuse({ error }: MismatchStep): () => never {
  return () => {
    throw error();
  };
}

/** A branch of a union that a message can read more than once weighs what it holds. */
export function weighBranch(at: Cursor, weights: readonly number[] | null, branch: number): void {
  if (weights !== null) {
    weigh(at, weights[branch] ?? 0);
  }
}

export function skipBoolean(b: Uint8Array, p: number, e: number): number {
  if (p >= e) {
    throw truncated();
  }
  const byte = b[p];
  if (byte !== 0 && byte !== 1) {
    throw malformed("a boolean other than 0 and 1");
  }
  return p + 1;
}

function skipBytes(size: number): Skip {
  return (_b, p, e) => {
    if (e - p < size) {
      throw truncated();
    }
    return p + size;
  };
}
