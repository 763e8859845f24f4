import { type Type, withoutNull } from "@cdckit/decode";

/** The column type that holds every value of a type. The semantic type counts first, then the physical one. */
export function columnTypeOf(type: Type): string {
  const inner = withoutNull(type);
  const meaning = inner.semantic === undefined ? undefined : byMeaning[inner.semantic.name];
  return meaning ?? byKind(inner);
}

/**
 * Whether a text of this type is a text in a column of JSON, too: next to numbers or documents, "123" must not become the number 123. A column whose
 * type is JSON has the texts of documents, and one of nothing but texts may have them.
 */
export function hasPlainTexts(type: Type): boolean {
  const inner = withoutNull(type);
  switch (inner.kind) {
    case "any":
      return columnTypeOf(inner) === "jsonb";
    case "union":
      return !inner.branches.some((branch) => columnTypeOf(branch) === "json");
    case "array":
      return hasPlainTexts(inner.items);
    default:
      return false;
  }
}

/** The column type for a value that came without a schema; null if the value does not tell. */
export function columnTypeFor(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      return "text";
    case "boolean":
      return "boolean";
    case "bigint":
    case "number":
      return typeof value === "number" && !Number.isInteger(value)
        ? "double precision"
        : holdsNumber("bigint", value)
          ? "bigint"
          : "numeric";
    default:
      return value === null || value === undefined ? null : value instanceof Uint8Array ? "bytea" : "jsonb";
  }
}

/** Integers of a column are at least minus this, and less than this. */
const integerBounds: ReadonlyMap<string, number> = new Map([
  ["smallint", 2 ** 15],
  ["integer", 2 ** 31],
  ["bigint", 2 ** 63],
]);

/** Whether a column of this type takes a value, if it is a number: columns of integers refuse fractions, and integers that are too large. */
export function holdsNumber(type: string, value: unknown): boolean {
  if (typeof value !== "number" && typeof value !== "bigint") {
    return true;
  }
  const bound = integerBounds.get(type);
  return bound === undefined || ((typeof value === "bigint" || Number.isInteger(value)) && value >= -bound && value < bound);
}

/** Whether a column takes a value, as far as its range and its length say: `maxLength` counts characters, and is null if any number is taken. */
export function holdsValue({ type, maxLength }: { readonly type: string; readonly maxLength: number | null }, value: unknown): boolean {
  if (typeof value !== "string") {
    return holdsNumber(type, value);
  }
  // UTF-16 has one unit or two for a character.
  return maxLength === null || value.length <= maxLength || [...value].length <= maxLength;
}

/** Whether `holdsValue` tells which values a column must be widened to this type for. Others change what is stored of each value, as floats do. */
export function isWidenedByValue(type: string): boolean {
  return integerBounds.has(type) || type === "text";
}

/** What a text must look like for a column of this type. Types that are not here read many forms. */
const textForms: readonly (readonly [types: RegExp, form: RegExp, name: string])[] = [
  [/^(smallint|integer|bigint)$/, /^\s*[+-]?(\d[\d_]*|0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)\s*$/, "integer"],
  [/^(numeric|real|double precision)$/, /^\s*[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][+-]?\d+)?\s*$|nan|inf/i, "number"],
  [/^boolean$/, /^\s*(t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|[01])\s*$/i, "boolean"],
  [/^uuid$/, /^\s*\{?([\da-f]{4}-?){7}[\da-f]{4}\}?\s*$/i, "UUID"],
];

/** What a text is not, although a column of this type needs it: `integer`. Null if it is, or if that cannot be said. */
export function missingForm(type: string, value: unknown): string | null {
  if (isJson(type)) {
    return typeof value === "string" && !isJsonText(value) ? "JSON" : null;
  }
  const [, form, name] = textForms.find(([types]) => types.test(type)) ?? [];
  return typeof value === "string" && form !== undefined && name !== undefined && !form.test(value) ? name : null;
}

/** Whether a column of this type has JSON. */
export function isJson(type: string): boolean {
  return type === "json" || type === "jsonb";
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The column type for a new column of values without a schema: a column of 5 may have 5.5 in its next row. */
export function newColumnTypeFor(type: string): string {
  return type === "bigint" || type === "double precision" ? "numeric" : type;
}

/**
 * The type to which a column must be widened so that it holds values of both types. Null if the column holds them already, or if no type
 * holds them without changing the values that are there.
 */
export function widerType(present: string, wanted: string): string | null {
  if (integerBounds.has(bare(present)) && floats.has(bare(wanted))) {
    return "numeric"; // a float has 15 digits, and a bigint 19
  }
  const ladder = ladders.find((types) => types.includes(bare(present)) && types.includes(bare(wanted)));
  if (ladder === undefined) {
    return null;
  }
  return ladder.indexOf(bare(wanted)) > ladder.indexOf(bare(present)) ? wanted : null;
}

/** Each holds every value of those before it. */
const ladders: readonly (readonly string[])[] = [
  ["smallint", "integer", "bigint", "numeric"],
  ["real", "double precision"],
  ["character varying", "text"],
];

const floats: ReadonlySet<string> = new Set(["real", "double precision"]);

function bare(type: string): string {
  return type.replace(/\(.*\)$/, "");
}

function byKind(type: Type): string {
  switch (type.kind) {
    case "boolean":
      return "boolean";
    case "int":
      return "integer";
    case "long":
      return "bigint";
    case "float":
      return "real";
    case "double":
      return "double precision";
    case "string":
    case "enum":
    case "null":
      return "text";
    case "bytes":
    case "fixed":
      return "bytea";
    case "array": {
      const items = columnTypeOf(type.items);
      return items.endsWith("[]") || items === "jsonb" ? "jsonb" : `${items}[]`;
    }
    default:
      return "jsonb";
  }
}

/** By the names of semantic types. Decimals have no precision, because the source may widen its own. */
const byMeaning: Readonly<Record<string, string>> = {
  "io.debezium.time.Date": "date",
  "io.debezium.time.IsoDate": "date",
  "org.apache.kafka.connect.data.Date": "date",
  "avro.date": "date",
  "io.debezium.time.Time": "text", // MySQL's hours go from -838 to 838
  "io.debezium.time.MicroTime": "text",
  "io.debezium.time.NanoTime": "text",
  "io.debezium.time.IsoTime": "text",
  "org.apache.kafka.connect.data.Time": "time",
  "avro.time-millis": "time",
  "avro.time-micros": "time",
  "io.debezium.time.Timestamp": "timestamp",
  "io.debezium.time.MicroTimestamp": "timestamp",
  "io.debezium.time.NanoTimestamp": "text", // PostgreSQL keeps microseconds
  "io.debezium.time.IsoTimestamp": "timestamp",
  "org.apache.kafka.connect.data.Timestamp": "timestamp",
  "avro.timestamp-millis": "timestamptz",
  "avro.timestamp-micros": "timestamptz",
  "avro.local-timestamp-millis": "timestamp",
  "avro.local-timestamp-micros": "timestamp",
  "avro.timestamp-nanos": "text", // as above
  "avro.local-timestamp-nanos": "text",
  "io.debezium.time.StructuredDate": "date",
  "io.debezium.time.StructuredTime": "text", // picoseconds
  "io.debezium.time.StructuredTimestamp": "text",
  "io.debezium.time.StructuredZonedTime": "text",
  "io.debezium.time.StructuredZonedTimestamp": "text",
  "io.debezium.time.StructuredDuration": "text",
  "io.debezium.time.ZonedTimestamp": "timestamptz",
  "io.debezium.time.ZonedTime": "timetz",
  "io.debezium.time.MicroDuration": "bigint",
  "io.debezium.time.NanoDuration": "bigint",
  "io.debezium.time.Year": "integer",
  "avro.duration": "interval",
  "io.debezium.time.Interval": "interval",
  "org.apache.kafka.connect.data.Decimal": "numeric",
  "avro.decimal": "numeric",
  "avro.big-decimal": "numeric",
  "io.debezium.data.VariableScaleDecimal": "numeric",
  "io.debezium.data.Json": "json",
  "io.debezium.data.Uuid": "uuid",
  "avro.uuid": "uuid",
  "io.debezium.data.Xml": "text",
  "io.debezium.data.Enum": "text",
  "io.debezium.data.Ltree": "text",
  "io.debezium.data.Tsvector": "text",
  "io.debezium.data.TiDBVectorFloat32": "text",
  "io.debezium.data.FloatVector": "real[]",
  "io.debezium.data.DoubleVector": "double precision[]",
  "io.debezium.data.SparseDoubleVector": "jsonb",
  "io.debezium.data.Bits": "varbit",
  "io.debezium.data.EnumSet": "text",
  "io.debezium.data.geometry.Point": "jsonb",
  "io.debezium.data.geometry.Geometry": "jsonb",
  "io.debezium.data.geometry.Geography": "jsonb",
  "io.debezium.data.geometry.Circle": "jsonb",
  "io.debezium.data.geometry.Line": "jsonb",
  bytes: "bytea", // what only a hint says
  "tidb.int": "bigint", // it may be unsigned
  "tidb.bigint": "bigint",
  "tidb.float": "real",
  "tidb.double": "double precision",
  "tidb.bigint unsigned": "numeric",
  "tidb.bit": "varbit",
  "tidb.bit(1)": "boolean",
  "tidb.bytes": "bytea",
  "tidb.date": "date",
  "tidb.datetime": "timestamp",
  "tidb.decimal": "numeric",
  "tidb.time": "text",
  "tidb.timestamp": "timestamp",
};
