/**
 * The reader made of closures. It is used if code generation is off, and for messages whose fields do not come in the order of their
 * numbers. It is the simple twin of `generate.ts`: a differential test holds that both give the same, and
 * `npm run bench -- tiers` measures how much slower it is ("generatedReaders").
 */
import { inField, inItem } from "../../errors.ts";
import { setProperty } from "../../set-property.ts";
import { UNAVAILABLE } from "../../values/unavailable.ts";
import { Deferred } from "../reader.ts";
import { readText } from "../utf8-text.ts";
import {
  type Cursor,
  groupEnd,
  missingField,
  readBool,
  readDouble,
  readEnd,
  readFloat,
  readInt32,
  readTag,
  skipField,
  takeBytes,
  tooDeep,
  wire,
} from "./cursor.ts";
import { addPair, type EmptyValue, initialOf, itemCost } from "./collections.ts";
import { integerReaders } from "./integers.ts";
import { joinParts, mergesInPlace } from "./merge.ts";
import { packedReader } from "./packed.ts";
import { peekReader } from "./peek.ts";
import type { DeferInstruction, FieldInstruction, IntegerName, MessageInstruction, Special, ReadInstruction } from "./read-instructions.ts";
import { addCost, addConversionCost, costOf } from "./cost.ts";
import { type Apply, choose, type Oneof, oneofsOf, type Target, type FieldReader, FieldTable } from "./field-table.ts";
import { type ReadMessage, type ReadPayload, whole } from "./whole.ts";
import { canBePacked, wireOf } from "./wires.ts";

/** Reads the fields from `p` to `e`, in any order, into the object of the message that begins at `start`. */
export type ReadRest = (target: Target, b: Uint8Array, start: number, p: number, e: number, d: number) => void;

/** Reads one value at `p`, and sets `Cursor.p` to the position after it. */
type Read = (b: Uint8Array, p: number, e: number, d: number) => unknown;

/** Makes a reader of these instructions, as closures. */
export function closureReader(root: MessageInstruction, at: Cursor): ReadPayload {
  const compiler = new ClosureCompiler(at);
  return whole(compiler.message(root), at, 1);
}

const noBytes = new Uint8Array(0);

export class ClosureCompiler {
  readonly #at: Cursor;
  readonly #messages = new Map<MessageInstruction, ReadMessage>();
  readonly #rests = new Map<MessageInstruction, ReadRest>();

  constructor(at: Cursor) {
    this.#at = at;
  }

  message(instruction: MessageInstruction): ReadMessage {
    const known = this.#messages.get(instruction);
    if (known !== undefined) {
      return known;
    }
    const read = instruction.special === null ? this.#fieldByField(instruction) : this.#special(instruction.special);
    this.#messages.set(instruction, read);
    return read;
  }

  /** Compiled when the first message needs it. Most messages never do, and a message may contain itself. */
  rest(instruction: MessageInstruction): ReadRest {
    const known = this.#rests.get(instruction);
    if (known !== undefined) {
      return known;
    }
    let woven: ReadRest | null = null;
    const rest: ReadRest = (target, b, start, p, e, d) => {
      woven ??= this.#compileRest(instruction);
      woven(target, b, start, p, e, d);
    };
    this.#rests.set(instruction, rest);
    return rest;
  }

  /** A message that is deferred, with a few of its texts read at once. */
  deferred(instruction: DeferInstruction): ReadMessage {
    const at = this.#at;
    const part = whole(this.message(instruction.message), at, 2);
    const peek = peekReader(at, instruction);
    if (instruction.isJudged) {
      return (b, p, e) => new Deferred(peek(b, p, e), part, b, p, e);
    }
    return (b, p, e) => {
      const late = new Deferred(peek(b, p, e), part, b, p, e);
      late.judge();
      return late;
    };
  }

  /** Reads the value of a map's pair that has no value; null if the pair's own reader gives it. */
  emptyValue({ instruction }: FieldInstruction): EmptyValue {
    const value = instruction.kind === "message" ? instruction.message.fields.find(({ number }) => number === 2)?.instruction : undefined;
    return value?.kind === "message" ? (d) => this.message(value.message)(noBytes, 0, 0, d) : null;
  }

  #fieldByField(instruction: MessageInstruction): ReadMessage {
    const at = this.#at;
    const rest = this.rest(instruction);
    const { convert, finish, cost } = instruction;
    const fields = instruction.fields.filter(({ use }) => use !== "skip");
    const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
    return (b, p, e, d) => {
      if (d > at.maxDepth) {
        throw tooDeep(at);
      }
      addCost(at, cost);
      const target: Target = {};
      for (const field of fields) {
        setProperty(target, field.name, initialOf(field));
      }
      rest(target, b, p, p, e, d);
      if (required.some((name) => target[name] === undefined)) {
        throw missingField();
      }
      finish?.(target);
      return convert === null ? target : convert(target);
    };
  }

  #special(special: Special): ReadMessage {
    const at = this.#at;
    if (special.kind === "in-place") {
      const { read } = special;
      return (b, p, e) => read(at, b, p, e);
    }
    return (b, p, e, d) => this.#readAny(special.find, b, p, e, d);
  }

  /**
   * Reads a `google.protobuf.Any`: `{ typeUrl, value }`. The value stays bytes if the schema does not have the message that `typeUrl`
   * names.
   */
  #readAny(find: (fullName: string) => MessageInstruction | null, b: Uint8Array, p: number, e: number, d: number): unknown {
    const at = this.#at;
    if (d > at.maxDepth) {
      throw tooDeep(at);
    }
    addCost(at, costOf.any);
    let typeUrl = "";
    let start = p;
    let end = p;
    while (p < e) {
      const tag = readTag(at, b, p, e);
      p = at.p;
      if (tag !== 0x0a && tag !== 0x12) {
        p = skipField(at, b, p, e, tag);
        continue;
      }
      const valueEnd = readEnd(at, b, p, e);
      if (tag === 0x0a) {
        typeUrl = readText(b, at.p, valueEnd);
      } else {
        start = at.p;
        end = valueEnd;
      }
      p = valueEnd;
    }
    const known = find(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
    return { typeUrl, value: known === null ? takeBytes(at, b, start, end) : this.message(known)(b, start, end, d + 1) };
  }

  #compileRest(instruction: MessageInstruction): ReadRest {
    const at = this.#at;
    const byNumber = new Map(instruction.fields.map((field) => [field.number, field]));
    const oneofs = oneofsOf(instruction);
    const readers = new FieldTable(instruction.fields.map((field) => this.#reader(field, oneofs, instruction.setCost)));
    return (target, b, start, p, e, d) => {
      let merged: ReadonlyMap<FieldInstruction, Uint8Array> | null = null;
      const chosen = oneofs.size > 0 ? new Map<Oneof, FieldInstruction>() : null;
      let position = p;
      while (position < e) {
        const byte = b[position]!; // position < e
        let tag = byte;
        if (byte < 0x80 && byte > 7) {
          position++;
        } else {
          tag = readTag(at, b, position, e);
          position = at.p;
        }
        const reader = readers.find(tag >>> 3);
        // If the wire type does not fit the field, the field counts as unknown, as in Google's own parsers.
        if (reader === undefined || ((tag & 7) !== reader.wire && (tag & 7) !== reader.packedWire)) {
          position = skipField(at, b, position, e, tag);
          continue;
        }
        const { field } = reader;
        if (reader.cost > 0) {
          addCost(at, reader.cost);
        }
        if (chosen !== null && reader.oneof !== null) {
          choose(target, field, reader.oneof, chosen);
        }
        if (reader.merge !== "never" && target[field.name] !== null && target[field.name] !== undefined) {
          if (reader.merge !== "joined") {
            position = reader.merge(target, b, position, e, tag, d);
            continue;
          }
          merged ??= joinParts(at, b, start, e, byNumber);
        }
        try {
          position = merged?.has(field) ? skipField(at, b, position, e, tag) : reader.apply(target, b, position, e, tag, d);
        } catch (error) {
          throw inField(error, field.name);
        }
      }
      for (const [field, whole] of merged ?? []) {
        setProperty(target, field.name, this.#content(field)(whole, 0, whole.length, d + 1));
      }
    };
  }

  #reader(field: FieldInstruction, oneofs: ReadonlyMap<number, Oneof>, setCost: number): FieldReader {
    const { cardinality, instruction, use } = field;
    return {
      field,
      wire: use === "skip" ? -1 : wireOf(instruction),
      packedWire: use !== "skip" && canBePacked(field) ? wire.length : -1,
      oneof: oneofs.get(field.oneof) ?? null,
      merge: this.#merge(field),
      cost: cardinality === "single" ? setCost : 0,
      apply: cardinality === "single" ? this.#single(field) : cardinality === "map" ? this.#map(field) : this.#repeated(field),
    };
  }

  /** How the second part of a message is read: into the object of the first part, if that object still holds all that was read. */
  #merge(field: FieldInstruction): FieldReader["merge"] {
    const { name, cardinality, instruction } = field;
    if (cardinality !== "single" || instruction.kind !== "message") {
      return "never";
    }
    if (!mergesInPlace(field)) {
      return "joined";
    }
    const rest = this.rest(instruction.message);
    const at = this.#at;
    return this.#bounded(instruction.isGroup, (target, b, p, e, d) => {
      addCost(at, costOf.part);
      rest(target[name] as Target, b, p, p, e, d);
    });
  }

  #single(field: FieldInstruction): Apply {
    const at = this.#at;
    const { name, instruction } = field;
    if (instruction.kind === "message") {
      const content = this.#content(field);
      return this.#bounded(instruction.isGroup, (target, b, p, e, d) => setProperty(target, name, content(b, p, e, d)));
    }
    const read = this.#read(instruction);
    return (target, b, p, e, _tag, d) => {
      const value = read(b, p, e, d);
      const behind = at.p;
      setProperty(target, name, value);
      return behind;
    };
  }

  #repeated(field: FieldInstruction): Apply {
    const at = this.#at;
    const { name, instruction } = field;
    if (instruction.kind === "message") {
      const content = this.#content(field);
      return this.#bounded(instruction.isGroup, (target, b, p, e, d) => {
        const items = target[name] as unknown[]; // initialOf made it a list
        try {
          items.push(content(b, p, e, d));
        } catch (error) {
          throw inItem(error, items.length);
        }
      });
    }
    const read = this.#read(instruction);
    const cost = itemCost(instruction);
    const packable = canBePacked(field);
    const packed = packedReader(instruction);
    return (target, b, p, e, tag, d) => {
      const items = target[name] as unknown[]; // initialOf made it a list
      const isPacked = packable && (tag & 7) === wire.length;
      const end = isPacked ? readEnd(at, b, p, e) : e;
      let position = isPacked ? at.p : p;
      if (isPacked && packed !== null) {
        return packed(at, items, b, position, end);
      }
      while (!isPacked || position < end) {
        if (cost > 0) {
          addCost(at, cost);
        }
        items.push(read(b, position, end, d));
        position = at.p;
        if (!isPacked) {
          break;
        }
      }
      return position;
    };
  }

  #map(field: FieldInstruction): Apply {
    const at = this.#at;
    const { name, instruction } = field;
    const content = this.#content(field);
    const empty = this.emptyValue(field);
    return this.#bounded(instruction.kind === "message" && instruction.isGroup, (target, b, p, e, d) => {
      addPair(at, target[name], content(b, p, e, d), empty, d + 1);
    });
  }

  /** Finds the content of a message (after its length) or of a group (between its tags), and passes it to `use` with its depth. */
  #bounded(isGroup: boolean, use: (target: Target, b: Uint8Array, p: number, e: number, d: number) => void): Apply {
    const at = this.#at;
    if (isGroup) {
      return (target, b, p, e, tag, d) => {
        const end = groupEnd(at, b, p, e, tag);
        const behind = at.p;
        use(target, b, p, end, d + 1);
        return behind;
      };
    }
    return (target, b, p, e, _tag, d) => {
      const end = readEnd(at, b, p, e);
      use(target, b, at.p, end, d + 1);
      return end;
    };
  }

  /** Reads the content of a message field, from its start to its end. */
  #content({ instruction, use }: FieldInstruction): ReadMessage {
    if (use !== "read" && use !== "skip") {
      return this.deferred(use);
    }
    if (instruction.kind !== "message") {
      throw new TypeError("only messages have content");
    }
    const { message } = instruction;
    let read: ReadMessage | null = null; // compiled late, because the message may contain itself
    return (b, p, e, d) => {
      read ??= this.message(message);
      return read(b, p, e, d);
    };
  }

  #read(instruction: Exclude<ReadInstruction, { kind: "message" }>): Read {
    const at = this.#at;
    switch (instruction.kind) {
      case "bool":
        return (b, p, e) => readBool(at, b, p, e);
      case "float":
        return this.#then(instruction.convert, (b, p, e) => readFloat(at, b, p, e));
      case "double":
        return this.#then(instruction.convert, (b, p, e) => readDouble(at, b, p, e));
      case "enum":
        return this.#readEnum(instruction);
      case "string": {
        const { convert, placeholder } = instruction;
        return this.#sized((b, start, end) => {
          if (placeholder?.test(b, start, end) === true) {
            return UNAVAILABLE;
          }
          const text = readText(b, start, end);
          return convert === null ? text : convert(text);
        });
      }
      case "bytes": {
        const { convert, placeholder } = instruction;
        return this.#sized((b, start, end) => {
          if (placeholder?.test(b, start, end) === true) {
            return UNAVAILABLE;
          }
          if (convert === null) {
            return takeBytes(at, b, start, end);
          }
          addConversionCost(at, end - start);
          return convert(b, start, end);
        });
      }
      default:
        return this.#readInteger(instruction);
    }
  }

  #readInteger({ kind, number, bigint }: Extract<ReadInstruction, { kind: IntegerName }>): Read {
    const at = this.#at;
    const read = integerReaders[kind];
    return (b, p, e) => {
      const value = read(at, b, p, e);
      const behind = at.p;
      const converted = typeof value === "number" ? (number === null ? value : number(value)) : bigint === null ? value : bigint(value);
      at.p = behind;
      return converted;
    };
  }

  #readEnum({ names, convert }: Extract<ReadInstruction, { kind: "enum" }>): Read {
    return this.#then<number>(
      (number) => {
        const symbol = names.get(number);
        return symbol === undefined ? number : convert === null ? symbol : convert(symbol);
      },
      (b, p, e) => readInt32(this.#at, b, p, e),
    );
  }

  #sized(value: (b: Uint8Array, start: number, end: number) => unknown): Read {
    const at = this.#at;
    return (b, p, e) => {
      const end = readEnd(at, b, p, e);
      const result = value(b, at.p, end);
      at.p = end;
      return result;
    };
  }

  /** Reads, then converts. The position is set again afterwards, because the conversion may have read another message. */
  #then<T>(convert: ((value: T) => unknown) | null, read: (b: Uint8Array, p: number, e: number) => T): Read {
    const at = this.#at;
    if (convert === null) {
      return read;
    }
    return (b, p, e) => {
      const value = read(b, p, e);
      const behind = at.p;
      const converted = convert(value);
      at.p = behind;
      return converted;
    };
  }
}
