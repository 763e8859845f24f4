/**
 * Decides once per schema how a message is read: which conversion each value takes, which columns can hold the placeholder of an unchanged
 * TOAST column, which fields are skipped, which are deferred. Generated code and closures both carry out these instructions.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedValueOptions } from "../../options.ts";
import type { Conversion, Semantic } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import type { DeferredField, ReadPlan } from "../reader.ts";
import type { Cursor } from "./cursor.ts";
import { debeziumStruct } from "./debezium-structs.ts";
import { decimalReader } from "./decimal.ts";
import type { FieldType, Message, MessageField, ScalarName } from "./messages.ts";
import { Placeholders, type PlaceholderBytes } from "./placeholders.ts";
import { timestampReader } from "./timestamp.ts";
import { objectCost, setCost, costOf } from "./cost.ts";
import { anyName, conversionOf, decimalName, isJson, isWrapper, timestampName } from "./well-known.ts";

export type IntegerName = Exclude<ScalarName, "double" | "float" | "bool" | "string" | "bytes">;

/** How one value is read. */
export type ReadInstruction =
  | { readonly kind: IntegerName; readonly number: Convert<number>; readonly bigint: Convert<bigint> }
  | { readonly kind: "float" | "double"; readonly convert: Convert<number> }
  | { readonly kind: "bool" }
  | { readonly kind: "enum"; readonly names: ReadonlyMap<number, string>; readonly convert: Convert<string> }
  | { readonly kind: "string"; readonly convert: Convert<string>; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "bytes"; readonly convert: ConvertBytes; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "message"; readonly message: MessageInstruction; readonly isGroup: boolean };

/** Null if the value needs no conversion. */
type Convert<T> = ((value: T) => unknown) | null;
type ConvertBytes = ((bytes: Uint8Array, start: number, end: number) => unknown) | null;
type Columns = Readonly<Record<string, unknown>>;

export interface MessageInstruction {
  /** In the order of their declaration, which is that of the result's properties. */
  readonly fields: readonly FieldInstruction[];
  readonly convert: Convert<Columns>;
  /** Looks at the lists and maps of a row after all of them were read. */
  readonly finish: ((row: Record<string, unknown>) => void) | null;
  /** The cost of the object, before any field is set. */
  readonly cost: number;
  /** The additional cost of each single field that is set. */
  readonly setCost: number;
  /** How the message is read if not field by field. */
  readonly special: Special | null;
}

export type Special =
  | { readonly kind: "in-place"; readonly read: ReadInPlace }
  /** A message of any type: `find` looks it up by name, and returns null if the schema does not have it. */
  | { readonly kind: "any"; readonly find: (fullName: string) => MessageInstruction | null };

/** Reads a message from `p` to `e` into one value. */
export type ReadInPlace = (at: Cursor, b: Uint8Array, p: number, e: number) => unknown;

export interface FieldInstruction {
  readonly name: string;
  readonly number: number;
  readonly instruction: ReadInstruction;
  readonly cardinality: MessageField["cardinality"];
  /** The value of a single field that the message does not have; null if it is made for each message. */
  readonly absent: unknown;
  /** Makes that value, if it is one that users could change: a list, a Date, bytes. */
  readonly makeAbsent: (() => unknown) | null;
  readonly isRequired: boolean;
  readonly oneof: number;
  readonly use: "read" | "skip" | DeferInstruction;
}

export interface DeferInstruction {
  readonly message: MessageInstruction;
  /** For each peeked name, the number of the string field with that name, or -1. */
  readonly peek: readonly number[];
  /** For each peeked name, its value if the message does not have it; undefined if there is no such field. */
  readonly absent: readonly (string | null | undefined)[];
  readonly resolve: DeferredField["resolve"];
  /** The numbers of the other text fields. */
  readonly texts: readonly number[];
  /** Whether skipping over the message and checking its texts finds every error that reading it would. If not, it is read at once. */
  readonly isJudged: boolean;
}

export interface InstructionOptions {
  readonly values: ResolvedValueOptions;
  readonly plan: ReadPlan;
  /** The semantics of a row's columns by name, for columns whose schema declares none. */
  readonly columns: ReadonlyMap<string, Semantic>;
  /** Reads the JSON document in a column without rounding a number. */
  readonly parseJson: (text: string) => unknown;
  /** Finds a message by its full name. */
  readonly findMessage: (fullName: string) => Message | null;
}

/** Limits the fields of all messages together. Each field counts once for every way in which it is read. */
const maxFields = 400_000;

/** How the values of a message are read: converted, as a row with columns, or raw for the conversion of the message around them. */
type Use = "value" | "row" | "raw";

/** The instructions that read a payload of this message. */
export function planInstructions(message: Message, options: InstructionOptions): MessageInstruction {
  return new Planner(options).root(message);
}

class Planner {
  readonly #options: InstructionOptions;
  readonly #placeholders: Placeholders;
  readonly #messages: Readonly<Record<Use, Map<Message, MessageInstruction>>> = { value: new Map(), row: new Map(), raw: new Map() };
  readonly #waiting: (() => void)[] = [];
  #fields = 0;

  constructor(options: InstructionOptions) {
    this.#options = options;
    this.#placeholders = new Placeholders(options.values.unavailablePlaceholder);
  }

  /** The message at the top. The plan (`rows`, `skip`, `defer`) names only fields of this message. */
  root(message: Message): MessageInstruction {
    const { rows, skip, defer } = this.#options.plan;
    if (this.#isSpecial(message)) {
      return this.#planned(this.#message(message, "value"));
    }
    const fields = message.fields.map((field): FieldInstruction => {
      const instruction = this.#field(
        field,
        rows === "self" ? "row" : "value",
        rows !== "self" && rows.includes(field.name) ? "row" : "value",
      );
      const isSkipped = skip.includes(field.name) || (rows === "self" && this.#isSkipped(field, message));
      const use = defer?.field === field.name ? this.#defer(instruction, field.type, defer) : isSkipped ? "skip" : "read";
      return { ...instruction, use };
    });
    const columns = message.fields.filter(({ name }) => !skip.includes(name));
    return this.#planned(instructionOf(fields, null, rows === "self" ? this.#finish({ ...message, fields: columns }) : null));
  }

  #planned(instruction: MessageInstruction): MessageInstruction {
    // Not by recursion: a chain of a hundred thousand messages would overflow the stack.
    for (let fill = this.#waiting.pop(); fill !== undefined; fill = this.#waiting.pop()) {
      fill();
    }
    return instruction;
  }

  #isSpecial(message: Message): boolean {
    const { values } = this.#options;
    return specialOf(message, values, () => null) !== null || isWrapper(message) || conversionOf(message, values) !== null;
  }

  #message(message: Message, use: Use): MessageInstruction {
    const known = this.#messages[use].get(message);
    if (known !== undefined) {
      return known;
    }
    const instruction = this.#newMessage(message, use);
    this.#messages[use].set(message, instruction);
    return instruction;
  }

  #newMessage(message: Message, use: Use): MessageInstruction {
    const { values } = this.#options;
    const special = use === "raw" ? null : specialOf(message, values, (fullName) => this.#find(fullName));
    if (special !== null) {
      return { ...instructionOf([], null, null), special };
    }
    const [wrapped] = message.fields;
    if (isWrapper(message) && wrapped !== undefined) {
      return this.#wrapper(wrapped, null, use, false);
    }
    const convert = use === "raw" && !isJson(message) ? null : conversionOf(message, values);
    return this.#filled(message, convert === null ? use : "raw", convert);
  }

  /** A message with one field, which exists so that the field can be absent. The column's semantics are those of the field. */
  #wrapper(field: MessageField, conversion: Conversion | null, use: Use, isColumn: boolean): MessageInstruction {
    const instruction = this.#instruction(field.type, conversion, { use, inside: use, isColumn });
    return instructionOf([{ ...field, instruction, ...absentOf(field, instruction), use: "read" }], ({ value }) => value, null);
  }

  #find(fullName: string): MessageInstruction | null {
    const message = this.#options.findMessage(fullName);
    return message === null ? null : this.#planned(this.#message(message, "value"));
  }

  /** A message whose fields are planned later, because it may contain itself. */
  #filled(message: Message, inside: Use, convert: Convert<Columns>): MessageInstruction {
    this.#fields += message.fields.length;
    if (this.#fields > maxFields) {
      throw new DecodeError(
        "schema-invalid",
        `expected at most ${maxFields} fields, each counted once for every way in which the Protobuf schema uses its message, found more`,
      );
    }
    const fields: FieldInstruction[] = [];
    const planned = instructionOf(fields, convert, inside === "row" ? this.#finish(message) : null, message.fields);
    const instruction = convert === null ? planned : { ...planned, cost: convertedCost(message, planned.cost) };
    this.#waiting.push(() => {
      for (const field of message.fields) {
        const use = inside === "row" && this.#isSkipped(field, message) ? "skip" : "read";
        fields.push({ ...this.#field(field, inside, inside === "raw" ? "raw" : "value"), use });
      }
    });
    return instruction;
  }

  /** `use` is how the message around the field is read, `inside` how the field's own message is read. */
  #field(field: MessageField, use: Use, inside: Use): FieldInstruction {
    const conversion = this.#conversion(field, use);
    const isColumn = use === "row" && field.cardinality === "single";
    const instruction = this.#instruction(field.type, conversion, { use, inside, isColumn });
    const { name, number, cardinality, isRequired, oneof } = field;
    return { name, number, instruction, cardinality, ...absentOf(field, instruction), isRequired, oneof, use: "read" };
  }

  #instruction(
    type: FieldType,
    conversion: Conversion | null,
    { use, inside, isColumn }: { use: Use; inside: Use; isColumn: boolean },
  ): ReadInstruction {
    switch (type.kind) {
      case "message":
        return { kind: "message", message: this.#inner(type.message, conversion, inside, isColumn), isGroup: type.isGroup };
      case "enum":
        return { kind: "enum", names: type.names, convert: conversion?.text ?? null };
      case "bool":
        return { kind: "bool" };
      case "float":
      case "double":
        return { kind: type.kind, convert: conversion?.double ?? null };
      case "string":
        return { kind: "string", convert: conversion?.text ?? null, placeholder: isColumn ? this.#placeholders.text : null };
      case "bytes":
        return { kind: "bytes", convert: conversion?.bytes ?? null, placeholder: isColumn ? this.#placeholders.bytes : null };
      default:
        return this.#integer(type.kind, conversion, use);
    }
  }

  #inner(message: Message, conversion: Conversion | null, inside: Use, isColumn: boolean): MessageInstruction {
    const [wrapped] = message.fields;
    if (isWrapper(message) && wrapped !== undefined && inside !== "raw" && isColumn) {
      return this.#wrapper(wrapped, conversion, inside, isColumn);
    }
    const struct = conversion?.struct ?? (isColumn ? debeziumStruct(message, this.#options.values, this.#options.parseJson) : null);
    return struct !== null && !this.#isSpecial(message) ? this.#filled(message, "raw", struct) : this.#message(message, inside);
  }

  #integer(kind: IntegerName, conversion: Conversion | null, use: Use): ReadInstruction {
    const isWide = kind.endsWith("64");
    const mode = use === "raw" || !isWide ? "safe" : this.#options.values.int64;
    const number = mode === "safe" ? null : mode === "bigint" ? BigInt : String;
    const bigint = mode === "string" ? String : null;
    return { kind, number: conversion?.int ?? number, bigint: conversion?.bigint ?? bigint };
  }

  /** The field's semantics in its schema come first, then those that the user hinted for the column. */
  #conversion({ name, semantic }: MessageField, use: Use): Conversion | null {
    const { columns, values, parseJson } = this.#options;
    const declared = use === "row" ? (semantic ?? columns.get(name)) : semantic;
    return use === "raw" || declared === null || declared === undefined ? null : conversionFor(declared, values, parseJson);
  }

  #defer(field: FieldInstruction, type: FieldType, { peek, resolve }: DeferredField): FieldInstruction["use"] {
    if (field.cardinality !== "single" || field.instruction.kind !== "message" || field.instruction.isGroup || type.kind !== "message") {
      return "read";
    }
    const { fields } = type.message;
    const peeked = peek.map((name) =>
      fields.find((inner) => inner.name === name && inner.type.kind === "string" && inner.cardinality === "single"),
    );
    return {
      message: field.instruction.message,
      peek: peeked.map((inner) => inner?.number ?? -1),
      absent: peeked.map((inner) => (typeof inner?.absent === "string" ? inner.absent : inner === undefined ? undefined : null)),
      resolve,
      texts: fields.filter((inner) => inner.type.kind === "string" && !peeked.includes(inner)).map(({ number }) => number),
      isJudged: field.instruction.message.convert === null && fields.every((inner) => this.#isScalar(inner)),
    };
  }

  /** Whether a field is a scalar without conversion. */
  #isScalar(field: MessageField): boolean {
    const { type, cardinality, isRequired } = field;
    return type.kind !== "message" && cardinality === "single" && !isRequired && this.#conversion(field, "value") === null;
  }

  #isSelected({ name }: MessageField): boolean {
    return this.#options.plan.selected?.has(name) !== false;
  }

  /**
   * Whether a column is skipped. A column that is not selected is read all the same if it belongs to a oneof with one that is: the last of
   * them that was sent makes null of the others.
   */
  #isSkipped(field: MessageField, { fields }: Message): boolean {
    const { oneof } = field;
    return !this.#isSelected(field) && (oneof < 0 || !fields.some((other) => other.oneof === oneof && this.#isSelected(other)));
  }

  #finish(message: Message): MessageInstruction["finish"] {
    const fields = message.fields.filter((field) => this.#isSelected(field));
    const dropped = message.fields.filter((field) => !this.#isSelected(field) && !this.#isSkipped(field, message));
    const drops = dropped.map(
      ({ name }) =>
        (row: Record<string, unknown>): void =>
          void delete row[name],
    );
    const finishes = fields.flatMap((field) => {
      const conversion = this.#conversion(field, "row");
      const finish = this.#placeholders.finish(field, conversion?.array ?? null);
      return finish === null ? [] : [finish];
    });
    const all = [...drops, ...finishes];
    return all.length === 0 ? null : (row) => all.forEach((finish) => finish(row));
  }
}

function specialOf(message: Message, values: ResolvedValueOptions, find: (fullName: string) => MessageInstruction | null): Special | null {
  switch (message.isBuiltIn ? message.fullName : null) {
    case anyName:
      return { kind: "any", find };
    case decimalName:
      return { kind: "in-place", read: decimalReader(values) };
    case timestampName:
      return values.time === "raw" ? null : { kind: "in-place", read: timestampReader(values) };
    default:
      return null;
  }
}

function instructionOf(
  fields: readonly FieldInstruction[],
  convert: Convert<Columns>,
  finish: MessageInstruction["finish"],
  planned: readonly Pick<MessageField, "cardinality">[] = fields,
): MessageInstruction {
  const costs = { single: 0, repeated: costOf.list, map: costOf.map };
  const parts = planned.reduce<number>((sum, { cardinality }) => sum + costs[cardinality], 0);
  return { fields, convert, finish, cost: objectCost(planned.length) + parts, setCost: setCost(planned.length), special: null };
}

/** The cost of a converted message. The object that is converted is garbage soon after; the result is most often a text. */
function convertedCost(message: Message, cost: number): number {
  if (!isJson(message)) {
    return cost + costOf.text;
  }
  return message.fields.every(({ cardinality }) => cardinality === "single") ? costOf.object : cost;
}

/** The absent value, converted like a value that was sent; null if the column's semantics do not allow it. */
function absentOf(field: MessageField, instruction: ReadInstruction): Pick<FieldInstruction, "absent" | "makeAbsent"> {
  const { absent } = field;
  if (absent === undefined || field.cardinality !== "single") {
    return { absent: null, makeAbsent: null };
  }
  const make = (): unknown => convertAbsent(absent instanceof Uint8Array ? Buffer.from(absent) : absent, instruction);
  try {
    const value = make();
    const isShareable = typeof value !== "object" || value === null || (value instanceof Uint8Array && value.length === 0);
    return isShareable ? { absent: value, makeAbsent: null } : { absent: null, makeAbsent: make };
  } catch {
    return { absent: null, makeAbsent: null }; // an empty text is no date, and empty bytes are no decimal
  }
}

function convertAbsent(absent: unknown, instruction: ReadInstruction): unknown {
  switch (instruction.kind) {
    case "bool":
    case "message":
      return absent;
    case "string":
    case "enum":
      return instruction.convert === null || typeof absent !== "string" ? absent : instruction.convert(absent);
    case "bytes":
      return instruction.convert === null || !(absent instanceof Uint8Array) ? absent : instruction.convert(absent, 0, absent.length);
    case "float":
    case "double":
      return instruction.convert === null || typeof absent !== "number" ? absent : instruction.convert(absent);
    default:
      if (typeof absent === "number") {
        return instruction.number === null ? absent : instruction.number(absent);
      }
      return instruction.bigint === null || typeof absent !== "bigint" ? absent : instruction.bigint(absent);
  }
}
