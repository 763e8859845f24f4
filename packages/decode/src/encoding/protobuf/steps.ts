/**
 * What reading a message means, decided once per schema: which conversion each value takes, which columns know the placeholder of an
 * unchanged TOAST column, what is skipped, what is deferred. Generated code and closures are two renderings of this.
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
import { objectWeight, setWeight, weightOf } from "./weight.ts";
import { anyName, conversionOf, decimalName, isJson, isWrapper, timestampName } from "./well-known.ts";

export type IntegerName = Exclude<ScalarName, "double" | "float" | "bool" | "string" | "bytes">;

/** Reads one value. */
export type Step =
  | { readonly kind: IntegerName; readonly number: Convert<number>; readonly bigint: Convert<bigint> }
  | { readonly kind: "float" | "double"; readonly convert: Convert<number> }
  | { readonly kind: "bool" }
  | { readonly kind: "enum"; readonly names: ReadonlyMap<number, string>; readonly convert: Convert<string> }
  | { readonly kind: "string"; readonly convert: Convert<string>; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "bytes"; readonly convert: ConvertBytes; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "message"; readonly message: MessageStep; readonly isGroup: boolean };

/** Null where the value is handed on as it is. */
type Convert<T> = ((value: T) => unknown) | null;
type ConvertBytes = ((bytes: Uint8Array, start: number, end: number) => unknown) | null;
type Columns = Readonly<Record<string, unknown>>;

export interface MessageStep {
  /** In the order of their declaration, which is that of the result's properties. */
  readonly fields: readonly FieldStep[];
  readonly convert: Convert<Columns>;
  /** Looks at the lists and maps of a row when all of them are there. */
  readonly finish: ((row: Record<string, unknown>) => void) | null;
  /** What the object costs, whatever is in it. */
  readonly weight: number;
  /** What each single field costs beside that, where it is there. */
  readonly setWeight: number;
  /** A message that is not read field by field. */
  readonly special: Special | null;
}

export type Special =
  | { readonly kind: "in-place"; readonly read: ReadInPlace }
  /** Any message, by its name; null where the schema has none of it. */
  | { readonly kind: "any"; readonly find: (fullName: string) => MessageStep | null };

/** Reads a message from `p` to `e` into one value. */
export type ReadInPlace = (at: Cursor, b: Uint8Array, p: number, e: number) => unknown;

export interface FieldStep {
  readonly name: string;
  readonly number: number;
  readonly step: Step;
  readonly cardinality: MessageField["cardinality"];
  /** What a single value is where the message has none. */
  readonly absent: unknown;
  readonly isRequired: boolean;
  readonly oneof: number;
  readonly use: "read" | "skip" | DeferStep;
}

export interface DeferStep {
  readonly message: MessageStep;
  /** For each peeked name, the number of the string field that has it, or -1. */
  readonly peek: readonly number[];
  /** What each is where the message has none: undefined where there is no such field. */
  readonly absent: readonly (string | null | undefined)[];
  readonly resolve: DeferredField["resolve"];
  /** The numbers of the other fields that are text. */
  readonly texts: readonly number[];
  /** Whether nothing in it can fail that moving over it, with a look at its texts, has not seen. Else it is read at once. */
  readonly isJudged: boolean;
}

export interface StepOptions {
  readonly values: ResolvedValueOptions;
  readonly plan: ReadPlan;
  /** Meanings of a row's columns by name, where their schema states none. */
  readonly columns: ReadonlyMap<string, Semantic>;
  /** Reads the JSON document in a column, exactly. */
  readonly parseJson: (text: string) => unknown;
  /** The message of a full name. */
  readonly findMessage: (fullName: string) => Message | null;
}

/** Fields of all messages, each counted once for every way in which it is read. */
const mostFields = 400_000;

/** How the values of a message are wanted: converted, as a row with columns, or raw for the conversion of the message around them. */
type Use = "value" | "row" | "raw";

/** The steps that read a payload of this message. */
export function planSteps(message: Message, options: StepOptions): MessageStep {
  return new Planner(options).root(message);
}

class Planner {
  readonly #options: StepOptions;
  readonly #placeholders: Placeholders;
  readonly #messages: Readonly<Record<Use, Map<Message, MessageStep>>> = { value: new Map(), row: new Map(), raw: new Map() };
  readonly #waiting: (() => void)[] = [];
  #fields = 0;

  constructor(options: StepOptions) {
    this.#options = options;
    this.#placeholders = new Placeholders(options.values.unavailablePlaceholder);
  }

  /** The message at the top: the only one that the plan speaks of. */
  root(message: Message): MessageStep {
    const { rows, skip, defer } = this.#options.plan;
    if (this.#isSpecial(message)) {
      return this.#planned(this.#message(message, "value"));
    }
    const fields = message.fields.map((field): FieldStep => {
      const step = this.#field(field, rows === "self" ? "row" : "value", rows !== "self" && rows.includes(field.name) ? "row" : "value");
      const use = defer?.field === field.name ? this.#defer(step, field.type, defer) : skip.includes(field.name) ? "skip" : "read";
      return { ...step, use };
    });
    return this.#planned(
      stepOf(fields, null, rows === "self" ? this.#finish(message.fields.filter(({ name }) => !skip.includes(name))) : null),
    );
  }

  #planned(step: MessageStep): MessageStep {
    // Not by recursion: messages may reach each other through a hundred thousand names.
    for (let fill = this.#waiting.pop(); fill !== undefined; fill = this.#waiting.pop()) {
      fill();
    }
    return step;
  }

  #isSpecial(message: Message): boolean {
    const { values } = this.#options;
    return specialOf(message, values, () => null) !== null || isWrapper(message) || conversionOf(message, values) !== null;
  }

  #message(message: Message, use: Use): MessageStep {
    const known = this.#messages[use].get(message);
    if (known !== undefined) {
      return known;
    }
    const step = this.#newMessage(message, use);
    this.#messages[use].set(message, step);
    return step;
  }

  #newMessage(message: Message, use: Use): MessageStep {
    const { values } = this.#options;
    const special = use === "raw" ? null : specialOf(message, values, (fullName) => this.#find(fullName));
    if (special !== null) {
      return { ...stepOf([], null, null), special };
    }
    const [wrapped] = message.fields;
    if (isWrapper(message) && wrapped !== undefined) {
      return this.#wrapper(wrapped, null, use, false);
    }
    const convert = use === "raw" && !isJson(message) ? null : conversionOf(message, values);
    return this.#filled(message, convert === null ? use : "raw", convert);
  }

  /** A message that is there for its one field to be absent: what the column means, the field means. */
  #wrapper(field: MessageField, conversion: Conversion | null, use: Use, isColumn: boolean): MessageStep {
    const step = this.#step(field.type, conversion, { use, inside: use, isColumn });
    return stepOf([{ ...field, step, absent: absentValue(field, step), use: "read" }], ({ value }) => value, null);
  }

  #find(fullName: string): MessageStep | null {
    const message = this.#options.findMessage(fullName);
    return message === null ? null : this.#planned(this.#message(message, "value"));
  }

  /** A message whose fields are planned later, for it may hold itself. */
  #filled(message: Message, inside: Use, convert: Convert<Columns>): MessageStep {
    this.#fields += message.fields.length;
    if (this.#fields > mostFields) {
      throw new DecodeError(
        "schema-invalid",
        `the Protobuf schema uses its messages in so many ways that they have more than ${mostFields} fields`,
      );
    }
    const fields: FieldStep[] = [];
    const planned = stepOf(fields, convert, inside === "row" ? this.#finish(message.fields) : null, message.fields);
    const step = convert === null ? planned : { ...planned, weight: convertedWeight(message, planned.weight) };
    this.#waiting.push(() => {
      for (const field of message.fields) {
        fields.push(this.#field(field, inside, inside === "raw" ? "raw" : "value"));
      }
    });
    return step;
  }

  /** `use` is that of the message around it, `inside` that of the message that it may be. */
  #field(field: MessageField, use: Use, inside: Use): FieldStep {
    const conversion = this.#conversion(field, use);
    const isColumn = use === "row" && field.cardinality === "single";
    const step = this.#step(field.type, conversion, { use, inside, isColumn });
    const { name, number, cardinality, isRequired, oneof } = field;
    return { name, number, step, cardinality, absent: absentValue(field, step), isRequired, oneof, use: "read" };
  }

  #step(type: FieldType, conversion: Conversion | null, { use, inside, isColumn }: { use: Use; inside: Use; isColumn: boolean }): Step {
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

  #inner(message: Message, conversion: Conversion | null, inside: Use, isColumn: boolean): MessageStep {
    const [wrapped] = message.fields;
    if (isWrapper(message) && wrapped !== undefined && inside !== "raw" && isColumn) {
      return this.#wrapper(wrapped, conversion, inside, isColumn);
    }
    const struct = conversion?.struct ?? (isColumn ? debeziumStruct(message, this.#options.values, this.#options.parseJson) : null);
    return struct !== null && !this.#isSpecial(message) ? this.#filled(message, "raw", struct) : this.#message(message, inside);
  }

  #integer(kind: IntegerName, conversion: Conversion | null, use: Use): Step {
    const isWide = kind.endsWith("64");
    const mode = use === "raw" || !isWide ? "safe" : this.#options.values.int64;
    const number = mode === "safe" ? null : mode === "bigint" ? BigInt : String;
    const bigint = mode === "string" ? String : null;
    return { kind, number: conversion?.int ?? number, bigint: conversion?.bigint ?? bigint };
  }

  /** What the field's own schema says of its meaning, else what the user says of the column. */
  #conversion({ name, semantic }: MessageField, use: Use): Conversion | null {
    const { columns, values, parseJson } = this.#options;
    const stated = use === "row" ? (semantic ?? columns.get(name)) : semantic;
    return use === "raw" || stated === null || stated === undefined ? null : conversionFor(stated, values, parseJson);
  }

  #defer(field: FieldStep, type: FieldType, { peek, resolve }: DeferredField): FieldStep["use"] {
    if (field.cardinality !== "single" || field.step.kind !== "message" || field.step.isGroup || type.kind !== "message") {
      return "read";
    }
    const { fields } = type.message;
    const peeked = peek.map((name) =>
      fields.find((inner) => inner.name === name && inner.type.kind === "string" && inner.cardinality === "single"),
    );
    return {
      message: field.step.message,
      peek: peeked.map((inner) => inner?.number ?? -1),
      absent: peeked.map((inner) => (typeof inner?.absent === "string" ? inner.absent : inner === undefined ? undefined : null)),
      resolve,
      texts: fields.filter((inner) => inner.type.kind === "string" && !peeked.includes(inner)).map(({ number }) => number),
      isJudged: field.step.message.convert === null && fields.every((inner) => this.#isScalar(inner)),
    };
  }

  /** Whether a field is a scalar that is handed on as it is. */
  #isScalar(field: MessageField): boolean {
    const { type, cardinality, isRequired } = field;
    return type.kind !== "message" && cardinality === "single" && !isRequired && this.#conversion(field, "value") === null;
  }

  #finish(fields: readonly MessageField[]): MessageStep["finish"] {
    const finishes = fields.flatMap((field) => {
      const conversion = this.#conversion(field, "row");
      const finish = this.#placeholders.finish(field, conversion?.array ?? null);
      return finish === null ? [] : [finish];
    });
    return finishes.length === 0 ? null : (row) => finishes.forEach((finish) => finish(row));
  }
}

function specialOf(message: Message, values: ResolvedValueOptions, find: (fullName: string) => MessageStep | null): Special | null {
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

function stepOf(
  fields: readonly FieldStep[],
  convert: Convert<Columns>,
  finish: MessageStep["finish"],
  planned: readonly Pick<MessageField, "cardinality">[] = fields,
): MessageStep {
  const weights = { single: 0, repeated: weightOf.list, map: weightOf.map };
  const parts = planned.reduce<number>((sum, { cardinality }) => sum + weights[cardinality], 0);
  return { fields, convert, finish, weight: objectWeight(planned.length) + parts, setWeight: setWeight(planned.length), special: null };
}

/** What is converted is dropped soon; what it becomes is most often a text. */
function convertedWeight(message: Message, weight: number): number {
  if (!isJson(message)) {
    return weight + weightOf.text;
  }
  return message.fields.every(({ cardinality }) => cardinality === "single") ? weightOf.object : weight;
}

/** The absent value as a sent one would come out; null where the column's meaning has no place for it. */
function absentValue(field: MessageField, step: Step): unknown {
  const { absent } = field;
  if (absent === undefined || field.cardinality !== "single") {
    return null;
  }
  try {
    return convertAbsent(absent, step);
  } catch {
    return null; // an empty text is no date, no bytes are no decimal
  }
}

function convertAbsent(absent: unknown, step: Step): unknown {
  switch (step.kind) {
    case "bool":
    case "message":
      return absent;
    case "string":
    case "enum":
      return step.convert === null || typeof absent !== "string" ? absent : step.convert(absent);
    case "bytes":
      return step.convert === null || !(absent instanceof Uint8Array) ? absent : step.convert(absent, 0, absent.length);
    case "float":
    case "double":
      return step.convert === null || typeof absent !== "number" ? absent : step.convert(absent);
    default:
      if (typeof absent === "number") {
        return step.number === null ? absent : step.number(absent);
      }
      return step.bigint === null || typeof absent !== "bigint" ? absent : step.bigint(absent);
  }
}
