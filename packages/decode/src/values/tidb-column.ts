import type { ResolvedValueOptions } from "../options.ts";
import type { Conversion, Semantic } from "./conversion.ts";
import { bytesOfText } from "./sql-bytes.ts";
import { type SqlConversion, SqlTexts } from "./sql-text.ts";
import { parseSqlType } from "./sql-type.ts";
import { valueInvalid } from "./value-invalid.ts";

const prefix = "tidb.";
const bytesName = `${prefix}bytes`;

/** The semantic types by TiDB's type names in lower case. Only types whose values do not describe themselves are listed. */
const meanings: ReadonlyMap<string, string> = new Map([
  ...["bigint unsigned", "bit", "bit(1)", "date", "datetime", "decimal", "time", "timestamp"].map((type) => [type, prefix + type] as const),
  ...["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"].map((type) => [type, bytesName] as const),
  ["json", "io.debezium.data.Json"],
  ["set", "io.debezium.data.EnumSet"],
]);

/** The meaning of a column from `tidb_type` in TiCDC's schemas; null if its value needs no conversion. */
export function tidbSemantic(tidbType: unknown, parameters: Readonly<Record<string, string>>): Semantic | null {
  const type = typeof tidbType === "string" ? tidbType.toLowerCase() : "";
  // A single bit is a boolean.
  const name = meanings.get(type === "bit" && parameters["length"] === "1" ? "bit(1)" : type);
  return name === undefined ? null : { name, parameters };
}

/** Only hints have these names. TiCDC's schemas have types for them, but the rows of its simple protocol have text. */
const hinted = ["int", "bigint", "float", "double"].map((type) => prefix + type);

/** The names that are not Debezium's: those of `tidbSemantic`, and those of hints. */
export const tidbSemantics: readonly string[] = Object.freeze(
  Array.from(new Set([...meanings.values(), ...hinted])).filter((name) => name.startsWith(prefix)),
);

/** The conversion of a TiDB column. Bytes arrive as bytes, or as base64 if the format has no bytes. */
export function tidbConversion(
  { name, parameters }: Semantic,
  values: ResolvedValueOptions,
  parseJson: (text: string) => unknown,
): Conversion {
  if (name === bytesName) {
    return { text: (text) => bytesOfText(name, text, "base64") };
  }
  const type = { ...parseSqlType(name.slice(prefix.length)), length: lengthOf(parameters["length"]) };
  const convert = new SqlTexts({ dialect: "mysql", bytes: "base64", values, parseJson }).ofParsed(type);
  switch (type.name) {
    case "bit":
      return { bytes: (bytes, start, end) => convert(bitsOf(bytes, start, end)) };
    case "bigint":
      return type.isUnsigned ? unsignedConversion(convert) : { text: convert };
    default:
      return { text: convert };
  }
}

/**
 * Converts an unsigned integer. The upper half of the numbers does not fit in a long and arrives as the negative number with the same bits.
 */
function unsignedConversion(convert: SqlConversion): Conversion {
  const wide = (value: number | bigint): unknown => convert(value < 0 ? BigInt.asUintN(64, BigInt(value)) : value);
  return { int: wide, bigint: wide, text: convert };
}

/** MySQL's limit for a BIT. */
const maxBytes = 8;

/** The number in bytes with the highest byte first. */
function bitsOf(bytes: Uint8Array, start: number, end: number): bigint {
  if (end - start > maxBytes) {
    throw valueInvalid("bit", `at most ${maxBytes} bytes`, "more");
  }
  let bits = 0n;
  for (let at = start; at < end; at++) {
    bits = (bits << 8n) | BigInt(bytes[at] as number);
  }
  return bits;
}

function lengthOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : null;
}
