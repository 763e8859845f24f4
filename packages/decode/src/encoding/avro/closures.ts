/**
 * The reader where code must not be generated: one closure a step. It is the obvious twin of `generate.ts`; a differential test holds the
 * two equal.
 */
import { setProperty } from "../../set-property.ts";
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { Deferred } from "../reader.ts";
import {
  allowance,
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
  weighLong,
} from "./cursor.ts";
import { type Extent, measureSteps } from "./extent.ts";
import type { PayloadReads, ReadPayload } from "./generate.ts";
import { enter, type Peeked, refuse, skipBoolean, SkipWeaver, weighBranch } from "./skip-closures.ts";
import type { ArrayStep, DeferStep, FieldStep, MapStep, PlaceholderStep, RecordStep, Step } from "./steps.ts";
import { readText } from "../text-cache.ts";
import { type BytesStep, type UnionStep, type Weights, weighSteps } from "./weight.ts";

/** Reads the value at `p`, and leaves the position behind it in `Cursor.p`. `d` is how deep the value is nested. */
type Read = (b: Uint8Array, p: number, e: number, d: number) => unknown;

/** The reader of these steps, as closures. */
export function closureReader(root: Step, at: Cursor): PayloadReads {
  const weaver = new Weaver(root, at);
  return { read: weaver.whole(root, 1), readSequence: weaver.sequence(root) };
}

class Weaver {
  readonly #at: Cursor;
  readonly #extent: Extent;
  readonly #weights: Weights;
  readonly #reads = new Map<RecordStep, Read>();
  readonly #skips: SkipWeaver;

  constructor(root: Step, at: Cursor) {
    this.#at = at;
    this.#extent = measureSteps(root);
    this.#weights = weighSteps(root);
    this.#skips = new SkipWeaver(at, this.#extent, this.#weights);
  }

  whole(step: Step, depth: number): ReadPayload {
    const read = this.#read(step);
    return (b, start, end) => this.#budgeted(start, end, () => read(b, start, end, depth));
  }

  sequence(root: Step): PayloadReads["readSequence"] {
    const at = this.#at;
    const read = this.#read(root);
    const minBytes = this.#extent.minBytes(root);
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
    const { zeroByteItems, weight, maxWeight } = at;
    at.zeroByteItems = 0;
    at.weight = 0;
    at.maxWeight = allowance(at, end - start);
    try {
      const value = read();
      if (at.p !== end) {
        throw trailing();
      }
      return value;
    } finally {
      at.zeroByteItems = zeroByteItems;
      at.weight = weight;
      at.maxWeight = maxWeight;
    }
  }

  #read(step: Step): Read {
    const at = this.#at;
    switch (step.kind) {
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
        return this.#then(step.convert, (b, p, e) => readInt(at, b, p, e));
      case "long":
        return this.#readLong(step);
      case "float":
        return this.#readFixed(
          4,
          this.#then(step.convert, (b, p) => readFloat(at, b, p)),
        );
      case "double":
        return this.#readFixed(
          8,
          this.#then(step.convert, (b, p) => readDouble(at, b, p)),
        );
      case "string": {
        const { convert } = step;
        const text = (b: Uint8Array, start: number, end: number): string => readText(at.texts, b, start, end);
        return this.#readSized(step.placeholder, convert === null ? text : (b, start, end) => convert(text(b, start, end)));
      }
      case "bytes":
        return this.#readSized(step.placeholder, this.#bytes(step));
      case "fixed": {
        const { size } = step;
        const value = this.#bytes(step);
        return this.#readFixed(size, (b, p) => value(b, p, p + size));
      }
      case "enum": {
        const { symbols } = step;
        return this.#then(step.convert, (b, p, e) => symbols[readIndex(at, b, p, e, symbols.length)] ?? "");
      }
      case "union":
        return this.#readUnion(
          step,
          step.branches.map((branch) => this.#read(branch)),
        );
      case "mismatch":
        return refuse(step);
      case "record":
        return this.#readRecord(step);
      case "array":
        return this.#placeholder(step.placeholder, this.#readArray(step));
      case "map":
        return this.#placeholder(step.placeholder, this.#readMap(step));
    }
  }

  #bytes(step: BytesStep): (b: Uint8Array, start: number, end: number) => unknown {
    const make = step.convert ?? copyBytes;
    if (!this.#weights.isLong(step)) {
      return make;
    }
    const at = this.#at;
    return (b, start, end) => {
      weighLong(at, end - start);
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

  #readLong({ number, bigint }: Extract<Step, { kind: "long" }>): Read {
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

  #readRecord(record: RecordStep): Read {
    const known = this.#reads.get(record);
    if (known !== undefined) {
      return known;
    }
    const at = this.#at;
    const fields: ((target: Record<string, unknown>, b: Uint8Array, p: number, e: number, d: number) => void)[] = [];
    const charge = this.#extent.charge(record);
    const { order, defaults } = placesOf(record);
    const read = this.#then<Record<string, unknown>>(record.convert, (b, p, e, d) => {
      enter(at, d, charge);
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

  #readField({ name, step, use }: FieldStep): (target: Record<string, unknown>, b: Uint8Array, p: number, e: number, d: number) => void {
    const at = this.#at;
    if (use === "skip") {
      const skip = this.#skips.skip(step);
      return (_target, b, p, e, d) => {
        at.p = skip(b, p, e, d);
      };
    }
    const read = use === "read" ? this.#read(step) : this.#readDeferred(step, use);
    return (target, b, p, e, d) => {
      setProperty(target, name, read(b, p, e, d));
    };
  }

  #readDeferred(step: Step, defer: DeferStep): Read {
    const { record } = defer;
    if (record === null || step.kind !== "union") {
      return this.#deferred(step, defer);
    }
    const branches = step.branches.map((branch) => (branch === record ? this.#deferred(record, defer) : this.#read(branch)));
    return this.#readUnion(step, branches);
  }

  #readUnion(step: UnionStep, branches: readonly Read[]): Read {
    const at = this.#at;
    const weights = this.#weights.branches(step);
    return (b, p, e, d) => {
      const branch = readIndex(at, b, p, e, branches.length);
      weighBranch(at, weights, branch);
      return branches[branch]?.(b, at.p, e, d);
    };
  }

  #deferred(step: Step, defer: DeferStep): Read {
    const at = this.#at;
    const part = this.whole(step, 2);
    const peeked: Peeked = new Array<string | null | undefined>(defer.peek.length).fill(undefined);
    const skip =
      step.kind === "record" && step === defer.record ? this.#skips.peekRecord(step, defer.peek, peeked) : this.#skips.skip(step);
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

  #readArray(step: ArrayStep): Read {
    const at = this.#at;
    const item = this.#read(step.items);
    const blocks = this.#skips.blocks(step);
    return this.#then<readonly unknown[]>(step.convert, (b, p, e, d) => {
      let items: unknown[] | null = null;
      at.p = blocks(b, p, e, d, (position, i, count) => {
        items ??= listOf(count);
        items[i] = item(b, position, e, d + 1);
        return at.p;
      });
      return items ?? [];
    });
  }

  #readMap(step: MapStep): Read {
    const at = this.#at;
    const blocks = this.#skips.blocks(step);
    const key = this.#read(step.keys ?? { kind: "string", convert: null, placeholder: null });
    const value = this.#read(step.values);
    const asObject = step.keys === null;
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

  #placeholder(placeholder: PlaceholderStep | null, read: Read): Read {
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
function placesOf({ fields, projected }: RecordStep): NonNullable<RecordStep["projected"]> {
  if (projected === undefined) {
    return { order: [], defaults: new Map() };
  }
  const read = new Set(fields.filter((field) => field.use !== "skip").map((field) => field.name));
  return { order: projected.order.filter((name) => read.has(name) || projected.defaults.has(name)), defaults: projected.defaults };
}
