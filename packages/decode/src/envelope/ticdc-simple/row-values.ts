import type { Semantic } from "../../values/conversion.ts";
import { conversionFor } from "../../values/conversion-for.ts";
import { bytesOfText } from "../../values/sql-bytes.ts";
import type { SqlConversion } from "../../values/sql-text.ts";
import type { SqlType } from "../../values/sql-type.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { isBlock } from "../source.ts";
import { sqlTextsOf } from "../sql-columns.ts";
import type { TableSchema } from "./table-schemas.ts";

type Block = Readonly<Record<string, unknown>>;

/** The conversions of a row's columns, by column name. */
type ConversionOf = (name: string) => SqlConversion;

const withoutSchema = new WeakMap<EnvelopeScope, ConversionOf>();
const bySchema = new WeakMap<EnvelopeScope, WeakMap<TableSchema, ConversionOf>>();

/**
 * The conversions of a topic's columns. The user's hint for a column counts first, then the schema of the table, if it is known. Without
 * both, the row itself decides: its values are text, except timestamps and, in Avro, numbers and bytes.
 */
export function conversionsOf(schema: TableSchema | null, scope: EnvelopeScope): ConversionOf {
  const plainly = plainConversions(scope);
  if (schema === null) {
    return plainly;
  }
  let known = bySchema.get(scope);
  if (known === undefined) {
    known = new WeakMap();
    bySchema.set(scope, known);
  }
  let conversionOf = known.get(schema);
  if (conversionOf === undefined) {
    const typed = Array.from(schema.columns).flatMap(([name, type]): (readonly [string, SqlConversion])[] =>
      type === null || scope.columns.has(name) ? [] : [[name, typedConversion(type, scope)]],
    );
    const byName = new Map(typed);
    conversionOf = (name) => byName.get(name) ?? plainly(name);
    known.set(schema, conversionOf);
  }
  return conversionOf;
}

function plainConversions(scope: EnvelopeScope): ConversionOf {
  let conversionOf = withoutSchema.get(scope);
  if (conversionOf === undefined) {
    const zoned = zonedOf(scope);
    const plain: SqlConversion = (value) => (isStruct(value) ? fromStruct(value, asItIs, zoned) : (value ?? null));
    const hinted = new Map(Array.from(scope.columns).map(([name, semantic]) => [name, hintedConversion(semantic, scope)]));
    conversionOf = (name) => hinted.get(name) ?? plain;
    withoutSchema.set(scope, conversionOf);
  }
  return conversionOf;
}

function typedConversion(type: SqlType, scope: EnvelopeScope): SqlConversion {
  const convert = sqlTextsOf(scope, "mysql", "base64", "number").ofParsed(type);
  const zoned = zonedOf(scope);
  const isUnsigned = type.name === "bit" || type.name === "set";
  return (value) => {
    if (isStruct(value)) {
      return fromStruct(value, convert, zoned);
    }
    return convert(isUnsigned ? asUnsigned(value) : value);
  };
}

/** The conversion of a column with a hint, which counts before the types in the row. Text that does not fit the hint stays text. */
function hintedConversion(semantic: Semantic, scope: EnvelopeScope): SqlConversion {
  const conversion = conversionFor(semantic, scope.values, scope.parseJson) ?? {};
  const { int, bigint, double, bytes } = conversion;
  const text =
    conversion.text ?? (bytes === undefined ? asItIs : (written: string): unknown => bytesOfText(semantic.name, written, "base64"));
  return (value) => {
    const raw = isStruct(value) ? fromStruct(value, asItIs, asItIs) : (value ?? null);
    if (typeof raw === "string") {
      return text(raw);
    }
    if (typeof raw === "bigint") {
      return bigint === undefined ? raw : bigint(raw);
    }
    if (typeof raw === "number") {
      const convert = Number.isInteger(raw) ? int : double;
      return convert === undefined ? raw : convert(raw);
    }
    return Buffer.isBuffer(raw) && bytes !== undefined ? bytes(raw, 0, raw.length) : raw;
  };
}

function zonedOf(scope: EnvelopeScope): SqlConversion {
  return sqlTextsOf(scope, "mysql", "base64", "number").of("timestamp with time zone");
}

function asItIs(value: unknown): unknown {
  return value;
}

/** Whether a value is a record. A Buffer is not: in Avro, bytes arrive as a Buffer. */
function isStruct(value: unknown): value is Block {
  return isBlock(value) && !Buffer.isBuffer(value);
}

/** The unsigned integer of a value. In Avro, 64 bits arrive as the signed integer with the same bits. */
function asUnsigned(value: unknown): unknown {
  return typeof value === "bigint" || Number.isInteger(value) ? BigInt.asUintN(64, BigInt(value as number | bigint)) : value;
}

/**
 * The value in a record. A timestamp has the time zone of its text next to it. In Avro, an unsigned 64-bit integer is in a record too,
 * which marks it as unsigned.
 */
function fromStruct({ value, location }: Block, convert: SqlConversion, zoned: SqlConversion): unknown {
  if (typeof value === "string") {
    return location === "UTC" || location === "Etc/UTC" ? zoned(`${value}Z`) : convert(value);
  }
  return typeof value === "number" || typeof value === "bigint" ? convert(asUnsigned(value)) : (value ?? null);
}
