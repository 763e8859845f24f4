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
} from "./cursor.ts";
import type { Extent } from "./extent.ts";
import { spendsItself } from "./extent.ts";
import type { CollectionStep, RecordStep, Step } from "./steps.ts";
import { TextMemo } from "../text-cache.ts";

/** The position behind the value at `p`. `d` is how deep the value is nested. */
export type Skip = (b: Uint8Array, p: number, e: number, d: number) => number;

/** Walks the blocks of a collection; `item` gives the position behind an item. */
export type Blocks = (b: Uint8Array, p: number, e: number, d: number, item: (position: number) => number) => number;

/** The fields that were peeked, in the order in which they were asked for. */
export type Peeked = (string | null | undefined)[];

export class SkipWeaver {
  readonly #at: Cursor;
  readonly #extent: Extent;
  readonly #skips = new Map<RecordStep, Skip>();

  constructor(at: Cursor, extent: Extent) {
    this.#at = at;
    this.#extent = extent;
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
      case "float":
      case "double":
      case "fixed":
        return skipBytes(this.#extent.minBytes(step));
      case "string":
      case "bytes":
        return (b, p, e) => readLength(at, b, p, e) + at.p;
      case "enum": {
        const count = step.symbols.length;
        return (b, p, e) => {
          readIndex(at, b, p, e, count);
          return at.p;
        };
      }
      case "union": {
        const branches = step.branches.map((branch) => this.skip(branch));
        return (b, p, e, d) => branches[readIndex(at, b, p, e, branches.length)]?.(b, at.p, e, d) ?? p;
      }
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
    const spends = minBytes === 0 && !spendsItself(step);
    return (b, p, e, d, item) => {
      enter(at, d, 0);
      let position = p;
      for (;;) {
        const count = openBlock(at, b, position, e, minBytes);
        const { blockEnd } = at;
        position = at.p;
        if (spends) {
          spend(at, count);
        }
        for (let i = 0; i < count; i++) {
          position = item(position);
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
      return (b, p, e, d) => branches[readIndex(at, b, p, e, branches.length)]?.(b, at.p, e, d) ?? p;
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
