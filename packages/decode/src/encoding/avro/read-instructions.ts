/**
 * Decides once per schema how a type is read: which conversion each value takes, which columns can hold the placeholder of an unchanged
 * TOAST column, which fields are skipped, which are deferred. Generated code and closures both carry out these instructions.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedValueOptions } from "../../options.ts";
import type { Conversion } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import { type PlaceholderBytes, type UnavailableTests, unavailableTests } from "../../values/unavailable.ts";
import type { DeferredField, ReadPlan } from "../reader.ts";
import { type MapType, type RecordType, type Type, withoutNull } from "../type.ts";

export type ReadInstruction =
  | { readonly kind: "null" | "boolean" }
  | { readonly kind: "int" | "float" | "double"; readonly convert: Convert<number> }
  | { readonly kind: "long"; readonly number: Convert<number>; readonly bigint: Convert<bigint> }
  | { readonly kind: "string"; readonly convert: Convert<string>; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "bytes"; readonly convert: ConvertBytes; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "fixed"; readonly size: number; readonly convert: ConvertBytes }
  | { readonly kind: "enum"; readonly symbols: readonly string[]; readonly convert: Convert<string> }
  | CollectionInstruction
  | RecordInstruction
  | { readonly kind: "union"; readonly branches: readonly ReadInstruction[] }
  | MismatchInstruction;

type Kind<K extends Type["kind"]> = Type & { readonly kind: K };
type ScalarType = Kind<"int" | "long" | "float" | "double" | "string" | "bytes" | "fixed" | "enum">;
type ArrayType = Extract<Type, { kind: "array" }>;

/** Null if the value needs no conversion. */
type Convert<T> = ((value: T) => unknown) | null;
type ConvertBytes = ((bytes: Uint8Array, start: number, end: number) => unknown) | null;

export interface ArrayInstruction {
  readonly kind: "array";
  readonly items: ReadInstruction;
  readonly convert: Convert<readonly unknown[]>;
  readonly placeholder: PlaceholderInstruction | null;
}

export interface MapInstruction {
  readonly kind: "map";
  /** Null if the keys are strings. */
  readonly keys: ReadInstruction | null;
  readonly values: ReadInstruction;
  readonly placeholder: PlaceholderInstruction | null;
}

export type CollectionInstruction = ArrayInstruction | MapInstruction;

/** A collection that may be the placeholder. If it has as many items as a placeholder, it is read raw and compared. */
export interface PlaceholderInstruction {
  readonly raw: CollectionInstruction;
  readonly counts: readonly number[];
  readonly test: (value: object) => boolean;
}

export interface RecordInstruction {
  readonly kind: "record";
  /** In the order of their bytes. */
  readonly fields: readonly FieldInstruction[];
  readonly convert: Convert<Readonly<Record<string, unknown>>>;
  /** The defaults of the reader's own schema, and the order of its fields; absent if there is no such schema. */
  readonly resolution?: { readonly defaults: ReadonlyMap<string, DefaultValue>; readonly order: readonly string[] };
}

/** The value of a field that only the reader's own schema has. */
export interface DefaultValue {
  readonly make: () => unknown;
  /** The cost of making the value, in the same units as that of values that are read. */
  readonly cost: number;
}

/** A value that the reader's own schema does not accept. Reading it is an error. */
export interface MismatchInstruction {
  readonly kind: "mismatch";
  readonly error: () => DecodeError;
}

export interface FieldInstruction {
  readonly name: string;
  readonly instruction: ReadInstruction;
  readonly use: "read" | "skip" | DeferInstruction;
}

export interface DeferInstruction {
  /** The record that is deferred; null if the field is no record, and its whole value is deferred. */
  readonly record: RecordInstruction | null;
  /** For each peeked name, the index of the record's field with that name, or -1. */
  readonly peek: readonly number[];
  readonly resolve: DeferredField["resolve"];
  /**
   * Whether skipping the value finds every error that reading it would, except text that is not UTF-8. Checking texts would cost 5% of
   * decoding, and an error in a late read names its record anyway. If not, the value is read at once.
   */
  readonly isJudged: boolean;
}

export interface InstructionOptions {
  readonly values: ResolvedValueOptions;
  readonly plan: ReadPlan;
  /** Reads the JSON document in a column without rounding a number. */
  readonly parseJson: (text: string) => unknown;
}

/** Limits the fields of all records together. Each field counts once for every way in which it is read. */
const maxFields = 400_000;

/** How the values of a type are read: converted, as a column of a row, or raw for the conversion of the struct around them. */
export type Use = "value" | "row" | "column" | "raw";

/** The instructions that read a schema's payload. */
export function planInstructions(type: Type, options: InstructionOptions): ReadInstruction {
  return new Planner(options).top(type);
}

/** Plans how the values of a type are read. */
export class Planner {
  readonly #options: InstructionOptions;
  readonly #placeholderLength: number;
  readonly #textPlaceholder: PlaceholderBytes;
  readonly #bytesPlaceholder: PlaceholderBytes;
  #fields = 0;
  readonly #unavailable: UnavailableTests;
  readonly #records: Readonly<Record<Use, Map<Type, RecordInstruction>>> = {
    value: new Map(),
    row: new Map(),
    column: new Map(),
    raw: new Map(),
  };

  constructor(options: InstructionOptions) {
    this.#options = options;
    const placeholder = options.values.unavailablePlaceholder;
    this.#unavailable = unavailableTests(placeholder);
    this.#placeholderLength = Buffer.byteLength(placeholder);
    this.#bytesPlaceholder = this.#unavailable.rawBytes;
    this.#textPlaceholder = this.#unavailable.textBytes;
  }

  /** The whole payload. A record may be optional as a whole: Connect writes such a value as a union with null. */
  top(type: Type): ReadInstruction {
    if (type.kind === "record") {
      return this.root(type);
    }
    if (type.kind === "union" && withoutNull(type).kind === "record") {
      return { kind: "union", branches: type.branches.map((branch) => this.top(branch)) };
    }
    return this.instruction(type, this.#options.plan.rows === "self" ? "row" : "value");
  }

  /** The record at the top. The plan (`rows`, `skip`, `defer`) names only fields of this record. */
  root(type: RecordType): ReadInstruction {
    const { rows } = this.#options.plan;
    if (this.#conversion(type, "value")?.struct !== undefined) {
      return this.instruction(type, "value"); // a conversion makes one value of the record, so there are no fields to plan
    }
    const fields = type.fields.map((field): FieldInstruction => {
      const instruction = this.instruction(field.type, topFieldUse(field.name, rows));
      return { name: field.name, instruction, use: this.use(field.name, instruction) };
    });
    return { kind: "record", fields, convert: null };
  }

  instruction(type: Type, use: Use): ReadInstruction {
    switch (type.kind) {
      case "null":
      case "boolean":
        return { kind: type.kind };
      case "union":
        return { kind: "union", branches: type.branches.map((branch) => this.instruction(branch, use)) };
      case "any":
        throw new DecodeError(
          "schema-invalid",
          "expected a type that Avro can write, found a value of any type; declare its type in the schema",
        );
      case "record":
        return this.#record(type, use);
      case "array":
        return this.#array(type, use);
      case "map":
        return this.#map(type, use);
      default:
        return this.#scalar(type as ScalarType, use); // the cases above handle all other kinds
    }
  }

  #scalar(type: ScalarType, use: Use): ReadInstruction {
    const conversion = this.#conversion(type, use);
    const isColumn = use === "column";
    switch (type.kind) {
      case "int":
        return { kind: "int", convert: conversion?.int ?? null };
      case "long":
        return this.#long(conversion, use);
      case "float":
      case "double":
        return { kind: type.kind, convert: conversion?.double ?? null };
      case "string":
        return { kind: "string", convert: conversion?.text ?? null, placeholder: isColumn ? this.#textPlaceholder : null };
      case "bytes":
        return { kind: "bytes", convert: conversion?.bytes ?? null, placeholder: isColumn ? this.#bytesPlaceholder : null };
      case "fixed":
        return { kind: "fixed", size: type.size, convert: conversion?.bytes ?? null };
      case "enum":
        return { kind: "enum", symbols: type.symbols, convert: conversion?.text ?? null };
    }
  }

  #long(conversion: Conversion | null, use: Use): ReadInstruction {
    const mode = use === "raw" ? "safe" : this.#options.values.int64;
    const number = mode === "safe" ? null : mode === "bigint" ? BigInt : String;
    const bigint = mode === "string" ? String : null;
    return { kind: "long", number: conversion?.int ?? number, bigint: conversion?.bigint ?? bigint };
  }

  #record(type: RecordType, use: Use): RecordInstruction {
    const planned = this.#records[use].get(type);
    if (planned !== undefined) {
      return planned;
    }
    const convert = this.#conversion(type, use)?.struct ?? null;
    const inside = insideUse(use, convert !== null);
    const isRow = use === "row" && convert === null;
    const fields: FieldInstruction[] = []; // filled below, because the record may contain itself
    const instruction: RecordInstruction = { kind: "record", fields, convert };
    this.#records[use].set(type, instruction);
    this.count(type.fields.length);
    for (const field of type.fields) {
      const instruction = this.instruction(field.type, inside);
      fields.push({ name: field.name, instruction, use: isRow ? this.columnUse(field.name) : "read" });
    }
    return instruction;
  }

  #array(type: ArrayType, use: Use): ArrayInstruction {
    const convert = this.#conversion(type, use)?.array ?? null;
    const items = this.instruction(type.items, convert !== null || use === "raw" ? "raw" : "value");
    return { kind: "array", items, convert, placeholder: use === "column" ? this.#arrayPlaceholder(type) : null };
  }

  #arrayPlaceholder(type: ArrayType): PlaceholderInstruction | null {
    const { kind } = withoutNull(type.items);
    if (kind !== "string" && kind !== "bytes" && kind !== "int" && kind !== "long") {
      return null;
    }
    const { array } = this.#unavailable;
    const test = (value: object): boolean => Array.isArray(value) && array(value);
    return { raw: this.#array(type, "raw"), counts: [1, this.#placeholderLength], test };
  }

  #map(type: MapType, use: Use): MapInstruction {
    const inside: Use = use === "raw" ? "raw" : "value";
    const keys = type.keys === null ? null : this.instruction(type.keys, inside);
    const text = use === "column" && (type.keys === null || withoutNull(type.keys).kind === "string");
    const placeholder =
      text && withoutNull(type.values).kind === "string" ? { raw: this.#map(type, "raw"), counts: [1], test: this.#unavailable.map } : null;
    return { kind: "map", keys, values: this.instruction(type.values, inside), placeholder };
  }

  #conversion(type: Type, use: Use): Conversion | null {
    return use === "raw" || type.semantic === undefined
      ? null
      : conversionFor(type.semantic, this.#options.values, this.#options.parseJson);
  }

  /** Counts the fields that are planned, because a short schema can name a long record often. */
  count(fields: number): void {
    this.#fields += fields;
    if (this.#fields > maxFields) {
      throw new DecodeError(
        "schema-invalid",
        `expected at most ${maxFields} fields, each counted once for every way in which the Avro schema uses its record, found more`,
      );
    }
  }

  /** Whether a column of a row is read or skipped. */
  columnUse(name: string): "read" | "skip" {
    return this.#options.plan.selected?.has(name) === false ? "skip" : "read";
  }

  /** Whether a top-level field is read, skipped or deferred. */
  use(name: string, instruction: ReadInstruction): FieldInstruction["use"] {
    const { skip, defer, rows } = this.#options.plan;
    if (defer?.field !== name) {
      return skip.includes(name) || (rows === "self" && this.columnUse(name) === "skip") ? "skip" : "read";
    }
    const record = recordInstructionOf(instruction);
    const fields = record?.fields ?? [];
    const peek = defer.peek.map((peeked) =>
      fields.findIndex((field) => field.name === peeked && field.use === "read" && isText(field.instruction)),
    );
    return { record, peek, resolve: defer.resolve, isJudged: record !== null && record.convert === null && record.fields.every(isScalar) };
  }
}

/** Whether a field is a scalar without conversion. */
function isScalar({ instruction, use }: FieldInstruction): boolean {
  return use === "read" && isPlain(instruction);
}

function isPlain(instruction: ReadInstruction): boolean {
  switch (instruction.kind) {
    case "null":
    case "boolean":
      return true;
    case "long":
      return (
        (instruction.number === null || instruction.number === BigInt || instruction.number === String) &&
        (instruction.bigint === null || instruction.bigint === String)
      );
    case "int":
    case "float":
    case "double":
    case "string":
    case "enum":
    case "bytes":
    case "fixed":
      return instruction.convert === null;
    case "union":
      return instruction.branches.every(isPlain);
    default:
      return false;
  }
}

/** How a top-level field is read. */
export function topFieldUse(name: string, rows: ReadPlan["rows"]): Use {
  if (rows === "self") {
    return "column";
  }
  return rows.includes(name) ? "row" : "value";
}

/** How the parts of a value are read: raw if the whole value is converted, otherwise for themselves. */
export function insideUse(use: Use, isConverted: boolean): Use {
  return isConverted || use === "raw" ? "raw" : use === "row" ? "column" : "value";
}

/** Whether the value is text, or text or null. */
function isText(instruction: ReadInstruction): boolean {
  const branches = instruction.kind === "union" ? instruction.branches : [instruction];
  return branches.some(({ kind }) => kind === "string") && branches.every(({ kind }) => kind === "string" || kind === "null");
}

function recordInstructionOf(instruction: ReadInstruction): RecordInstruction | null {
  if (instruction.kind === "record") {
    return instruction;
  }
  const rest = instruction.kind === "union" ? instruction.branches.filter((branch) => branch.kind !== "null") : [];
  return rest.length === 1 && rest[0]?.kind === "record" ? rest[0] : null;
}
