/**
 * The reader where code must not be generated: one closure a step. It is the obvious twin of `generate.ts`; a differential test holds the
 * two equal.
 */
import { setProperty } from "../../set-property.ts";
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { Deferred } from "../reader.ts";
import {
  costBudget,
  copyBytes,
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
  trailing,
  truncated,
  addLongCost,
} from "./cursor.ts";
import { type SizeBounds, measureSizes } from "./size-bounds.ts";
import type { PayloadReads, ReadPayload } from "./generate.ts";
import { enter, type Peeked, refuse, skipBoolean, SkipClosureCompiler, addBranchCost } from "./skip-closures.ts";
import type {
  ArrayInstruction,
  DeferInstruction,
  FieldInstruction,
  MapInstruction,
  PlaceholderInstruction,
  RecordInstruction,
  ReadInstruction,
} from "./read-instructions.ts";
import { readText } from "../text-cache.ts";
import { type BytesInstruction, type UnionInstruction, type Costs, planCosts } from "./cost.ts";

/** Reads the value at `p`, and leaves the position behind it in `Cursor.p`. `d` is how deep the value is nested. */
type Read = (b: Uint8Array, p: number, e: number, d: number) => unknown;

/** The reader of these steps, as closures. */
export function closureReader(root: ReadInstruction, at: Cursor): PayloadReads {
  const compiler = new ClosureCompiler(root, at);
  return { read: compiler.whole(root, 1), readSequence: compiler.sequence(root) };
}

class ClosureCompiler {
  readonly #at: Cursor;
  readonly #sizeBounds: SizeBounds;
  readonly #costs: Costs;
  readonly #reads = new Map<RecordInstruction, Read>();
  readonly #skips: SkipClosureCompiler;

  constructor(root: ReadInstruction, at: Cursor) {
    this.#at = at;
    this.#sizeBounds = measureSizes(root);
    this.#costs = planCosts(root);
    this.#skips = new SkipClosureCompiler(at, this.#sizeBounds, this.#costs);
  }

  whole(instruction: ReadInstruction, depth: number): ReadPayload {
    const read = this.#read(instruction);
    return (b, start, end) => this.#budgeted(start, end, () => read(b, start, end, depth));
  }

  sequence(root: ReadInstruction): PayloadReads["readSequence"] {
    const at = this.#at;
    const read = this.#read(root);
    const minBytes = this.#sizeBounds.minBytes(root);
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

  /** Reads with a message's budgets, to the end of its bytes; a conversion may read another message on the way. */
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

  #read(instruction: ReadInstruction): Read {
    const at = this.#at;
    switch (instruction.kind) {
      case "null":
        return (_b, p) => {
          at.p = p;
          return null;
        };
      case "boolean":
        return (b, p, e) => {
          at.p = skipBoolean(b, p, e);
          return b[p] === 1;
        };
      case "int":
        return this.#then(instruction.convert, (b, p, e) => readInt(at, b, p, e));
      case "long":
        return this.#readLong(instruction);
      case "float":
        return this.#readFixed(
          4,
          this.#then(instruction.convert, (b, p) => readFloat(at, b, p)),
        );
      case "double":
        return this.#readFixed(
          8,
          this.#then(instruction.convert, (b, p) => readDouble(at, b, p)),
        );
      case "string": {
        const { convert } = instruction;
        const text = (b: Uint8Array, start: number, end: number): string => readText(at.texts, b, start, end);
        return this.#readSized(instruction.placeholder, convert === null ? text : (b, start, end) => convert(text(b, start, end)));
      }
      case "bytes":
        return this.#readSized(instruction.placeholder, this.#bytes(instruction));
      case "fixed": {
        const { size } = instruction;
        const value = this.#bytes(instruction);
        return this.#readFixed(size, (b, p) => value(b, p, p + size));
      }
      case "enum": {
        const { symbols } = instruction;
        return this.#then(instruction.convert, (b, p, e) => symbols[readIndex(at, b, p, e, symbols.length)] ?? "");
      }
      case "union":
        return this.#readUnion(
          instruction,
          instruction.branches.map((branch) => this.#read(branch)),
        );
      case "mismatch":
        return refuse(instruction);
      case "record":
        return this.#readRecord(instruction);
      case "array":
        return this.#placeholder(instruction.placeholder, this.#readArray(instruction));
      case "map":
        return this.#placeholder(instruction.placeholder, this.#readMap(instruction));
    }
  }

  #bytes(instruction: BytesInstruction): (b: Uint8Array, start: number, end: number) => unknown {
    const make = instruction.convert ?? copyBytes;
    if (!this.#costs.isLong(instruction)) {
      return make;
    }
    const at = this.#at;
    return (b, start, end) => {
      addLongCost(at, end - start);
      return make(b, start, end);
    };
  }

  /** Reads, then converts. The position is set again: the conversion may have read another message. */
  #then<T>(convert: ((value: T) => unknown) | null, read: (b: Uint8Array, p: number, e: number, d: number) => T): Read {
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

  #readLong({ number, bigint }: Extract<ReadInstruction, { kind: "long" }>): Read {
    const at = this.#at;
    const read = (b: Uint8Array, p: number, e: number): number | bigint => readLong(at, b, p, e);
    return this.#then<number | bigint>(
      number === null && bigint === null
        ? null
        : (value) => {
            const convert = (typeof value === "number" ? number : bigint) as ((value: number | bigint) => unknown) | null; // its own kind
            return convert === null ? value : convert(value);
          },
      read,
    );
  }

  #readFixed(size: number, read: Read): Read {
    const at = this.#at;
    return (b, p, e, d) => {
      if (e - p < size) {
        throw truncated();
      }
      const value = read(b, p, e, d);
      at.p = p + size;
      return value;
    };
  }

  #readSized(placeholder: PlaceholderBytes | null, value: (b: Uint8Array, start: number, end: number) => unknown): Read {
    const at = this.#at;
    return (b, p, e) => {
      const length = readLength(at, b, p, e);
      const start = at.p;
      const result = placeholder?.test(b, start, start + length) === true ? UNAVAILABLE : value(b, start, start + length);
      at.p = start + length;
      return result;
    };
  }

  #readRecord(record: RecordInstruction): Read {
    const known = this.#reads.get(record);
    if (known !== undefined) {
      return known;
    }
    const at = this.#at;
    const fields: ((target: Record<string, unknown>, b: Uint8Array, p: number, e: number, d: number) => void)[] = [];
    const zeroByteCount = this.#sizeBounds.zeroByteCount(record);
    const { order, defaults } = placesOf(record);
    const read = this.#then<Record<string, unknown>>(record.convert, (b, p, e, d) => {
      enter(at, d, zeroByteCount);
      const target: Record<string, unknown> = {};
      for (const name of order) {
        setProperty(target, name, defaults.get(name)?.make()); // the others are read below, into their places
      }
      at.p = p;
      for (const field of fields) {
        field(target, b, at.p, e, d + 1);
      }
      return target;
    });
    this.#reads.set(record, read); // before the fields: they may hold the record
    fields.push(...record.fields.map((field) => this.#readField(field)));
    return read;
  }

  #readField({
    name,
    instruction,
    use,
  }: FieldInstruction): (target: Record<string, unknown>, b: Uint8Array, p: number, e: number, d: number) => void {
    const at = this.#at;
    if (use === "skip") {
      const skip = this.#skips.skip(instruction);
      return (_target, b, p, e, d) => {
        at.p = skip(b, p, e, d);
      };
    }
    const read = use === "read" ? this.#read(instruction) : this.#readDeferred(instruction, use);
    return (target, b, p, e, d) => {
      setProperty(target, name, read(b, p, e, d));
    };
  }

  #readDeferred(instruction: ReadInstruction, defer: DeferInstruction): Read {
    const { record } = defer;
    if (record === null || instruction.kind !== "union") {
      return this.#deferred(instruction, defer);
    }
    const branches = instruction.branches.map((branch) => (branch === record ? this.#deferred(record, defer) : this.#read(branch)));
    return this.#readUnion(instruction, branches);
  }

  #readUnion(instruction: UnionInstruction, branches: readonly Read[]): Read {
    const at = this.#at;
    const costs = this.#costs.branches(instruction);
    return (b, p, e, d) => {
      const branch = readIndex(at, b, p, e, branches.length);
      addBranchCost(at, costs, branch);
      return branches[branch]?.(b, at.p, e, d);
    };
  }

  #deferred(instruction: ReadInstruction, defer: DeferInstruction): Read {
    const at = this.#at;
    const part = this.whole(instruction, 2);
    const peeked: Peeked = new Array<string | null | undefined>(defer.peek.length).fill(undefined);
    const skip =
      instruction.kind === "record" && instruction === defer.record
        ? this.#skips.peekRecord(instruction, defer.peek, peeked)
        : this.#skips.skip(instruction);
    let known: readonly (string | null | undefined)[] | null = null;
    let resolved: unknown;
    return (b, p, e, d) => {
      const behind = skip(b, p, e, d);
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

  #readArray(instruction: ArrayInstruction): Read {
    const at = this.#at;
    const item = this.#read(instruction.items);
    const blocks = this.#skips.blocks(instruction);
    return this.#then<readonly unknown[]>(instruction.convert, (b, p, e, d) => {
      let items: unknown[] | null = null;
      at.p = blocks(b, p, e, d, (position, i, count) => {
        items ??= listOf(count);
        items[i] = item(b, position, e, d + 1);
        return at.p;
      });
      return items ?? [];
    });
  }

  #readMap(instruction: MapInstruction): Read {
    const at = this.#at;
    const blocks = this.#skips.blocks(instruction);
    const key = this.#read(instruction.keys ?? { kind: "string", convert: null, placeholder: null });
    const value = this.#read(instruction.values);
    const asObject = instruction.keys === null;
    return (b, p, e, d) => {
      const object = Object.create(null) as Record<string, unknown>; // the one prototype that hides no key
      const map = new Map<unknown, unknown>();
      at.p = blocks(b, p, e, d, (position) => {
        const name = key(b, position, e, d + 1);
        const content = value(b, at.p, e, d + 1);
        if (asObject) {
          object[name as string] = content; // read by the step for strings above
        } else {
          map.set(name, content);
        }
        return at.p;
      });
      return asObject ? object : map;
    };
  }

  #placeholder(placeholder: PlaceholderInstruction | null, read: Read): Read {
    if (placeholder === null) {
      return read;
    }
    const raw = this.#read(placeholder.raw); // an array, an object or a Map
    const { counts, test } = placeholder;
    return (b, p, e, d) => {
      const worthALook = counts.includes(peekCount(b, p, e));
      return worthALook && test(raw(b, p, e, d) as object) ? UNAVAILABLE : read(b, p, e, d);
    };
  }
}

/** Where the reader's own schema has an order and defaults, the names that a record's object has, in that order. */
function placesOf({ fields, resolution }: RecordInstruction): NonNullable<RecordInstruction["resolution"]> {
  if (resolution === undefined) {
    return { order: [], defaults: new Map() };
  }
  const read = new Set(fields.filter((field) => field.use !== "skip").map((field) => field.name));
  return { order: resolution.order.filter((name) => read.has(name) || resolution.defaults.has(name)), defaults: resolution.defaults };
}
