import type { SqlConversion, SqlTexts } from "../../values/sql-text.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { namesOf } from "../row-key.ts";
import { isBlock, numberOrNull, scalarText } from "../source.ts";
import { sqlTextsOf } from "../sql-columns.ts";

type Block = Readonly<Record<string, unknown>>;

/** A table as its last bootstrap or DDL described it. */
export interface TableSchema {
  readonly conversions: ReadonlyMap<string, SqlConversion>;
  readonly primaryKey: readonly string[];
}

/** MySQL's bound is 4,096 columns a table; what a topic's senders make us remember is bounded by columns, all together. */
const mostColumnsOfTable = 4_096;
const mostColumns = 65_536;

/** The schemas that a topic's messages described, so that later ones of those versions can be understood. The oldest make room. */
class TableSchemas {
  readonly #byVersion = new Map<string, TableSchema>();
  #columns = 0;

  get(version: string): TableSchema | undefined {
    return this.#byVersion.get(version);
  }

  set(version: string, schema: TableSchema): void {
    this.#forget(version);
    this.#byVersion.set(version, schema);
    this.#columns += weightOf(schema);
    for (const oldest of this.#byVersion.keys()) {
      if (this.#columns <= mostColumns) {
        break;
      }
      this.#forget(oldest);
    }
  }

  #forget(version: string): void {
    const schema = this.#byVersion.get(version);
    if (schema !== undefined) {
      this.#columns -= weightOf(schema);
      this.#byVersion.delete(version);
    }
  }
}

function weightOf({ conversions }: TableSchema): number {
  return conversions.size + 1;
}

const schemasByScope = new WeakMap<EnvelopeScope, TableSchemas>();

/** Remembers the schema that a BOOTSTRAP or a DDL carries. */
export function learnSchema(schema: unknown, scope: EnvelopeScope): void {
  if (!isBlock(schema) || !Array.isArray(schema["columns"]) || schema["columns"].length > mostColumnsOfTable) {
    return;
  }
  let schemas = schemasByScope.get(scope);
  if (schemas === undefined) {
    schemas = new TableSchemas();
    schemasByScope.set(scope, schemas);
  }
  const texts = sqlTextsOf(scope, "mysql", "base64", "number");
  const columns = schema["columns"].filter(isBlock);
  const conversions = new Map(columns.map((column) => [scalarText(column["name"]) ?? "", conversionOf(column["dataType"], texts)]));
  schemas.set(versionOf(schema["schema"] ?? schema["database"], schema["table"], schema["version"]), {
    conversions,
    primaryKey: primaryKeyOf(schema["indexes"]),
  });
}

/** The schema of a row's message; undefined where none of that version was met. */
export function schemaFor(message: Block, scope: EnvelopeScope): TableSchema | undefined {
  return schemasByScope.get(scope)?.get(versionOf(message["database"], message["table"], message["schemaVersion"]));
}

function versionOf(database: unknown, table: unknown, version: unknown): string {
  return JSON.stringify([database, table, version].map(scalarText));
}

function primaryKeyOf(indexes: unknown): readonly string[] {
  const primary = Array.isArray(indexes) ? indexes.filter(isBlock).find((index) => index["primary"] === true) : undefined;
  return namesOf(primary?.["columns"]);
}

function conversionOf(dataType: unknown, texts: SqlTexts): SqlConversion {
  if (!isBlock(dataType) || typeof dataType["mysqlType"] !== "string") {
    return plain;
  }
  const { mysqlType, unsigned, length, decimal, elements } = dataType;
  const name = mysqlType.toLowerCase();
  const hasScale = name === "decimal";
  const convert = texts.ofParsed({
    name,
    isUnsigned: unsigned === true,
    length: name === "bit" || hasScale ? numberOrNull(length) : null,
    scale: hasScale ? (numberOrNull(decimal) ?? 0) : null,
    elements: Array.isArray(elements) ? elements.filter((one) => typeof one === "string") : null,
  });
  const zoned = texts.of("timestamp with time zone");
  const isUnsigned = name === "bit" || name === "set";
  return (value) => {
    if (isStruct(value)) {
      return fromStruct(value, convert, zoned);
    }
    return convert(isUnsigned ? asUnsigned(value) : value);
  };
}

/** A column whose type is not known. */
export function plain(value: unknown): unknown {
  return isStruct(value) ? fromStruct(value, plain, plain) : (value ?? null);
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
