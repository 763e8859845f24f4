/**
 * The reader made of closures, one for each instruction. It is used if code generation is off. It is the simple twin of `generate.ts`: a
 * differential test holds that both give the same, and `npm run bench -- tiers` measures how much slower it is ("generatedReaders").
 */
import { inField, inItem } from "../../errors.ts";
import { setProperty } from "../../set-property.ts";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import { Deferred } from "../reader.ts";
import {
  addBranchCost,
  type Bounds,
  type Closure,
  type Columns,
  emptyRecords,
  enter,
  type FieldClosure,
  type Pairs,
  readBoolean,
  readMap,
  readObject,
  refuse,
  skippedRecord,
  walkBlocks,
} from "./closure-parts.ts";
import { planCosts, type UnionInstruction } from "./cost.ts";
import {
  addLongCost,
  copyBytes,
  costBudget,
  type Cursor,
  listOf,
  openSequence,
  peekCount,
  readDouble,
  readFloat,
  readIndex,
  readInt,
  readLength,
  readLong,
  skipInt,
  skipLong,
  trailing,
  truncated,
} from "./cursor.ts";
import type { PayloadReads, ReadPayload } from "./generate.ts";
import type {
  ArrayInstruction,
  DeferInstruction,
  FieldInstruction,
  MapInstruction,
  PlaceholderInstruction,
  ReadInstruction,
  RecordInstruction,
} from "./read-instructions.ts";
import { measureSizes } from "./size-bounds.ts";
import { readText, TextMemo } from "../utf8-text.ts";

/** Makes a reader of these instructions, as closures. */
export function closureReader(root: ReadInstruction, at: Cursor): PayloadReads {
  const compiler = new ClosureCompiler(root, at);
  return { read: compiler.whole(root, 1), readSequence: compiler.sequence(root) };
}

/** Makes a reader of a part of such a payload that is deferred. */
export function closurePartReader(root: ReadInstruction, part: ReadInstruction, at: Cursor): ReadPayload {
  return new ClosureCompiler(root, at).whole(part, partDepth);
}

/** A deferred part is a field of the payload's record. */
const partDepth = 2;

type NumberInstruction = Extract<ReadInstruction, { kind: "int" | "long" | "float" | "double" }>;

/** The values of the peeked fields, in the order of the names that were asked for. */
type Peeked = (string | null | undefined)[];

class ClosureCompiler {
  readonly #at: Cursor;
  readonly #bounds: Bounds;
  readonly #reads = new Map<RecordInstruction, Closure>();
  readonly #skips = new Map<RecordInstruction, Closure>();

  constructor(root: ReadInstruction, at: Cursor) {
    this.#at = at;
    this.#bounds = { sizeBounds: measureSizes(root), costs: planCosts(root) };
  }

  whole(instruction: ReadInstruction, depth: number): ReadPayload {
    const read = this.#value(instruction, true);
    return (b, start, end) => this.#budgeted(start, end, () => read(b, start, end, depth));
  }

  sequence(root: ReadInstruction): PayloadReads["readSequence"] {
    const at = this.#at;
    const read = this.#value(root, true);
    const minBytes = this.#bounds.sizeBounds.minBytes(root);
    return (b, start, end, count) =>
      this.#budgeted(start, end, () => {
        openSequence(at, end - start, count, minBytes);
        const values = listOf(count);
        at.p = start;
        for (let i = 0; i < count; i++) {
          values[i] = read(b, at.p, end, 1);
        }
        return values;
      });
  }

  /**
   * Runs a read with the budgets of one message, and saves and restores those of the message around it: a conversion may read another
   * message on the way.
   */
  #budgeted<Value>(start: number, end: number, read: () => Value): Value {
    const at = this.#at;
    const { zeroByteItems, cost, maxCost } = at;
    at.zeroByteItems = 0;
    at.cost = 0;
    at.maxCost = costBudget(at, end - start);
    try {
      const value = read();
      if (at.p !== end) {
        throw trailing();
      }
      return value;
    } finally {
      at.zeroByteItems = zeroByteItems;
      at.cost = cost;
      at.maxCost = maxCost;
    }
  }

  /**
   * Reads a value or skips it. Skipping checks the same things as reading, except the content of texts. Reading and skipping are one
   * traversal, so that they always agree on whether a message is within its bounds.
   */
  #value(instruction: ReadInstruction, isRead: boolean): Closure {
    const at = this.#at;
    switch (instruction.kind) {
      case "null":
        return (_b, p) => {
          at.p = p;
          return null;
        };
      case "boolean":
        return (b, p, e) => readBoolean(at, b, p, e);
      case "int":
      case "long":
      case "float":
      case "double":
        return this.#number(instruction, isRead);
      case "string":
        return this.#sized(instruction, isRead ? this.#text(instruction.convert) : null);
      case "bytes":
        return this.#sized(instruction, isRead ? (instruction.convert ?? copyBytes) : null);
      case "fixed": {
        const { size } = instruction;
        const make = instruction.convert ?? copyBytes;
        return this.#fixedSize(size, this.#bounds.costs.isLong(instruction), isRead ? (b, p) => make(b, p, p + size) : null);
      }
      case "enum": {
        const { symbols } = instruction;
        const read = (b: Uint8Array, p: number, e: number): string => symbols[readIndex(at, b, p, e, symbols.length)] ?? "";
        return isRead ? this.#then(instruction.convert, read) : read;
      }
      case "union":
        return this.#union(
          instruction,
          instruction.branches.map((branch) => this.#value(branch, isRead)),
        );
      case "mismatch":
        return refuse(instruction);
      case "record":
        return this.#record(instruction, isRead);
      case "array":
        return this.#array(instruction, isRead);
      case "map":
        return this.#map(instruction, isRead);
    }
  }

  #number(instruction: NumberInstruction, isRead: boolean): Closure {
    const at = this.#at;
    switch (instruction.kind) {
      case "int":
        return isRead ? this.#then(instruction.convert, (b, p, e) => readInt(at, b, p, e)) : this.#moved(skipInt);
      case "long":
        return isRead ? this.#readLong(instruction) : this.#moved(skipLong);
      case "float":
        return this.#fixedSize(4, false, isRead ? this.#then(instruction.convert, (b, p) => readFloat(at, b, p)) : null);
      default:
        return this.#fixedSize(8, false, isRead ? this.#then(instruction.convert, (b, p) => readDouble(at, b, p)) : null);
    }
  }

  /** A closure of a function that returns the position after a value. */
  #moved(skip: (b: Uint8Array, p: number, e: number) => number): Closure {
    const at = this.#at;
    return (b, p, e) => {
      at.p = skip(b, p, e);
    };
  }

  /** Reads, then converts. The position is set again afterwards, because the conversion may have read another message. */
  #then<T>(convert: ((value: T) => unknown) | null, read: (b: Uint8Array, p: number, e: number, d: number) => T): Closure {
    const at = this.#at;
    if (convert === null) {
      return read;
    }
    return (b, p, e, d) => {
      const value = read(b, p, e, d);
      const behind = at.p;
      const converted = convert(value);
      at.p = behind;
      return converted;
    };
  }

  #readLong({ number, bigint }: Extract<ReadInstruction, { kind: "long" }>): Closure {
    const at = this.#at;
    const read = (b: Uint8Array, p: number, e: number): number | bigint => readLong(at, b, p, e);
    return this.#then<number | bigint>(
      number === null && bigint === null
        ? null
        : (value) => {
            const convert = (typeof value === "number" ? number : bigint) as ((value: number | bigint) => unknown) | null; // the conversion of this kind
            return convert === null ? value : convert(value);
          },
      read,
    );
  }

  #text(convert: ((value: string) => unknown) | null): (b: Uint8Array, start: number, end: number) => unknown {
    return convert === null ? (b, start, end) => readText(b, start, end) : (b, start, end) => convert(readText(b, start, end));
  }

  #fixedSize(size: number, isLong: boolean, read: Closure | null): Closure {
    const at = this.#at;
    return (b, p, e, d) => {
      if (e - p < size) {
        throw truncated();
      }
      if (isLong) {
        addLongCost(at, size);
      }
      const value = read === null ? undefined : read(b, p, e, d);
      at.p = p + size;
      return value;
    };
  }

  #sized(
    instruction: Extract<ReadInstruction, { kind: "string" | "bytes" }>,
    read: ((b: Uint8Array, start: number, end: number) => unknown) | null,
  ): Closure {
    const at = this.#at;
    const { placeholder } = instruction;
    const isLong = instruction.kind === "bytes" && this.#bounds.costs.isLong(instruction);
    return (b, p, e) => {
      const length = readLength(at, b, p, e);
      const start = at.p;
      const end = start + length;
      if (isLong) {
        addLongCost(at, length);
      }
      const value = read === null ? undefined : placeholder?.test(b, start, end) === true ? UNAVAILABLE : read(b, start, end);
      at.p = end;
      return value;
    };
  }

  #record(record: RecordInstruction, isRead: boolean): Closure {
    const compiled = isRead ? this.#reads : this.#skips;
    const known = compiled.get(record);
    if (known !== undefined) {
      return known;
    }
    const fields: FieldClosure[] = [];
    const walk = this.#walkFields(record, fields, isRead ? emptyRecords(record) : null);
    const closure = isRead ? this.#then(record.convert, walk) : walk;
    compiled.set(record, closure); // before the fields, because they may contain the record
    fields.push(...record.fields.map((field) => this.#field(field, isRead)));
    return closure;
  }

  #walkFields(
    record: RecordInstruction,
    fields: readonly FieldClosure[],
    create: (() => Columns) | null,
  ): (...args: Parameters<Closure>) => Columns {
    const at = this.#at;
    const zeroByteCount = this.#bounds.sizeBounds.zeroByteCount(record);
    return (b, p, e, d) => {
      enter(at, d, zeroByteCount);
      const target = create === null ? skippedRecord : create();
      at.p = p;
      let i = 0;
      try {
        for (; i < fields.length; i++) {
          fields[i]!(target, b, at.p, e, d + 1); // i < fields.length
        }
      } catch (error) {
        throw inField(error, record.fields[i]?.name ?? "");
      }
      return target;
    };
  }

  #field({ name, instruction, use }: FieldInstruction, isRead: boolean): FieldClosure {
    if (!isRead || use === "skip") {
      const skip = this.#value(instruction, false);
      return (_target, b, p, e, d) => {
        skip(b, p, e, d);
      };
    }
    const read = use === "read" ? this.#value(instruction, true) : this.#readDeferred(instruction, use);
    return (target, b, p, e, d) => {
      setProperty(target, name, read(b, p, e, d));
    };
  }

  #readDeferred(instruction: ReadInstruction, defer: DeferInstruction): Closure {
    const { record } = defer;
    if (record === null || instruction.kind !== "union") {
      return this.#deferred(instruction, defer);
    }
    const branches = instruction.branches.map((branch) => (branch === record ? this.#deferred(record, defer) : this.#value(branch, true)));
    return this.#union(instruction, branches);
  }

  #union(instruction: UnionInstruction, branches: readonly Closure[]): Closure {
    const at = this.#at;
    const costs = this.#bounds.costs.branches(instruction);
    return (b, p, e, d) => {
      const branch = readIndex(at, b, p, e, branches.length);
      addBranchCost(at, costs, branch);
      return branches[branch]?.(b, at.p, e, d);
    };
  }

  #deferred(instruction: ReadInstruction, defer: DeferInstruction): Closure {
    const at = this.#at;
    const part = this.whole(instruction, partDepth);
    const peeked: Peeked = new Array<string | null | undefined>(defer.peek.length).fill(undefined);
    const skip =
      instruction.kind === "record" && instruction === defer.record
        ? this.#peekRecord(instruction, defer.peek, peeked)
        : this.#value(instruction, false);
    let known: readonly (string | null | undefined)[] | null = null;
    let resolved: unknown;
    return (b, p, e, d) => {
      skip(b, p, e, d);
      const behind = at.p;
      let is = resolved;
      if (known === null || !known.every((value, i) => value === peeked[i])) {
        const seen = [...peeked];
        is = defer.resolve(seen);
        resolved = is;
        known = seen;
      }
      at.p = behind;
      const late = new Deferred(is, part, b, p, behind);
      if (!defer.isJudged) {
        late.judge();
        at.p = behind;
      }
      return late;
    };
  }

  /** Skips a record, and leaves the peeked fields in `peeked`. */
  #peekRecord(record: RecordInstruction, peek: readonly number[], peeked: Peeked): Closure {
    const fields = record.fields.map((field, i): FieldClosure => {
      const place = peek.indexOf(i);
      if (place < 0) {
        return this.#field(field, false);
      }
      const peekText = this.#peekText(field.instruction);
      return (_target, b, p, e, d) => {
        peeked[place] = peekText(b, p, e, d) as string | null; // peekText reads texts and nulls
      };
    });
    return this.#walkFields(record, fields, null);
  }

  #peekText(instruction: ReadInstruction): Closure {
    if (instruction.kind === "union") {
      return this.#union(
        instruction,
        instruction.branches.map((branch) => this.#peekText(branch)),
      );
    }
    const memo = new TextMemo();
    return instruction.kind === "string"
      ? this.#sized({ ...instruction, placeholder: null }, (b, start, end) => memo.read(b, start, end))
      : this.#value(instruction, true);
  }

  #array(instruction: ArrayInstruction, isRead: boolean): Closure {
    const item = this.#value(instruction.items, isRead);
    const blocks = walkBlocks(instruction, this.#at, this.#bounds);
    if (!isRead) {
      return (b, p, e, d) => blocks(b, p, e, d, item);
    }
    const read = this.#then<readonly unknown[]>(instruction.convert, (b, p, e, d) => {
      let items: unknown[] | null = null;
      blocks(b, p, e, d, (_b, position, _e, depth, i, count) => {
        items ??= listOf(count);
        try {
          items[i] = item(b, position, e, depth);
        } catch (error) {
          throw inItem(error, i);
        }
      });
      return items ?? [];
    });
    return this.#orPlaceholder(instruction.placeholder, read);
  }

  #map(instruction: MapInstruction, isRead: boolean): Closure {
    const at = this.#at;
    const key = this.#value(instruction.keys ?? { kind: "string", convert: null, placeholder: null }, isRead);
    const value = this.#value(instruction.values, isRead);
    const blocks = walkBlocks(instruction, at, this.#bounds);
    const pairs: Pairs = (b, p, e, d, keep) =>
      blocks(b, p, e, d, (_b, position, _e, depth) => {
        const name = key(b, position, e, depth);
        keep(name, value(b, at.p, e, depth));
      });
    if (!isRead) {
      return (b, p, e, d) => pairs(b, p, e, d, () => undefined);
    }
    const read: Closure = instruction.keys === null ? readObject(pairs) : readMap(pairs);
    return this.#orPlaceholder(instruction.placeholder, read);
  }

  #orPlaceholder(placeholder: PlaceholderInstruction | null, read: Closure): Closure {
    if (placeholder === null) {
      return read;
    }
    const raw = this.#value(placeholder.raw, true); // an array, an object or a Map
    const { counts, test } = placeholder;
    return (b, p, e, d) => {
      const worthALook = counts.includes(peekCount(b, p, e));
      return worthALook && test(raw(b, p, e, d) as object) ? UNAVAILABLE : read(b, p, e, d);
    };
  }
}
