/**
 * Reads what one schema wrote as another one wants it: Avro's schema resolution, decided once for both.
 * https://avro.apache.org/docs/1.12.0/specification/#schema-resolution
 */
import { DecodeError, isDecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import { TextCache } from "../text-cache.ts";
import type { Field, MapType, RecordType, Type } from "../type.ts";
import { closureReader } from "./closures.ts";
import { Cursor } from "./cursor.ts";
import { detailsOf, fieldDetailsOf } from "./details.ts";
import { floatOfLong } from "./float-of-long.ts";
import {
  type DefaultValue,
  type FieldInstruction,
  insideUse,
  type MismatchInstruction,
  Planner,
  type RecordInstruction,
  type ReadInstruction,
  type InstructionOptions,
  topFieldUse,
  type Use,
} from "./read-instructions.ts";
import { defaultBytes } from "./write.ts";

export interface SchemaResolutionOptions extends InstructionOptions {
  readonly limits: ResolvedLimits;
}

/** The steps that read a `writer`'s payload as a value of `reader`. Throws a `DecodeError` of code `schema-mismatch` where none can be. */
export function planSchemaResolution(writer: Type, reader: Type, options: SchemaResolutionOptions): ReadInstruction {
  const projector = new SchemaResolver(options);
  return writer.kind === "record" && reader.kind === "record"
    ? projector.root(writer, reader)
    : projector.instruction(writer, reader, options.plan.rows === "self" ? "row" : "value");
}

/** Most records of both schemas inside of each other. */
const maxNesting = 160;

/** What a byte of a default costs at most, where the default is read again for each value: it can be an empty map. */
const defaultCost = 400;

type Kind<K extends Type["kind"]> = Type & { readonly kind: K };

class SchemaResolver {
  readonly #options: SchemaResolutionOptions;
  readonly #planner: Planner;
  /** By the fields of the writer's record, those of the reader's, and how they are wanted: records may hold themselves. */
  readonly #records = new Map<unknown, Map<unknown, Map<Use, RecordInstruction | MismatchInstruction>>>();
  #depth = 0;

  constructor(options: SchemaResolutionOptions) {
    this.#options = options;
    this.#planner = new Planner(options);
  }

  /** The record at the top: the only one that the plan speaks of. */
  root(writer: RecordType, reader: RecordType): ReadInstruction {
    const whole = this.#planner.instruction(reader, "value") as RecordInstruction; // of a record
    if (whole.convert !== null) {
      return this.instruction(writer, reader, "value");
    }
    const { rows } = this.#options.plan;
    return this.#recordInstruction(writer, reader, null, (name) => topFieldUse(name, rows), true);
  }

  instruction(writer: Type, reader: Type, use: Use): ReadInstruction {
    if (writer.kind === "union") {
      return { kind: "union", branches: writer.branches.map((branch) => this.#branch(branch, reader, use)) };
    }
    if (reader.kind === "union") {
      return this.#intoUnion(writer, reader.branches, use);
    }
    if (isScaled(writer) && isScaled(reader) && scaleOf(writer) !== scaleOf(reader)) {
      throw mismatch(`a decimal of scale ${scaleOf(writer)}`, `one of scale ${scaleOf(reader)}`);
    }
    return writer.kind === reader.kind ? this.#sameKind(writer, reader, use) : this.#promoted(writer, reader, use);
  }

  /** What a writer's branch cannot become is an error where it arrives, and none while it does not. */
  #branch(writer: Type, reader: Type, use: Use): ReadInstruction {
    try {
      return this.instruction(writer, reader, use);
    } catch (error) {
      return mismatchInstruction(error);
    }
  }

  /** The first branch that is of the writer's own type, else the first that it can be promoted to. */
  #intoUnion(writer: Type, branches: readonly Type[], use: Use): ReadInstruction {
    const ofSameKind = branches.filter((branch) => branch.kind === writer.kind);
    for (const branch of [...ofSameKind, ...branches.filter((other) => other.kind !== writer.kind)]) {
      const instruction = this.#branch(writer, branch, use);
      if (instruction.kind !== "mismatch") {
        return instruction;
      }
    }
    throw mismatch(describe(writer), `one of ${branches.map(describe).join(", ")}`);
  }

  #sameKind(writer: Type, reader: Type, use: Use): ReadInstruction {
    switch (writer.kind) {
      case "record":
        return this.#record(writer, reader as RecordType, use);
      case "array":
        return this.#array(writer, reader as Kind<"array">, use);
      case "map":
        return this.#map(writer, reader as MapType, use);
      case "enum":
        return this.#enum(writer, reader as Kind<"enum">, use);
      case "fixed":
        expectSameName(writer, reader);
        if (writer.size !== (reader as Kind<"fixed">).size) {
          throw mismatch(`a fixed of ${writer.size} bytes`, `one of ${(reader as Kind<"fixed">).size}`);
        }
        return this.#planner.instruction(reader, use);
      default:
        return this.#planner.instruction(reader, use);
    }
  }

  #record(writer: RecordType, reader: RecordType, use: Use): RecordInstruction {
    expectSameName(writer, reader);
    const ofWriter = this.#records.get(writer.fields) ?? new Map<unknown, Map<Use, RecordInstruction | MismatchInstruction>>();
    this.#records.set(writer.fields, ofWriter);
    const known = ofWriter.get(reader) ?? new Map<Use, RecordInstruction | MismatchInstruction>();
    ofWriter.set(reader, known);
    const planned = known.get(use);
    if (planned?.kind === "mismatch") {
      throw planned.error();
    }
    if (planned !== undefined) {
      return planned;
    }
    this.#planner.count(writer.fields.length + reader.fields.length);
    const { convert } = this.#planner.instruction(reader, use) as RecordInstruction; // of a record
    const inside = insideUse(use, convert !== null);
    const instruction = { kind: "record", fields: [] as FieldInstruction[], convert } as const;
    known.set(use, instruction); // before its fields: they may hold the record
    try {
      const useOf = (): Use => inside;
      return Object.assign(
        instruction,
        this.#inside(() => this.#recordInstruction(writer, reader, convert, useOf, false)),
      );
    } catch (error) {
      Object.assign(instruction, mismatchInstruction(error)); // what was planned inside of it may hold it still
      throw error;
    }
  }

  /** Records of two schemas that hold themselves, in circles of different lengths, meet each other in all ways that there are. */
  #inside<Planned>(plan: () => Planned): Planned {
    if (++this.#depth > maxNesting) {
      throw new DecodeError("schema-invalid", `the two Avro schemas together nest deeper than ${maxNesting} records`);
    }
    try {
      return plan();
    } finally {
      this.#depth--;
    }
  }

  #recordInstruction(
    writer: RecordType,
    reader: RecordType,
    convert: RecordInstruction["convert"],
    useOf: (name: string) => Use,
    isTop: boolean,
  ): RecordInstruction {
    const matches = matchFields(writer, reader);
    const fields = writer.fields.map((field): FieldInstruction => {
      const match = matches.get(field);
      if (match === undefined) {
        return { name: field.name, instruction: this.#planner.instruction(field.type, "raw"), use: "skip" };
      }
      const instruction = this.instruction(field.type, match.type, useOf(match.name));
      return { name: match.name, instruction, use: isTop ? this.#planner.use(match.name, instruction) : "read" };
    });
    const matched = new Set(matches.values());
    const missing = reader.fields.filter((field) => !matched.has(field));
    const { skip } = this.#options.plan;
    const wanted = isTop ? missing.filter((field) => !skip.includes(field.name)) : missing;
    const defaults = new Map(wanted.map((field) => [field.name, this.#default(field, useOf(field.name))]));
    return { kind: "record", fields, convert, resolution: { defaults, order: reader.fields.map((field) => field.name) } };
  }

  /** Makes the value of a field that the writer does not have; each time anew where it could be changed. */
  #default(field: Field, use: Use): DefaultValue {
    const bytes = defaultBytes(field);
    if (bytes === null) {
      throw mismatch("a record without a field", `the field ${JSON.stringify(field.name)}, which has no default`);
    }
    const { limits } = this.#options;
    const { read } = closureReader(this.#planner.instruction(field.type, use), new Cursor(limits, new TextCache()));
    const value = read(bytes, 0, bytes.length);
    return typeof value === "object" && value !== null
      ? { make: () => read(bytes, 0, bytes.length), cost: defaultCost * (bytes.length + 1) }
      : { make: () => value, cost: 0 };
  }

  #array(writer: Kind<"array">, reader: Kind<"array">, use: Use): ReadInstruction {
    const own = this.#planner.instruction(reader, use);
    const written = this.#planner.instruction(writer, use);
    if (own.kind !== "array" || written.kind !== "array") {
      return own;
    }
    const inside: Use = own.convert !== null || use === "raw" ? "raw" : "value";
    return { ...own, items: this.instruction(writer.items, reader.items, inside), placeholder: written.placeholder };
  }

  #map(writer: MapType, reader: MapType, use: Use): ReadInstruction {
    if ((writer.keys === null) !== (reader.keys === null)) {
      throw mismatch(describe(writer), describe(reader));
    }
    const written = this.#planner.instruction(writer, use);
    const inside: Use = use === "raw" ? "raw" : "value";
    const keys = writer.keys === null || reader.keys === null ? null : this.instruction(writer.keys, reader.keys, inside);
    const placeholder = written.kind === "map" ? written.placeholder : null;
    return { kind: "map", keys, values: this.instruction(writer.values, reader.values, inside), placeholder };
  }

  /** A symbol that the reader does not have is its default, or an error where it arrives. */
  #enum(writer: Kind<"enum">, reader: Kind<"enum">, use: Use): ReadInstruction {
    expectSameName(writer, reader);
    const own = this.#planner.instruction(reader, use) as Extract<ReadInstruction, { kind: "enum" }>; // of an enum
    const known = new Set(reader.symbols);
    const fallback = detailsOf(reader)?.defaultSymbol ?? null;
    const symbols = writer.symbols.map((symbol) => (known.has(symbol) ? symbol : (fallback ?? symbol)));
    if (symbols.every((symbol) => known.has(symbol))) {
      return { ...own, symbols };
    }
    const convert = (symbol: string): unknown => {
      if (!known.has(symbol)) {
        throw mismatch("a symbol of the writer's enum alone", "one that the reader's has too, or a default there");
      }
      return own.convert === null ? symbol : own.convert(symbol);
    };
    return { ...own, symbols, convert };
  }

  /** Integers become wider ones and floating-point ones, text becomes bytes and the other way round. */
  #promoted(writer: Type, reader: Type, use: Use): ReadInstruction {
    const own = this.#planner.instruction(reader, use);
    const promotion = `${writer.kind} to ${own.kind}`;
    if (own.kind === "long" && writer.kind === "int") {
      return { kind: "int", convert: own.number };
    }
    if (own.kind === "float" || own.kind === "double") {
      const { convert } = own;
      const narrow = own.kind === "float" ? floatOfLong : Number;
      const made = (value: number | bigint): unknown => (convert === null ? narrow(value) : convert(narrow(value)));
      switch (promotion) {
        case "int to float":
        case "int to double":
          return { kind: "int", convert: made };
        case "long to float":
        case "long to double":
          return { kind: "long", number: made, bigint: made };
        case "float to double":
          return { kind: "float", convert };
      }
    }
    if (promotion === "string to bytes" || promotion === "bytes to string") {
      return own; // both have their length, then their bytes
    }
    throw mismatch(describe(writer), describe(reader));
  }
}

/** The reader's field for each of the writer's that it wants: of the same name, else one that has that name for an alias. */
function matchFields(writer: RecordType, reader: RecordType): ReadonlyMap<Field, Field> {
  const byName = new Map(writer.fields.map((field) => [field.name, field]));
  const matches = new Map<Field, Field>();
  for (const field of reader.fields) {
    const names = [field.name, ...fieldDetailsOf(field).aliases];
    const match = names.map((name) => byName.get(name)).find((found) => found !== undefined && !matches.has(found));
    if (match !== undefined) {
      matches.set(match, field);
    }
  }
  return matches;
}

/** The step that ends in this error each time a value arrives. */
function mismatchInstruction(error: unknown): MismatchInstruction {
  if (!isDecodeError(error) || error.code !== "schema-mismatch") {
    throw error;
  }
  return { kind: "mismatch", error: () => new DecodeError(error.code, error.detail) };
}

/** Names are compared without their namespaces; the reader's aliases are names of it too. */
function expectSameName(writer: Type, reader: Type): void {
  const [written, wanted] = [detailsOf(writer), detailsOf(reader)];
  const names = wanted === null ? [] : [wanted.fullName, ...wanted.aliases];
  if (written !== null && !names.some((name) => unqualified(name) === unqualified(written.fullName))) {
    throw mismatch(describe(writer), describe(reader));
  }
}

function unqualified(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

const decimalNames: ReadonlySet<string> = new Set(["avro.decimal", "org.apache.kafka.connect.data.Decimal"]);

function isScaled({ semantic }: Type): boolean {
  return semantic !== undefined && decimalNames.has(semantic.name);
}

function scaleOf({ semantic }: Type): string {
  return semantic?.parameters["scale"] ?? "0";
}

function describe(type: Type): string {
  const name = detailsOf(type)?.fullName;
  return name === undefined ? `a value of type ${type.kind}` : `the ${type.kind} ${JSON.stringify(name)}`;
}

function mismatch(written: string, wanted: string): DecodeError {
  return new DecodeError(
    "schema-mismatch",
    `the reader's Avro schema does not fit the writer's: found ${written}, wanted ${wanted}; look at the schema that you read this topic by`,
  );
}
