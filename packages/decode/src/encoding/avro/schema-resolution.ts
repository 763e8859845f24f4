/**
 * Avro's schema resolution: reads what one schema wrote as a value of another schema. It is planned once for each pair of schemas.
 * https://avro.apache.org/docs/1.12.0/specification/#schema-resolution
 */
import { DecodeError, isDecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import { unitsPerSecondOf } from "../../values/time-units.ts";
import { type Field, type MapType, type RecordType, type Type, withoutNull } from "../type.ts";
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

/**
 * The instructions that read a payload of `writer` as a value of `reader`. Throws a `DecodeError` with the code `schema-mismatch` if no
 * value of the writer's can be read as one of the reader's.
 */
export function planSchemaResolution(writer: Type, reader: Type, options: SchemaResolutionOptions): ReadInstruction {
  return new SchemaResolver(options).top(writer, reader);
}

/** How many records of both schemas may be nested in each other. */
const maxNesting = 160;

/** A default that is read again for each value costs this much for each of its bytes: a byte can be an empty map. */
const defaultCost = 400;

type Kind<K extends Type["kind"]> = Type & { readonly kind: K };

/** Where a record is: the payload itself, a row in it, or anywhere else. */
type Place = "top" | "row" | "inner";

class SchemaResolver {
  readonly #options: SchemaResolutionOptions;
  readonly #planner: Planner;
  /**
   * Instructions by the fields of the writer's record, the reader's record and the use. They are kept because records may contain
   * themselves.
   */
  readonly #records = new Map<unknown, Map<unknown, Map<Use, RecordInstruction | MismatchInstruction>>>();
  #depth = 0;

  constructor(options: SchemaResolutionOptions) {
    this.#options = options;
    this.#planner = new Planner(options);
  }

  /** The whole payload. A record may be optional as a whole, in either schema. */
  top(writer: Type, reader: Type): ReadInstruction {
    const wanted = withoutNull(reader);
    if (writer.kind === "record" && wanted.kind === "record") {
      return this.root(writer, wanted);
    }
    if (writer.kind === "union" && withoutNull(writer).kind === "record") {
      return { kind: "union", branches: writer.branches.map((branch) => orMismatch(() => this.top(branch, reader))) };
    }
    return this.instruction(writer, reader, this.#options.plan.rows === "self" ? "row" : "value");
  }

  /** The record at the top. The plan (`rows`, `skip`, `defer`) names only fields of this record. */
  root(writer: RecordType, reader: RecordType): ReadInstruction {
    const whole = this.#planner.instruction(reader, "value") as RecordInstruction; // the instruction of a record type
    if (whole.convert !== null) {
      return this.instruction(writer, reader, "value");
    }
    const { rows } = this.#options.plan;
    return this.#recordInstruction(writer, reader, null, (name) => topFieldUse(name, rows), "top");
  }

  instruction(writer: Type, reader: Type, use: Use): ReadInstruction {
    if (writer.kind === "union") {
      return { kind: "union", branches: writer.branches.map((branch) => this.#branch(branch, reader, use)) };
    }
    if (reader.kind === "union") {
      return this.#intoUnion(writer, reader.branches, use);
    }
    if (isScaled(writer) && isScaled(reader) && scaleOf(writer) !== scaleOf(reader)) {
      throw mismatch(`a decimal with scale ${scaleOf(writer)}`, `one with scale ${scaleOf(reader)}`);
    }
    const [written, wanted] = [unitsOf(writer), unitsOf(reader)];
    if (written !== wanted && written !== 0 && wanted !== 0) {
      throw mismatch(`a time in units of 1/${written} s`, `one in units of 1/${wanted} s`);
    }
    return writer.kind === reader.kind ? this.#sameKind(writer, reader, use) : this.#promoted(writer, reader, use);
  }

  /** A branch of the writer's that the reader does not accept is an error only if a value of that branch arrives. */
  #branch(writer: Type, reader: Type, use: Use): ReadInstruction {
    return orMismatch(() => this.instruction(writer, reader, use));
  }

  /**
   * Chooses the branch of the writer's own name. If there is none, the first branch of the writer's own type, and then the first one that
   * the type can be promoted to.
   */
  #intoUnion(writer: Type, branches: readonly Type[], use: Use): ReadInstruction {
    for (const branch of [0, 1, 2].flatMap((distance) => branches.filter((other) => distanceOf(writer, other) === distance))) {
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
    const { convert } = this.#planner.instruction(reader, use) as RecordInstruction; // the instruction of a record type
    const inside = insideUse(use, convert !== null);
    const instruction = { kind: "record", fields: [] as FieldInstruction[], convert } as const;
    known.set(use, instruction); // before its fields, because they may contain the record
    try {
      const useOf = (): Use => inside;
      return Object.assign(
        instruction,
        this.#inside(() => this.#recordInstruction(writer, reader, convert, useOf, use === "row" && convert === null ? "row" : "inner")),
      );
    } catch (error) {
      Object.assign(instruction, mismatchInstruction(error)); // instructions planned inside of it may still refer to it
      throw error;
    }
  }

  /** Limits the depth. If records of both schemas contain themselves in cycles of different lengths, all pairs of them are planned. */
  #inside<Planned>(plan: () => Planned): Planned {
    if (++this.#depth > maxNesting) {
      throw new DecodeError(
        "schema-invalid",
        `expected records of the two Avro schemas nested at most ${maxNesting} deep, found deeper ones`,
      );
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
    place: Place,
  ): RecordInstruction {
    const matches = matchFields(writer, reader);
    const fields = writer.fields.map((field): FieldInstruction => {
      const match = matches.get(field);
      if (match === undefined) {
        return { name: field.name, instruction: this.#planner.instruction(field.type, "raw"), use: "skip" };
      }
      const instruction = this.instruction(field.type, match.type, useOf(match.name));
      return { name: match.name, instruction, use: this.#fieldUse(match.name, instruction, place) };
    });
    const matched = new Set(matches.values());
    const missing = reader.fields.filter((field) => !matched.has(field));
    const { skip, rows } = this.#options.plan;
    const wanted = place === "top" ? missing.filter((field) => !skip.includes(field.name)) : missing;
    const defaults = new Map(wanted.map((field) => [field.name, this.#default(field, useOf(field.name))])); // also finds out whether there is one
    if (place === "row" || (place === "top" && rows === "self")) {
      const unselected = [...defaults.keys()].filter((name) => this.#planner.columnUse(name) === "skip");
      unselected.forEach((name) => defaults.delete(name));
    }
    return { kind: "record", fields, convert, resolution: { defaults, order: reader.fields.map((field) => field.name) } };
  }

  #fieldUse(name: string, instruction: ReadInstruction, place: Place): FieldInstruction["use"] {
    switch (place) {
      case "top":
        return this.#planner.use(name, instruction);
      case "row":
        return this.#planner.columnUse(name);
      case "inner":
        return "read";
    }
  }

  /** Makes the value of a field that the writer does not have. A value that users could change is made again each time. */
  #default(field: Field, use: Use): DefaultValue {
    const bytes = defaultBytes(field);
    if (bytes === null) {
      throw mismatch("a record without a field", `the field ${JSON.stringify(field.name)}, which has no default`);
    }
    const { limits } = this.#options;
    const { read } = closureReader(this.#planner.instruction(field.type, use), new Cursor(limits));
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

  /** A symbol that the reader does not have becomes the reader's default. Without a default it is an error if it arrives. */
  #enum(writer: Kind<"enum">, reader: Kind<"enum">, use: Use): ReadInstruction {
    expectSameName(writer, reader);
    const own = this.#planner.instruction(reader, use) as Extract<ReadInstruction, { kind: "enum" }>; // the instruction of an enum type
    const known = new Set(reader.symbols);
    const fallback = detailsOf(reader)?.defaultSymbol ?? null;
    const symbols = writer.symbols.map((symbol) => (known.has(symbol) ? symbol : (fallback ?? symbol)));
    if (symbols.every((symbol) => known.has(symbol))) {
      return { ...own, symbols };
    }
    const convert = (symbol: string): unknown => {
      if (!known.has(symbol)) {
        throw mismatch(
          "a symbol that only the writer's enum has",
          "a symbol that the reader's enum has too, or a default in the reader's enum",
        );
      }
      return own.convert === null ? symbol : own.convert(symbol);
    };
    return { ...own, symbols, convert };
  }

  /** Integers are promoted to wider integers and to floating-point numbers, text to bytes and bytes to text. */
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
      return own; // both are written as a length and bytes
    }
    throw mismatch(describe(writer), describe(reader));
  }
}

/** The reader's field for each field of the writer's that the reader has, by its name or by an alias. */
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

function orMismatch(plan: () => ReadInstruction): ReadInstruction {
  try {
    return plan();
  } catch (error) {
    return mismatchInstruction(error);
  }
}

/** The instruction that throws this error each time a value arrives. */
function mismatchInstruction(error: unknown): MismatchInstruction {
  if (!isDecodeError(error) || error.code !== "schema-mismatch") {
    throw error;
  }
  return { kind: "mismatch", error: () => new DecodeError(error.code, error.detail) };
}

/** How far a branch of the reader's union is from the writer's type: 0 has its name, with the namespace, and 1 is only of its kind. */
function distanceOf(writer: Type, branch: Type): number {
  const name = detailsOf(writer)?.fullName;
  const own = detailsOf(branch);
  if (writer.kind !== branch.kind) {
    return 2;
  }
  return name === undefined || own?.fullName === name || own?.aliases.includes(name) === true ? 0 : 1;
}

/** Names are compared without their namespaces. Aliases of the reader's type count as its names. */
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

function unitsOf({ semantic }: Type): number {
  return semantic === undefined ? 0 : unitsPerSecondOf(semantic.name);
}

function describe(type: Type): string {
  const name = detailsOf(type)?.fullName;
  return name === undefined ? `a value of type ${type.kind}` : `the ${type.kind} ${JSON.stringify(name)}`;
}

function mismatch(written: string, wanted: string): DecodeError {
  return new DecodeError(
    "schema-mismatch",
    `the reader's Avro schema does not fit the writer's: expected ${wanted}, found ${written}; check the reader schema that you chose for this topic`,
  );
}
