import type { Semantic } from "./conversion.ts";
import type { ConnectorModes, NativeColumn } from "./native-column.ts";
import { parseSqlType } from "./sql-type.ts";

/**
 * The meaning of a database's column in Debezium's messages, for values that arrive without their types. Null if Debezium has no meaning for
 * the type (text, plain numbers), if the type is not known, or if its form depends on a mode that was not stated: a count of milliseconds
 * looks like one of microseconds, and base64 can look like decimal text. Nothing is guessed.
 */
export function nativeSemantic(connector: string, column: NativeColumn, modes: ConnectorModes = {}): Semantic | null {
  const rules = Object.hasOwn(rulesByConnector, connector) ? rulesByConnector[connector] : undefined;
  const { name, isUnsigned, length, scale } = parseSqlType(column.typeName);
  const rule = rules?.get(isUnsigned && name === "bigint" ? "bigint unsigned" : name.replace(/ identity$/, ""));
  return rule === undefined ? null : rule({ typeName: name, length: column.length ?? length, scale: column.scale ?? scale }, modes);
}

type Rule = (column: NativeColumn, modes: ConnectorModes) => Semantic | null;
type Rules = ReadonlyMap<string, Rule>;

function semantic(name: string, parameters: Readonly<Record<string, string>> = {}): Semantic {
  return { name, parameters };
}

/** A semantic type that is the same in all modes. In some modes the value is a struct instead, which a wrong type does not change. */
function always(name: string): Rule {
  const meaning = semantic(name);
  return () => meaning;
}

function each(names: readonly string[], rule: Rule): [string, Rule][] {
  return names.map((name) => [name, rule]);
}

/** Dates: a count of days in every mode that writes dates as numbers. */
const date: Rule = (_, { time }) => {
  switch (time) {
    case "isostring":
      return semantic("io.debezium.time.IsoDate");
    case "structured":
      return semantic("io.debezium.time.StructuredDate");
    default:
      return semantic("io.debezium.time.Date");
  }
};

/** Times and timestamps with as many fraction digits as the column declares; null if that number is not known. */
function clock(what: "Time" | "Timestamp", digitsOf: (column: NativeColumn) => number | null): Rule {
  return (column, { time }) => {
    if (time === undefined) {
      return null;
    }
    const isAdaptive = time === "adaptive" || (time === "adaptive_time_microseconds" && what === "Timestamp");
    return isAdaptive ? adaptive(what, digitsOf(column)) : semantic(prefixes[time] + what);
  };
}

const prefixes: Readonly<Record<NonNullable<ConnectorModes["time"]>, string>> = {
  adaptive: "io.debezium.time.",
  adaptive_time_microseconds: "io.debezium.time.Micro",
  connect: "org.apache.kafka.connect.data.",
  isostring: "io.debezium.time.Iso",
  microseconds: "io.debezium.time.Micro",
  nanoseconds: "io.debezium.time.Nano",
  structured: "io.debezium.time.Structured",
};

/** MySQL's TIME, which can be a duration as well as a time of day. */
const mysqlTime: Rule = (column, modes) =>
  modes.time === "structured" ? semantic("io.debezium.time.StructuredDuration") : clock("Time", lengthDigits)(column, modes);

function adaptive(what: "Time" | "Timestamp", digits: number | null): Semantic | null {
  if (digits === null) {
    return null;
  }
  return semantic(`io.debezium.time.${digits <= 3 ? "" : digits <= 6 ? "Micro" : "Nano"}${what}`);
}

function zoned(what: "Time" | "Timestamp"): Rule {
  return (_, { time }) => semantic(`io.debezium.time.${time === "structured" ? "StructuredZoned" : "Zoned"}${what}`);
}

function decimalOf(scale: number): Semantic {
  return semantic("org.apache.kafka.connect.data.Decimal", { scale: String(scale) });
}

const decimal: Rule = ({ scale }, modes) => (modes.decimal === "precise" ? decimalOf(scale ?? 0) : null);

/** PostgreSQL's numeric. If it has no scale, the driver reports the length 131,089. */
const postgresNumeric: Rule = ({ length, scale }, modes) => {
  const isVariable = (length === null || length === 0 || length === 131_089) && (scale ?? 0) === 0;
  return modes.decimal !== "precise" ? null : isVariable ? semantic("io.debezium.data.VariableScaleDecimal") : decimalOf(scale ?? 0);
};

/** Oracle's NUMBER. Without a fraction it is an integer if 64 bits can hold it. */
const oracleNumber: Rule = ({ length, scale }, modes) => {
  if (modes.decimal !== "precise" || (scale !== null && scale <= 0 && (length ?? 0) - scale < 19)) {
    return null;
  }
  return scale === null ? semantic("io.debezium.data.VariableScaleDecimal") : decimalOf(scale);
};

const variableScale: Rule = (_, modes) => (modes.decimal === "precise" ? semantic("io.debezium.data.VariableScaleDecimal") : null);
const money: Rule = (_, { decimal: mode, moneyFractionDigits: digits }) =>
  mode === "precise" && digits !== undefined ? decimalOf(digits) : null;
const interval: Rule = (_, { interval: mode }) =>
  mode === undefined ? null : semantic(`io.debezium.time.${mode === "string" ? "Interval" : "MicroDuration"}`);
const unsignedBigint: Rule = (_, modes) => (modes.unsignedBigint === "precise" ? decimalOf(0) : null);
const binary: Rule = (_, modes) => (modes.binary === "bytes" ? semantic("bytes") : null);

/** A column of bits. A single bit is a boolean and needs no conversion. */
const bits: Rule = ({ length }) => (length !== null && length > 1 ? semantic("io.debezium.data.Bits", { length: String(length) }) : null);

/** Without a length, PostgreSQL's `bit` has one bit, and `bit varying` any number. */
const varyingBits: Rule = (column, modes) => (column.length === null ? semantic("io.debezium.data.Bits") : bits(column, modes));

const scaleDigits = ({ scale }: NativeColumn): number | null => scale;
const lengthDigits = ({ length }: NativeColumn): number => length ?? 0;
const oracleDigits = ({ length, scale }: NativeColumn): number | null => scale ?? length;
const noDigits = (): number => 0;

const postgresql: Rules = new Map<string, Rule>([
  ["date", date],
  ...each(["time", "time without time zone"], clock("Time", scaleDigits)),
  ...each(["timestamp", "timestamp without time zone"], clock("Timestamp", scaleDigits)),
  ...each(["timetz", "time with time zone"], zoned("Time")),
  ...each(["timestamptz", "timestamp with time zone"], zoned("Timestamp")),
  ...each(["numeric", "decimal"], postgresNumeric),
  ["money", money],
  ["bytea", binary],
  ["bit", bits],
  ...each(["varbit", "bit varying"], varyingBits),
  ...each(["json", "jsonb", "hstore"], always("io.debezium.data.Json")),
  ["interval", interval],
  ["uuid", always("io.debezium.data.Uuid")],
  ["xml", always("io.debezium.data.Xml")],
  ["ltree", always("io.debezium.data.Ltree")],
  ["tsvector", always("io.debezium.data.Tsvector")],
  ["point", always("io.debezium.data.geometry.Point")],
  ["circle", always("io.debezium.data.geometry.Circle")],
  ["line", always("io.debezium.data.geometry.Line")],
  ...each(["geometry", "box", "lseg", "path", "polygon"], always("io.debezium.data.geometry.Geometry")),
  ["geography", always("io.debezium.data.geometry.Geography")],
  ["vector", always("io.debezium.data.DoubleVector")],
  ["halfvec", always("io.debezium.data.FloatVector")],
  ["sparsevec", always("io.debezium.data.SparseDoubleVector")],
]);

const mysql: Rules = new Map<string, Rule>([
  ["date", date],
  ["time", mysqlTime],
  ["datetime", clock("Timestamp", lengthDigits)],
  ["timestamp", zoned("Timestamp")],
  ...each(["decimal", "numeric", "dec", "fixed"], decimal),
  ["bigint unsigned", unsignedBigint],
  ...each(["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"], binary),
  ["bit", bits],
  ["set", always("io.debezium.data.EnumSet")],
  ["json", always("io.debezium.data.Json")],
  ["point", always("io.debezium.data.geometry.Point")],
  ...each(
    ["geometry", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection"],
    always("io.debezium.data.geometry.Geometry"),
  ),
  ["vector", always("io.debezium.data.FloatVector")],
]);

const oracle: Rules = new Map<string, Rule>([
  ["date", clock("Timestamp", noDigits)],
  ["timestamp", clock("Timestamp", oracleDigits)],
  ...each(["timestamp with time zone", "timestamp with local time zone"], zoned("Timestamp")),
  ...each(["number", "numeric", "decimal"], oracleNumber),
  ["float", variableScale],
  ...each(["raw", "blob"], binary),
  ["json", always("io.debezium.data.Json")],
]);

const sqlserver: Rules = new Map<string, Rule>([
  ["date", date],
  ["time", clock("Time", scaleDigits)],
  ...each(["datetime", "datetime2", "smalldatetime"], clock("Timestamp", scaleDigits)),
  ["datetimeoffset", zoned("Timestamp")],
  ...each(["decimal", "numeric"], decimal),
  ...each(["money", "smallmoney"], (_, modes) => (modes.decimal === "precise" ? decimalOf(4) : null)),
  ...each(["binary", "varbinary", "image", "timestamp", "rowversion"], binary),
]);

const rulesByConnector: Readonly<Record<string, Rules>> = { postgresql, mysql, mariadb: mysql, oracle, sqlserver };
