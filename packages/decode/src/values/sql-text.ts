import type { ResolvedValueOptions } from "../options.ts";
import { decimalConversion } from "./decimal.ts";
import { enumSetConversion } from "./enum-set.ts";
import { jsonConversion } from "./json-text.ts";
import { mysqlGeometry, mysqlPoint } from "./mysql-geometry.ts";
import { type BytesText, bytesOfText, bitsOfText } from "./sql-bytes.ts";
import { dateOfText, timeOfText, timestampOfText, zonedTimeOfText, zonedTimestampOfText } from "./sql-time.ts";
import { parseSqlType, type SqlType } from "./sql-type.ts";
import { valueInvalid } from "./value-invalid.ts";

/**
 * Values of envelopes that state a column's SQL type next to its text. Here type names have the role that Debezium's semantic names have in
 * schemas. Values of an unknown type, and text whose style depends on the database's settings, stay as they are.
 */

export type SqlDialect = "mysql" | "postgresql";

export type MembersAs = "text-or-number" | "number";

export interface SqlTextOptions {
  readonly dialect: SqlDialect;
  /** The form in which the envelope writes bytes. */
  readonly bytes: BytesText;
  /**
   * Whether a member of an ENUM or a SET arrives as its text or its number, or always as its number: `1` may also be the text of another
   * member.
   * @default "text-or-number"
   */
  readonly members?: MembersAs;
  readonly values: ResolvedValueOptions;
  readonly parseJson: (text: string) => unknown;
  /**
   * Called with the cost of each type that is parsed for the first time.
   * @default no function is called
   */
  readonly addCost?: ((cost: number) => void) | undefined;
}

/** Converts a column's text, or the value that JSON made of it. Null stays null in every type. */
export type SqlConversion = (value: unknown) => unknown;

const maxTypes = 256;
const maxRememberedTypeChars = 1_024;
/** The cost of parsing a type, in nanoseconds or so. */
const typeCost = 5_000;
/** MySQL's limit for a SET. */
const maxSetMembers = 64;
/** PostgreSQL's limit for the scale of a column. */
const maxScale = 1_000;

/** The conversions of one envelope on one topic, by the type's text. */
export class SqlTexts {
  readonly #options: SqlTextOptions;
  readonly #byType = new Map<string, SqlConversion>();

  constructor(options: SqlTextOptions) {
    this.#options = options;
  }

  /** The conversion for a type in its written form. It throws a `DecodeError` of code `value-invalid` if a value contradicts the type. */
  of(type: string): SqlConversion {
    let conversion = this.#byType.get(type);
    if (conversion === undefined) {
      conversion = this.ofParsed(parseSqlType(type));
      if (this.#byType.size < maxTypes && type.length <= maxRememberedTypeChars) {
        this.#byType.set(type, conversion);
      } else {
        this.#options.addCost?.(typeCost);
      }
    }
    return conversion;
  }

  ofParsed(type: SqlType): SqlConversion {
    const convert = makerOf(type)?.(type, this.#options) ?? asItIs;
    return (value) => (value === null || value === undefined ? null : convert(value));
  }
}

type Make = (type: SqlType, options: SqlTextOptions) => SqlConversion;

/** The maker for a type, by its whole name or by its first word (`timestamp without time zone`). PostgreSQL's arrays stay text. */
function makerOf({ name }: SqlType): Make | undefined {
  return name.endsWith("[]") ? undefined : (makers.get(name) ?? makers.get(name.split(" ", 1)[0] ?? ""));
}

function asItIs(value: unknown): unknown {
  return value;
}

function smallInteger(type: SqlType, options: SqlTextOptions): SqlConversion {
  return type.isUnsigned && (type.name === "int" || type.name === "integer") ? wideInteger(type, options) : integer(type, safeInteger);
}

function wideInteger(type: SqlType, { values }: SqlTextOptions): SqlConversion {
  switch (values.int64) {
    case "safe":
      return integer(type, safeInteger);
    case "bigint":
      return integer(type, BigInt);
    case "string":
      return integer(type, (value) => String(BigInt(value)));
  }
}

/** A number, or a bigint beyond 2^53. */
function safeInteger(value: number | bigint | string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

function integer({ name }: SqlType, convert: (value: number | bigint | string) => unknown): SqlConversion {
  return (value) => {
    if (typeof value === "string") {
      if (!/^[+-]?\d{1,20}$/.test(value)) {
        throw valueInvalid(name, "an integer", "other text");
      }
      return convert(value.startsWith("+") ? value.slice(1) : value);
    }
    return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value)) ? convert(value) : value;
  };
}

function decimal({ name, scale, length }: SqlType, { values }: SqlTextOptions): SqlConversion {
  // A precision alone means that there are no fraction digits. A short number is padded with zeros up to the scale, so the scale has a
  // limit.
  const declared = scale ?? (length === null ? null : 0);
  const { text, int, bigint } = decimalConversion(name, declared === null || declared > maxScale ? null : declared, values);
  return (value) => {
    if (typeof value === "string") {
      return text?.(value);
    }
    if (typeof value === "bigint") {
      return bigint?.(value);
    }
    return typeof value === "number" ? (Number.isInteger(value) ? int?.(value) : text?.(String(value))) : value;
  };
}

/** Converts a float. MySQL calls a double a float of more than 24 bits. */
function float(type: SqlType): SqlConversion {
  return type.name === "float" && type.scale === null && (type.length ?? 0) > 24 ? double(type) : floating(type, Math.fround);
}

/** Converts a REAL: in MySQL another name of DOUBLE, in PostgreSQL and in SQL's standard a float of 32 bits. */
function real(type: SqlType, { dialect }: SqlTextOptions): SqlConversion {
  return dialect === "mysql" ? double(type) : float(type);
}

function double(type: SqlType): SqlConversion {
  return floating(type, (value) => value);
}

function floating({ name }: SqlType, round: (value: number) => number): SqlConversion {
  return (value) => {
    if (typeof value === "string") {
      const number = value.trim() === "" ? Number.NaN : Number(value);
      if (Number.isNaN(number) && !/^nan$/i.test(value)) {
        throw valueInvalid(name, "a number", "other text");
      }
      return round(number);
    }
    return typeof value === "number" || typeof value === "bigint" ? round(Number(value)) : value;
  };
}

/** Converts PostgreSQL's `t` and `true`. MySQL's boolean is a small integer and stays a number. */
function boolean(type: SqlType): SqlConversion {
  const convertInteger = integer(type, safeInteger);
  return (value) => {
    if (value === "t" || value === "true") {
      return true;
    }
    return value === "f" || value === "false" ? false : convertInteger(value);
  };
}

/** Converts an ENUM. Some writers send the number of a member instead of its text. 0 is MySQL's mark of an invalid member. */
function enumeration({ elements }: SqlType, options: SqlTextOptions): SqlConversion {
  const members = new Set(options.members === "number" ? [] : elements);
  return (value) => {
    const isIndex = typeof value === "number" || (typeof value === "string" && /^\d{1,5}$/.test(value) && !members.has(value));
    const index = isIndex ? Number(value) : -1;
    return index === 0 && elements !== null ? "" : (elements?.[index - 1] ?? value);
  };
}

/** Converts a SET, from its members or from the number whose bits stand for them. Without a list of members it stays a number. */
function set({ elements }: SqlType, options: SqlTextOptions): SqlConversion {
  const members = elements !== null && elements.length <= maxSetMembers ? elements : null;
  const texts = options.members === "number" ? null : members;
  return (value) => {
    const isBits = typeof value === "number" || typeof value === "bigint" || (typeof value === "string" && /^\d{1,20}$/.test(value));
    if (isBits && !(typeof value === "string" && texts?.includes(value) === true)) {
      return members === null ? value : membersOf(BigInt(value), members);
    }
    return typeof value === "string" ? enumSetConversion.text?.(value) : value;
  };
}

function membersOf(bits: bigint, elements: readonly string[]): readonly string[] {
  return elements.filter((_, i) => (bits & (1n << BigInt(i))) !== 0n);
}

function json({ name }: SqlType, { values, parseJson }: SqlTextOptions): SqlConversion {
  const convert = jsonConversion(name, values.json, parseJson)?.text;
  return convert === undefined ? asItIs : ofText(convert);
}

function bytes({ name }: SqlType, options: SqlTextOptions): SqlConversion {
  return ofText((text) => bytesOfText(name, text, options.bytes));
}

/** Converts MySQL's geometries, if the envelope writes bytes as text of one character each. */
function spatial(convert: (text: string) => unknown): Make {
  return (_, { dialect, bytes: written }) => (dialect === "mysql" && written === "latin1" ? ofText(convert) : asItIs);
}

function temporal(make: (options: ResolvedValueOptions) => (text: string) => unknown): Make {
  return (_, { values }) => (values.time === "raw" ? asItIs : ofText(make(values)));
}

function ofText(convert: (text: string) => unknown): SqlConversion {
  return (value) => (typeof value === "string" ? convert(value) : value);
}

const makers: ReadonlyMap<string, Make> = new Map<string, Make>([
  ...named("tinyint smallint mediumint int integer int1 int2 int3 int4 middleint smallserial serial4 year", smallInteger),
  ...named("bigint int8 bigserial serial serial8 oid", wideInteger),
  ...named("decimal numeric dec fixed number", decimal),
  ...named("float float4", float),
  ...named("real", real),
  ...named("double float8", double),
  ...named("boolean bool", boolean),
  ...named("date", temporal(dateOfText)),
  ...named("datetime timestamp", temporal(timestampOfText)),
  ...named("timestamptz", temporal(zonedTimestampOfText)),
  ["timestamp with time zone", temporal(zonedTimestampOfText)],
  ...named("time", temporal(timeOfText)),
  ...named("timetz", temporal(zonedTimeOfText)),
  ["time with time zone", temporal(zonedTimeOfText)],
  ...named("binary varbinary tinyblob blob mediumblob longblob bytea", bytes),
  ...named("bit varbit", (type, { dialect, values }) => bitsOfText(type, dialect, values.bits)),
  ...named("geometry linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection", spatial(mysqlGeometry)),
  ...named("point", spatial(mysqlPoint)),
  ...named("json jsonb", json),
  ...named("enum", enumeration),
  ...named("set", set),
]);

function named(names: string, make: Make): (readonly [string, Make])[] {
  return names.split(" ").map((name) => [name, make] as const);
}
