import { type Type, withoutNull } from "@cdckit/decode";
import { holdsNumber, holdsValue, integerBounds, isFloat, itemType } from "./value-fit.ts";

/** The column type that holds every value of a type. The semantic type counts first, then the physical one. */
export function columnTypeOf(type: Type): string {
  const inner = withoutNull(type);
  const name = inner.semantic?.name ?? "";
  return (Object.hasOwn(byMeaning, name) ? byMeaning[name] : undefined) ?? byKind(inner); // a schema may have any name, as "constructor"
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

/**
 * The type that a value needs although a schema declares another one for its column; null if that one will do. Schemas have integers without
 * a bound, and Protobuf's go up to 2^64.
 */
export function typeBeyond(declared: string, value: unknown): string | null {
  return integerBounds.has(itemType(declared)) && !holdsValue({ type: declared }, value)
    ? declared.replace(itemType(declared), "numeric")
    : null;
}

/** Whether `holdsValue` tells which values a column must be widened for. Others change what is stored of each value, as a longer float does. */
export function isWidenedByValue(present: string, wider: string): boolean {
  const [from, to] = [itemType(present), itemType(wider)];
  return (
    from === to || integerBounds.has(to) || to === "text" || from === "date" || from === "money" || (isFloat(from) && to === "numeric")
  );
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
  if (present.endsWith("[]") && wanted.endsWith("[]")) {
    const items = widerType(itemType(present), itemType(wanted));
    return items === null ? null : `${items}[]`;
  }
  const [from, to] = [bare(present), bare(wanted)];
  if ((integerBounds.has(from) && isFloat(to)) || (isFloat(from) && (integerBounds.has(to) || to === "numeric"))) {
    return "numeric"; // a float has 15 digits, and a bigint 19
  }
  const ladder = ladders.find((types) => types.includes(from) && types.includes(to));
  if (ladder === undefined) {
    return null;
  }
  return ladder.indexOf(to) > ladder.indexOf(from) ? wanted : null;
}

/** The type that holds the values of an earlier schema and of a later one: the later one's, if none holds both. A text can be any of them. */
export function commonType(before: string, latest: string): string {
  if (before === "text" || latest === "text") {
    return "text";
  }
  return widerType(latest, before) ?? widerType(before, latest) ?? latest;
}

/** The type that keeps all digits after the point. The scale of money is the database's. */
export function withoutScale(type: string): string {
  return type.replace(/^money(?=$|\[)/, "numeric");
}

/** How the values that are there become those of the wider type: PostgreSQL's own cast of a float keeps 6 or 15 digits of it, its text keeps all. */
export function conversionOf(quotedName: string, present: string, wider: string): string {
  return isFloat(itemType(present)) && itemType(wider) === "numeric" ? ` using ${quotedName}::text::${wider}` : "";
}

/** Each holds every value of those before it. */
const ladders: readonly (readonly string[])[] = [
  ["smallint", "integer", "bigint", "numeric"],
  ["real", "double precision"],
  ["character varying", "text"],
  ["date", "timestamp"],
];

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
    case "union": // JSON Schema's "number" is one of integers and fractions
      return type.branches.every(isPlainNumber) ? "numeric" : "jsonb";
    case "array": {
      const items = columnTypeOf(type.items);
      return items.endsWith("[]") || items === "jsonb" ? "jsonb" : `${items}[]`;
    }
    default:
      return "jsonb";
  }
}

function isPlainNumber({ kind, semantic }: Type): boolean {
  return /^(int|long|float|double)$/.test(kind) && semantic === undefined;
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
  "google.protobuf.Timestamp": "text", // PostgreSQL keeps microseconds
  "google.protobuf.Duration": "text",
  "google.type.TimeOfDay": "text",
  "google.type.Date": "date",
  "confluent.type.Decimal": "numeric",
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
