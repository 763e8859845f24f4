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

/** How the columns of a row are read, by their names. */
type ConversionOf = (name: string) => SqlConversion;

const withoutSchema = new WeakMap<EnvelopeScope, ConversionOf>();
const bySchema = new WeakMap<EnvelopeScope, WeakMap<TableSchema, ConversionOf>>();

/**
 * How the columns of a topic's rows are read: as the user has said, else by their table's schema where that is known, else as the row itself
 * says, which is text but for timestamps and, in Avro, numbers and bytes.
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

/** What the user has said of a column goes before what the row says. Text that the meaning does not come as stays text. */
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

/** In Avro, bytes come as bytes. */
function isStruct(value: unknown): value is Block {
  return isBlock(value) && !Buffer.isBuffer(value);
}

/** In Avro, 64 bits come as the signed integer that has them. */
function asUnsigned(value: unknown): unknown {
  return typeof value === "bigint" || Number.isInteger(value) ? BigInt.asUintN(64, BigInt(value as number | bigint)) : value;
}

/** A timestamp comes with the zone that its text is of; in Avro, an unsigned 64-bit integer is wrapped so that it can be told. */
function fromStruct({ value, location }: Block, convert: SqlConversion, zoned: SqlConversion): unknown {
  if (typeof value === "string") {
    return location === "UTC" || location === "Etc/UTC" ? zoned(`${value}Z`) : convert(value);
  }
  return typeof value === "number" || typeof value === "bigint" ? convert(asUnsigned(value)) : (value ?? null);
}
