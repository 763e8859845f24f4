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
  if (bound === undefined) {
    return !isFloat(type) || keepsNumber(type, value);
  }
  return (typeof value === "bigint" || Number.isInteger(value)) && value >= -bound && value < bound;
}

/** What is asked of a column about a value. Null, and nothing, say that there is no such bound. */
interface Bounds {
  readonly type: string;
  /** In characters. */
  readonly maxLength?: number | null;
  readonly maxScale?: number | null;
  readonly maxWhole?: number | null;
}

/**
 * Whether a column takes a value as it is, as far as its range, its length and its scale say. PostgreSQL would round the digits that a float, or a
 * `numeric(10,2)`, does not keep, and cut the time of day off for a date, without a word.
 */
export function holdsValue({ type, maxLength = null, maxScale = null, maxWhole = null }: Bounds, value: unknown): boolean {
  if (Array.isArray(value)) {
    const items = { type: itemType(type), maxScale, maxWhole };
    return value.every((item) => holdsValue(items, item));
  }
  if ((maxScale !== null && scaleOf(value) > maxScale) || (maxWhole !== null && wholeDigitsOf(value) > maxWhole)) {
    return false;
  }
  if (typeof value === "string") {
    return holdsLength(maxLength, value) && !(type === "date" && hasTimeOfDay(value)) && !(isFloat(type) && !keepsDigits(type, value));
  }
  const own = type === "date" && typeof value === "object" ? ownText(value) : undefined;
  return typeof own === "string" ? !hasTimeOfDay(own) : holdsNumber(type, value);
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

/** How many digits after the point a decimal, or a time, has, without zeros at the end. */
function scaleOf(value: unknown): number {
  const text = typeof value === "number" ? String(value) : typeof value === "object" ? ownText(value) : value;
  if (typeof text !== "string") {
    return 0;
  }
  const digits = withoutLastZeros(/\.(\d+)/.exec(text)?.[1] ?? "");
  const exponent = /^[+-]?[\d.]+e([+-]?\d+)$/i.exec(text)?.[1] ?? 0;
  return Math.max(0, digits.length - Number(exponent));
}

/** How many digits a number has before the point. */
function wholeDigitsOf(value: unknown): number {
  const text = String(typeof value === "number" || typeof value === "bigint" ? value : typeof value === "string" ? value : 0);
  const [, digits = "", exponent] = /^[+-]?0*([1-9]\d*)?(?:\.\d*)?(e[+-]?\d+)?$/i.exec(text) ?? [];
  return exponent === undefined ? digits.length : Math.floor(Math.log10(Math.abs(Number(text)))) + 1;
}

function ownText(value: object | null): unknown {
  return (value as { toJSON?: () => unknown } | null)?.toJSON?.();
}

function holdsLength(maxLength: number | null, text: string): boolean {
  // UTF-16 has one unit or two for a character.
  return maxLength === null || text.length <= maxLength || [...text].length <= maxLength;
}

function hasTimeOfDay(text: string): boolean {
  return /[T ]\d\d:/.test(text) && !/[T ]00:00(:00(\.0+)?)?(?![\d.:])/.test(text);
}

/** Whether a float of this type stands for the same number. Those of the source have the digits of a single, or of a double, and a bigint any. */
function keepsNumber(type: string, value: number | bigint): boolean {
  const near = Number(value);
  // A writer may have filled the digits after the 17th with zeros.
  if (typeof value === "bigint" && BigInt(near) !== value && digitsOf(String(near)) !== digitsOf(String(value))) {
    return false;
  }
  return type !== "real" || !Number.isFinite(near) || isSingle(near);
}

/** Whether a decimal comes back from a float of this type with the digits that it had. What is no decimal is left to PostgreSQL. */
function keepsDigits(type: string, text: string): boolean {
  const near = Number(text);
  return !Number.isFinite(near) || (digitsOf(text) === digitsOf(String(near)) && (type !== "real" || isSingle(near)));
}

/** Whether a number is a float of 32 bits, or the decimal that one is written as. */
function isSingle(value: number): boolean {
  const single = Math.fround(value);
  return single === value || (Number.isFinite(single) && [6, 7, 8, 9].some((digits) => Number(single.toPrecision(digits)) === value));
}

/** The digits of a decimal from its first to its last that is not zero. Two decimals with the same digits and about the same size are equal. */
function digitsOf(text: string): string {
  const digits = text.replace(/[eE].*$/, "").replace(/[^\d]/g, "");
  return withoutLastZeros(digits.replace(/^0+/, ""));
}

/** Not by an expression: it would take quadratic time for many zeros in front of another digit. */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") {
    end--;
  }
  return digits.slice(0, end);
}

/** Whether `holdsValue` tells which values a column must be widened for. Others change what is stored of each value, as a longer float does. */
export function isWidenedByValue(present: string, wider: string): boolean {
  const [from, to] = [itemType(present), itemType(wider)];
  return from === to || integerBounds.has(to) || to === "text" || from === "date" || (isFloat(from) && to === "numeric");
}

/** What a text must look like for a column of this type. Types that are not here read many forms. */
const textForms: readonly (readonly [types: RegExp, form: RegExp, name: string])[] = [
  [/^(smallint|integer|bigint)$/, /^\s*[+-]?(\d[\d_]*|0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)\s*$/, "integer"],
  [/^(numeric|real|double precision)$/, /^\s*[+-]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][+-]?\d+)?\s*$|nan|inf/i, "number"],
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

function isFloat(type: string): boolean {
  return type === "real" || type === "double precision";
}

/** The type of the items of an array; the type itself if it is no array. */
export function itemType(type: string): string {
  return type.endsWith("[]") ? type.slice(0, -2) : type;
}

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
