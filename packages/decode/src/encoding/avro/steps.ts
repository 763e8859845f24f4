/**
 * What reading a type means, decided once per schema: which conversion each value takes, which columns know the placeholder of an
 * unchanged TOAST column, what is skipped, what is deferred. Generated code and closures are two renderings of this.
 */
import { DecodeError } from "../../errors.ts";
import type { ResolvedValueOptions } from "../../options.ts";
import type { Conversion } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import { type PlaceholderBytes, type UnavailableTests, unavailableTests } from "../../values/unavailable.ts";
import type { DeferredField, ReadPlan } from "../reader.ts";
import { type MapType, type RecordType, type Type, withoutNull } from "../type.ts";

export type Step =
  | { readonly kind: "null" | "boolean" }
  | { readonly kind: "int" | "float" | "double"; readonly convert: Convert<number> }
  | { readonly kind: "long"; readonly number: Convert<number>; readonly bigint: Convert<bigint> }
  | { readonly kind: "string"; readonly convert: Convert<string>; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "bytes"; readonly convert: ConvertBytes; readonly placeholder: PlaceholderBytes | null }
  | { readonly kind: "fixed"; readonly size: number; readonly convert: ConvertBytes }
  | { readonly kind: "enum"; readonly symbols: readonly string[]; readonly convert: Convert<string> }
  | CollectionStep
  | RecordStep
  | { readonly kind: "union"; readonly branches: readonly Step[] }
  | MismatchStep;

type Kind<K extends Type["kind"]> = Type & { readonly kind: K };
type ScalarType = Kind<"int" | "long" | "float" | "double" | "string" | "bytes" | "fixed" | "enum">;
type ArrayType = Extract<Type, { kind: "array" }>;

/** Null where the value is handed on as it is. */
type Convert<T> = ((value: T) => unknown) | null;
type ConvertBytes = ((bytes: Uint8Array, start: number, end: number) => unknown) | null;

export interface ArrayStep {
  readonly kind: "array";
  readonly items: Step;
  readonly convert: Convert<readonly unknown[]>;
  readonly placeholder: PlaceholderStep | null;
}

export interface MapStep {
  readonly kind: "map";
  /** Null where keys are strings. */
  readonly keys: Step | null;
  readonly values: Step;
  readonly placeholder: PlaceholderStep | null;
}

export type CollectionStep = ArrayStep | MapStep;

/** A collection that may be the placeholder: where it has as many items as one has, it is read raw and looked at. */
export interface PlaceholderStep {
  readonly raw: CollectionStep;
  readonly counts: readonly number[];
  readonly test: (value: object) => boolean;
}

export interface RecordStep {
  readonly kind: "record";
  /** In the order of their bytes. */
  readonly fields: readonly FieldStep[];
  readonly convert: Convert<Readonly<Record<string, unknown>>>;
  /** What the reader's own schema has besides, and the order in which it names its fields; absent where there is none. */
  readonly projected?: { readonly defaults: ReadonlyMap<string, DefaultValue>; readonly order: readonly string[] };
}

/** The value of a field that only the reader's own schema has. */
export interface DefaultValue {
  readonly make: () => unknown;
  /** What making it weighs, as bytes that are read are weighed. */
  readonly weight: number;
}

/** A value that the reader's own schema has no place for: an error, once one arrives. */
export interface MismatchStep {
  readonly kind: "mismatch";
  readonly error: () => DecodeError;
}

export interface FieldStep {
  readonly name: string;
  readonly step: Step;
  readonly use: "read" | "skip" | DeferStep;
}

export interface DeferStep {
  /** The record that is read late, or null where the field is none: then all of its value is. */
  readonly record: RecordStep | null;
  /** For each peeked name, the field of the record that has it, or -1. */
  readonly peek: readonly number[];
  readonly resolve: DeferredField["resolve"];
  /**
   * Whether nothing in it can fail that moving over it has not seen, but for text that is not UTF-8: to look at it costs 5% of decoding, and
   * whoever reads it late is told of which record it is. Else it is read at once.
   */
  readonly isJudged: boolean;
}

export interface StepOptions {
  readonly values: ResolvedValueOptions;
  readonly plan: ReadPlan;
  /** Reads the JSON document in a column, exactly. */
  readonly parseJson: (text: string) => unknown;
}

/** Fields of all records, each counted once for every way in which it is read. */
const mostFields = 400_000;

/** How the values of a type are wanted: converted, as a column of a row, or raw for the conversion of the struct around them. */
export type Use = "value" | "row" | "column" | "raw";

/** The steps that read a schema's payload. */
export function planSteps(type: Type, options: StepOptions): Step {
  const planner = new Planner(options);
  return type.kind === "record" ? planner.root(type) : planner.step(type, options.plan.rows === "self" ? "row" : "value");
}

/** Plans how values of a type are read. */
export class Planner {
  readonly #options: StepOptions;
  readonly #placeholderLength: number;
  readonly #textPlaceholder: PlaceholderBytes;
  readonly #bytesPlaceholder: PlaceholderBytes;
  #fields = 0;
  readonly #unavailable: UnavailableTests;
  readonly #records: Readonly<Record<Use, Map<Type, RecordStep>>> = { value: new Map(), row: new Map(), column: new Map(), raw: new Map() };

  constructor(options: StepOptions) {
    this.#options = options;
    const placeholder = options.values.unavailablePlaceholder;
    this.#unavailable = unavailableTests(placeholder);
    const length = Buffer.byteLength(placeholder);
    this.#placeholderLength = length;
    this.#bytesPlaceholder = { lengths: [length], test: this.#unavailable.bytes };
    this.#textPlaceholder = this.#unavailable.textBytes;
  }

  /** The record at the top: the only one that the plan speaks of. */
  root(type: RecordType): Step {
    const { rows } = this.#options.plan;
    if (this.#conversion(type, "value")?.struct !== undefined) {
      return this.step(type, "value"); // one value, and no fields to plan for
    }
    const fields = type.fields.map((field): FieldStep => {
      const step = this.step(field.type, topFieldUse(field.name, rows));
      return { name: field.name, step, use: this.use(field.name, step) };
    });
    return { kind: "record", fields, convert: null };
  }

  step(type: Type, use: Use): Step {
    switch (type.kind) {
      case "null":
      case "boolean":
        return { kind: type.kind };
      case "union":
        return { kind: "union", branches: type.branches.map((branch) => this.step(branch, use)) };
      case "any":
        throw new DecodeError("schema-invalid", "the Avro encoding cannot carry values of no stated type");
      case "record":
        return this.#record(type, use);
      case "array":
        return this.#array(type, use);
      case "map":
        return this.#map(type, use);
      default:
        return this.#scalar(type as ScalarType, use); // what the cases above left
    }
  }

  #scalar(type: ScalarType, use: Use): Step {
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

  #long(conversion: Conversion | null, use: Use): Step {
    const mode = use === "raw" ? "safe" : this.#options.values.int64;
    const number = mode === "safe" ? null : mode === "bigint" ? BigInt : String;
    const bigint = mode === "string" ? String : null;
    return { kind: "long", number: conversion?.int ?? number, bigint: conversion?.bigint ?? bigint };
  }

  #record(type: RecordType, use: Use): RecordStep {
    const planned = this.#records[use].get(type);
    if (planned !== undefined) {
      return planned;
    }
    const convert = this.#conversion(type, use)?.struct ?? null;
    const inside = insideUse(use, convert !== null);
    const fields: FieldStep[] = []; // filled below: the record may hold itself
    const step: RecordStep = { kind: "record", fields, convert };
    this.#records[use].set(type, step);
    this.count(type.fields.length);
    for (const field of type.fields) {
      fields.push({ name: field.name, step: this.step(field.type, inside), use: "read" });
    }
    return step;
  }

  #array(type: ArrayType, use: Use): ArrayStep {
    const convert = this.#conversion(type, use)?.array ?? null;
    const items = this.step(type.items, convert !== null || use === "raw" ? "raw" : "value");
    return { kind: "array", items, convert, placeholder: use === "column" ? this.#arrayPlaceholder(type) : null };
  }

  #arrayPlaceholder(type: ArrayType): PlaceholderStep | null {
    const { kind } = withoutNull(type.items);
    if (kind !== "string" && kind !== "bytes" && kind !== "int" && kind !== "long") {
      return null;
    }
    const { array } = this.#unavailable;
    const test = (value: object): boolean => Array.isArray(value) && array(value);
    return { raw: this.#array(type, "raw"), counts: [1, this.#placeholderLength], test };
  }

  #map(type: MapType, use: Use): MapStep {
    const inside: Use = use === "raw" ? "raw" : "value";
    const keys = type.keys === null ? null : this.step(type.keys, inside);
    const text = use === "column" && (type.keys === null || withoutNull(type.keys).kind === "string");
    const placeholder =
      text && withoutNull(type.values).kind === "string" ? { raw: this.#map(type, "raw"), counts: [1], test: this.#unavailable.map } : null;
    return { kind: "map", keys, values: this.step(type.values, inside), placeholder };
  }

  #conversion(type: Type, use: Use): Conversion | null {
    return use === "raw" || type.semantic === undefined
      ? null
      : conversionFor(type.semantic, this.#options.values, this.#options.parseJson);
  }

  /** Counts fields that are planned: a short schema can name a long record often. */
  count(fields: number): void {
    this.#fields += fields;
    if (this.#fields > mostFields) {
      throw new DecodeError(
        "schema-invalid",
        `the Avro schema uses its records in so many ways that they have more than ${mostFields} fields`,
      );
    }
  }

  /** Whether a top-level field is read, skipped or deferred. */
  use(name: string, step: Step): FieldStep["use"] {
    const { skip, defer } = this.#options.plan;
    if (defer?.field !== name) {
      return skip.includes(name) ? "skip" : "read";
    }
    const record = recordStepOf(step);
    const fields = record?.fields ?? [];
    const peek = defer.peek.map((peeked) =>
      fields.findIndex((field) => field.name === peeked && field.use === "read" && isText(field.step)),
    );
    return { record, peek, resolve: defer.resolve, isJudged: record !== null && record.convert === null && record.fields.every(isScalar) };
  }
}

/** Whether a field is a scalar that is handed on as it is. */
function isScalar({ step, use }: FieldStep): boolean {
  return use === "read" && isPlain(step);
}

function isPlain(step: Step): boolean {
  switch (step.kind) {
    case "null":
    case "boolean":
      return true;
    case "long":
      return (step.number === null || step.number === BigInt || step.number === String) && (step.bigint === null || step.bigint === String);
    case "int":
    case "float":
    case "double":
    case "string":
    case "enum":
    case "bytes":
    case "fixed":
      return step.convert === null;
    case "union":
      return step.branches.every(isPlain);
    default:
      return false;
  }
}

/** How a top-level field is wanted. */
export function topFieldUse(name: string, rows: ReadPlan["rows"]): Use {
  if (rows === "self") {
    return "column";
  }
  return rows.includes(name) ? "row" : "value";
}

/** How what is inside of a value is wanted, for a conversion of the whole or for itself. */
export function insideUse(use: Use, isConverted: boolean): Use {
  return isConverted || use === "raw" ? "raw" : use === "row" ? "column" : "value";
}

/** Text, or null. */
function isText(step: Step): boolean {
  const branches = step.kind === "union" ? step.branches : [step];
  return branches.some(({ kind }) => kind === "string") && branches.every(({ kind }) => kind === "string" || kind === "null");
}

function recordStepOf(step: Step): RecordStep | null {
  if (step.kind === "record") {
    return step;
  }
  const rest = step.kind === "union" ? step.branches.filter((branch) => branch.kind !== "null") : [];
  return rest.length === 1 && rest[0]?.kind === "record" ? rest[0] : null;
}
