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
  countZeroBytes,
  tooDeep,
  truncated,
  addCost,
  addEntriesCost,
  addLongCost,
} from "./cursor.ts";
import type { SizeBounds } from "./size-bounds.ts";
import { countsItself } from "./size-bounds.ts";
import type { CollectionInstruction, MismatchInstruction, RecordInstruction, ReadInstruction } from "./read-instructions.ts";
import { TextMemo } from "../text-cache.ts";
import type { BytesInstruction, UnionInstruction, Costs } from "./cost.ts";

/** The position behind the value at `p`. `d` is how deep the value is nested. */
export type Skip = (b: Uint8Array, p: number, e: number, d: number) => number;

/** Walks the blocks of a collection; `item` gives the position behind an item. */
export type Blocks = (b: Uint8Array, p: number, e: number, d: number, item: SkipItem) => number;

/** The position behind an item; `i` is its place among all items, `count` how many its block has. */
export type SkipItem = (position: number, i: number, count: number) => number;

/** The fields that were peeked, in the order in which they were asked for. */
export type Peeked = (string | null | undefined)[];

export class SkipClosureCompiler {
  readonly #at: Cursor;
  readonly #sizeBounds: SizeBounds;
  readonly #costs: Costs;
  readonly #skips = new Map<RecordInstruction, Skip>();

  constructor(at: Cursor, sizeBounds: SizeBounds, costs: Costs) {
    this.#at = at;
    this.#sizeBounds = sizeBounds;
    this.#costs = costs;
  }

  skip(instruction: ReadInstruction): Skip {
    const at = this.#at;
    switch (instruction.kind) {
      case "null":
        return (_b, p) => p;
      case "boolean":
        return skipBoolean;
      case "int":
        return skipInt;
      case "long":
        return skipLong;
      case "fixed":
        return this.#addLongCost(instruction, skipBytes(instruction.size));
      case "float":
      case "double":
        return skipBytes(this.#sizeBounds.minBytes(instruction));
      case "string":
        return (b, p, e) => readLength(at, b, p, e) + at.p;
      case "bytes":
        return this.#addLongCost(instruction, (b, p, e) => readLength(at, b, p, e) + at.p);
      case "enum": {
        const count = instruction.symbols.length;
        return (b, p, e) => {
          readIndex(at, b, p, e, count);
          return at.p;
        };
      }
      case "union": {
        const branches = instruction.branches.map((branch) => this.skip(branch));
        return this.#branch(instruction, branches);
      }
      case "mismatch":
        return refuse(instruction);
      case "record":
        return this.#skipRecord(instruction);
      case "array": {
        const item = this.skip(instruction.items);
        const blocks = this.blocks(instruction);
        return (b, p, e, d) => blocks(b, p, e, d, (position) => item(b, position, e, d + 1));
      }
      case "map": {
        const key = this.skip(instruction.keys ?? { kind: "string", convert: null, placeholder: null });
        const value = this.skip(instruction.values);
        const blocks = this.blocks(instruction);
        return (b, p, e, d) => blocks(b, p, e, d, (position) => value(b, key(b, position, e, d + 1), e, d + 1));
      }
    }
  }

  #addLongCost(instruction: BytesInstruction, skip: Skip): Skip {
    if (!this.#costs.isLong(instruction)) {
      return skip;
    }
    const at = this.#at;
    return (b, p, e, d) => {
      const next = skip(b, p, e, d);
      addLongCost(at, next - (instruction.kind === "fixed" ? p : at.p));
      return next;
    };
  }

  #branch(union: UnionInstruction, branches: readonly Skip[]): Skip {
    const at = this.#at;
    const costs = this.#costs.branches(union);
    return (b, p, e, d) => {
      const branch = readIndex(at, b, p, e, branches.length);
      addBranchCost(at, costs, branch);
      return branches[branch]?.(b, at.p, e, d) ?? p;
    };
  }

  #skipRecord(record: RecordInstruction): Skip {
    const known = this.#skips.get(record);
    if (known !== undefined) {
      return known;
    }
    const at = this.#at;
    const skips: Skip[] = [];
    const zeroByteCount = this.#sizeBounds.zeroByteCount(record);
    const skipRecord: Skip = (b, p, e, d) => {
      enter(at, d, zeroByteCount);
      let position = p;
      for (const skip of skips) {
        position = skip(b, position, e, d + 1);
      }
      return position;
    };
    this.#skips.set(record, skipRecord); // before the fields: they may hold the record
    skips.push(...record.fields.map((field) => this.skip(field.instruction)));
    return skipRecord;
  }

  blocks(instruction: CollectionInstruction): Blocks {
    const at = this.#at;
    const minBytes = this.#sizeBounds.minItemBytes(instruction);
    const cost = this.#costs.item(instruction);
    const countsZeroBytes = minBytes === 0 && !countsItself(instruction);
    return (b, p, e, d, item) => {
      enter(at, d, 0);
      let position = p;
      for (let i = 0; ; ) {
        const count = openBlock(at, b, position, e, minBytes, cost);
        const { blockEnd } = at;
        position = at.p;
        if (countsZeroBytes) {
          countZeroBytes(at, count);
        }
        if (instruction.kind === "map") {
          addEntriesCost(at, i, count);
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
  peekRecord(record: RecordInstruction, peek: readonly number[], peeked: Peeked): Skip {
    const at = this.#at;
    const zeroByteCount = this.#sizeBounds.zeroByteCount(record);
    const skips = record.fields.map(({ instruction }, i) => {
      const place = peek.indexOf(i);
      return place < 0 ? this.skip(instruction) : this.#peekText(instruction, (value) => (peeked[place] = value));
    });
    return (b, p, e, d) => {
      enter(at, d, zeroByteCount);
      return skips.reduce((position, skip) => skip(b, position, e, d + 1), p);
    };
  }

  #peekText(instruction: ReadInstruction, keep: (value: string | null) => void): Skip {
    const at = this.#at;
    if (instruction.kind === "union") {
      const branches = instruction.branches.map((branch) => this.#peekText(branch, keep));
      return this.#branch(instruction, branches);
    }
    if (instruction.kind === "null") {
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
export function enter(at: Cursor, depth: number, zeroByteCount: number): void {
  if (depth > at.maxDepth) {
    throw tooDeep(at);
  }
  if (zeroByteCount > 0) {
    countZeroBytes(at, zeroByteCount);
  }
}

/** Reads no value of the writer's that the reader's schema has no place for. */
export function refuse({ error }: MismatchInstruction): () => never {
  return () => {
    throw error();
  };
}

/** A branch of a union that a message can read more than once costs what it holds. */
export function addBranchCost(at: Cursor, costs: readonly number[] | null, branch: number): void {
  if (costs !== null) {
    addCost(at, costs[branch] ?? 0);
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
