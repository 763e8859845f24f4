import type { ResolvedValueOptions } from "../options.ts";
import type { Conversion, Semantic } from "./conversion.ts";
import { bytesOfText } from "./sql-bytes.ts";
import { type SqlConversion, SqlTexts } from "./sql-text.ts";
import { parseSqlType } from "./sql-type.ts";
import { valueInvalid } from "./value-invalid.ts";

const prefix = "tidb.";
const bytesName = `${prefix}bytes`;

/** What types mean, by their names in lower case: only those whose values say less than the type beside them. */
const meanings: ReadonlyMap<string, string> = new Map([
  ...["bigint unsigned", "bit", "bit(1)", "date", "datetime", "decimal", "time", "timestamp"].map((type) => [type, prefix + type] as const),
  ...["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"].map((type) => [type, bytesName] as const),
  ["json", "io.debezium.data.Json"],
  ["set", "io.debezium.data.EnumSet"],
]);

/** The meaning of a column as TiCDC's schemas state it, in `tidb_type`; null where its value is what it means. */
export function tidbSemantic(tidbType: unknown, parameters: Readonly<Record<string, string>>): Semantic | null {
  const type = typeof tidbType === "string" ? tidbType.toLowerCase() : "";
  // One bit alone is a boolean.
  const name = meanings.get(type === "bit" && parameters["length"] === "1" ? "bit(1)" : type);
  return name === undefined ? null : { name, parameters };
}

/** What only a hint says: TiCDC's schemas have a type for it, but the rows of its simple protocol have text. */
const hinted = ["int", "bigint", "float", "double"].map((type) => prefix + type);

/** The names that Debezium does not give: those of `tidbSemantic`, and of hints. */
export const tidbSemantics: readonly string[] = Object.freeze(
  Array.from(new Set([...meanings.values(), ...hinted])).filter((name) => name.startsWith(prefix)),
);

/** What such a column's raw value becomes. Bytes are what they are, or base64 where the format has no bytes. */
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

/** Half of the numbers do not fit, and come as the negative ones of the same bits. */
function unsignedConversion(convert: SqlConversion): Conversion {
  const wide = (value: number | bigint): unknown => convert(value < 0 ? BigInt.asUintN(64, BigInt(value)) : value);
  return { int: wide, bigint: wide, text: convert };
}

/** MySQL's bound for a BIT. */
const maxBytes = 8;

/** The highest byte first. */
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
