import { type Field, type Semantic, type Type, withoutNull } from "@cdckit/decode";
import { textLiteral } from "./text-literal.ts";

/** The value options that decide which TypeScript type a column has; the decoder's own names and defaults. */
export interface ValueChoices {
  readonly int64: "safe" | "bigint" | "string";
  readonly decimal: "string" | "number";
  readonly time: "iso" | "raw";
  readonly json: "text" | "parse";
  readonly bits: "string" | "bytes" | "bigint";
}

const unavailable = "typeof UNAVAILABLE";

/** Records that have an interface of their own, with the names of these. All others are written where they stand. */
export type RecordNames = ReadonlyMap<Type, string>;

const noNames: RecordNames = new Map();

/**
 * The interface of a row: a line a column. `mayBeUnavailable`: whether a source may leave out a large column that did not change, so that
 * its value is UNAVAILABLE.
 */
export function rowInterface(
  name: string,
  type: Type,
  choices: ValueChoices,
  mayBeUnavailable: boolean,
  names: RecordNames = noNames,
): string {
  const record = withoutNull(type);
  const fields = record.kind === "record" ? record.fields : [];
  const lines = fields.map((field) => {
    const value = valueType(field.type, choices, names);
    return `  readonly ${propertyName(field.name)}: ${value}${mayBeUnavailable && isLarge(field) ? ` | ${unavailable}` : ""};\n`;
  });
  return `export interface ${name} {\n${lines.join("")}}\n`;
}

/**
 * The TypeScript type of what a value of a schema's type is decoded to. `names` has the records of the type that come more than once
 * (`repeatedRecords`): written where they stand, they would have no end if they hold themselves.
 */
export function valueType(type: Type, choices: ValueChoices, names: RecordNames = noNames): string {
  if (type.kind === "union") {
    return unionOf(type.branches.map((branch) => valueType(branch, choices, names)));
  }
  return (type.semantic === undefined ? null : semanticType(type.semantic, choices)) ?? plainType(type, choices, names);
}

function unionOf(members: readonly string[]): string {
  const distinct = [...new Set(members)].sort((a, b) => Number(a === "null") - Number(b === "null"));
  return distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}

function plainType(type: Exclude<Type, { kind: "union" }>, choices: ValueChoices, names: RecordNames): string {
  switch (type.kind) {
    case "null":
    case "boolean":
    case "string":
      return type.kind;
    case "int":
    case "float":
    case "double":
      return "number";
    case "long":
      return int64Types[choices.int64];
    case "bytes":
    case "fixed":
      return "Buffer";
    case "enum":
      return literals(type.symbols);
    case "array":
      return `readonly ${inBrackets(valueType(type.items, choices, names))}[]`;
    case "map":
      return mapType(type.keys, valueType(type.values, choices, names), choices, names);
    case "record":
      return names.get(type) ?? recordType(type.fields, choices, names);
    case "any":
      return "unknown";
  }
}

const int64Types: Readonly<Record<ValueChoices["int64"], string>> = { safe: "number | bigint", bigint: "bigint", string: "string" };

function literals(symbols: readonly string[]): string {
  return symbols.length === 0 ? "string" : symbols.map(textLiteral).join(" | ");
}

function inBrackets(text: string): string {
  return text.includes(" ") ? `(${text})` : text;
}

function mapType(keys: Type | null, values: string, choices: ValueChoices, names: RecordNames): string {
  return keys === null ? `Readonly<Record<string, ${values}>>` : `ReadonlyMap<${valueType(keys, choices, names)}, ${values}>`;
}

function recordType(fields: readonly Field[], choices: ValueChoices, names: RecordNames): string {
  const members = fields.map(({ name, type }) => `readonly ${propertyName(name)}: ${valueType(type, choices, names)}`);
  return members.length === 0 ? "Readonly<Record<string, never>>" : `{ ${members.join("; ")} }`;
}

/** A name that schema text chose: quoted unless it is an identifier, so that it can be nothing but a name. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : textLiteral(name);
}

/** The type of a column by its meaning; null if its meaning changes nothing. */
export function semanticType({ name, parameters }: Semantic, choices: ValueChoices): string | null {
  if (decimals.has(name)) {
    return choices.decimal;
  }
  if (temporal.test(name)) {
    return choices.time === "iso" ? "string" : null;
  }
  switch (name) {
    case "io.debezium.data.Json":
      return choices.json === "text" ? "string" : "unknown";
    case "io.debezium.time.MicroDuration":
    case "io.debezium.time.NanoDuration":
    case "tidb.bigint":
    case "tidb.bigint unsigned":
      return int64Types[choices.int64];
    case "io.debezium.data.Bits":
    case "tidb.bit":
      return { string: "string", bytes: "Buffer", bigint: "bigint" }[choices.bits];
    case "io.debezium.data.Enum":
      return literals(allowedOf(parameters["allowed"]));
    case "io.debezium.data.EnumSet":
      return `readonly ${inBrackets(literals(allowedOf(parameters["allowed"])))}[]`;
    default:
      return others.get(name) ?? null;
  }
}

/**
 * Debezium lists the symbols of a column with commas between. A comma inside of one is `\,` if the column is of MySQL or MariaDB; those of
 * PostgreSQL cannot be told apart.
 */
function allowedOf(allowed: string | undefined): readonly string[] {
  return allowed === undefined || allowed === "" ? [] : allowed.split(/(?<!\\),/).map((symbol) => symbol.replaceAll("\\,", ","));
}

const decimals: ReadonlySet<string> = new Set([
  "org.apache.kafka.connect.data.Decimal",
  "io.debezium.data.VariableScaleDecimal",
  "confluent.type.Decimal",
  "avro.decimal",
  "avro.big-decimal",
  "tidb.decimal",
]);

/** Dates, times and timestamps are ISO text; years and durations in numbers are not. */
const temporal =
  /^(?:io\.debezium\.time\.(?:Date|(?:Micro|Nano)?Time(?:stamp)?|Zoned\w+|Iso\w+|Structured\w+|Interval)|org\.apache\.kafka\.connect\.data\.(?:Date|Time|Timestamp)|avro\.(?:date|time-\w+|(?:local-)?timestamp-\w+)|tidb\.(?:date|datetime|time|timestamp))$/;

const point = "{ readonly x: number; readonly y: number; readonly srid: number | null; readonly wkb: Buffer | null }";
const geometry = "{ readonly wkb: Buffer | null; readonly srid: number | null }";

const others: ReadonlyMap<string, string> = new Map([
  ["io.debezium.data.geometry.Point", point],
  ["io.debezium.data.geometry.Geometry", geometry],
  ["io.debezium.data.geometry.Geography", geometry],
  ["io.debezium.data.geometry.Circle", `{ readonly center: ${point}; readonly radius: number }`],
  ["io.debezium.data.geometry.Line", "{ readonly a: number; readonly b: number; readonly c: number }"],
  ["io.debezium.data.DoubleVector", "readonly number[]"],
  ["io.debezium.data.FloatVector", "readonly number[]"],
  ["io.debezium.data.SparseDoubleVector", "{ readonly dimensions: number; readonly vector: ReadonlyMap<number, number> }"],
  ["avro.uuid", "string"],
  ["avro.duration", "string"],
  ["tidb.bit(1)", "boolean"],
  ["tidb.bytes", "Buffer"],
  ["bytes", "Buffer"],
  ["tidb.int", "number"],
  ["tidb.float", "number"],
  ["tidb.double", "number"],
  ["io.debezium.time.Year", "number"],
  ["io.debezium.data.Uuid", "string"],
  ["io.debezium.data.Xml", "string"],
  ["io.debezium.data.Ltree", "string"],
  ["io.debezium.data.Tsvector", "string"],
  ["io.debezium.data.TiDBVectorFloat32", "string"],
]);

/** Whether a database may store a column's value outside of its row. */
function isLarge({ type }: Field): boolean {
  const inner = withoutNull(type);
  const { semantic } = inner;
  if (semantic !== undefined && (decimals.has(semantic.name) || temporal.test(semantic.name) || small.has(semantic.name))) {
    return false;
  }
  return inner.kind === "string" || inner.kind === "bytes" || inner.kind === "array" || inner.kind === "map";
}

const small: ReadonlySet<string> = new Set([
  "io.debezium.data.Uuid",
  "io.debezium.data.Enum",
  "io.debezium.data.EnumSet",
  "io.debezium.data.Bits",
  "tidb.bit",
  "tidb.bit(1)",
]);
