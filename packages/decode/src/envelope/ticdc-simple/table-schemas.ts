import type { SqlType } from "../../values/sql-type.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { namesOf } from "../row-key.ts";
import { isBlock, numberOrNull, scalarText } from "../source.ts";

type Block = Readonly<Record<string, unknown>>;

/** One version of a table, as a BOOTSTRAP or a DDL message described it. */
export interface TableSchema {
  /** The columns' types; null if none is stated. */
  readonly columns: ReadonlyMap<string, SqlType | null>;
  readonly primaryKey: readonly string[];
}

/**
 * MySQL allows 4,096 columns in a table. `maxColumns` bounds the columns of all tables together, because senders decide how much is
 * remembered.
 */
const maxColumnsOfTable = 4_096;
const maxColumns = 65_536;

/**
 * The schemas from messages, so that rows of their versions can be read. If there are too many columns, the oldest schemas are forgotten.
 */
class TableSchemas {
  readonly #byVersion = new Map<string, TableSchema>();
  #columns = 0;

  get(version: string): TableSchema | undefined {
    return this.#byVersion.get(version);
  }

  set(version: string, schema: TableSchema): void {
    this.#forget(version);
    this.#byVersion.set(version, schema);
    this.#columns += costOf(schema);
    for (const oldest of this.#byVersion.keys()) {
      if (this.#columns <= maxColumns) {
        break;
      }
      this.#forget(oldest);
    }
  }

  #forget(version: string): void {
    const schema = this.#byVersion.get(version);
    if (schema !== undefined) {
      this.#columns -= costOf(schema);
      this.#byVersion.delete(version);
    }
  }
}

function costOf({ columns }: TableSchema): number {
  return columns.size + 1;
}

const schemasByMemory = new WeakMap<object, TableSchemas>();

/** Remembers the schema in a BOOTSTRAP or DDL message, if the user has given an object to remember it with. */
export function learnSchema(schema: unknown, { memory, mayLearn, topic }: EnvelopeScope): void {
  if (
    memory === null ||
    !mayLearn ||
    !isBlock(schema) ||
    !Array.isArray(schema["columns"]) ||
    schema["columns"].length > maxColumnsOfTable
  ) {
    return;
  }
  let schemas = schemasByMemory.get(memory);
  if (schemas === undefined) {
    schemas = new TableSchemas();
    schemasByMemory.set(memory, schemas);
  }
  const columns = schema["columns"].filter(isBlock);
  schemas.set(versionOf(topic, schema["schema"] ?? schema["database"], schema["table"], schema["version"]), {
    columns: new Map(columns.map((column) => [scalarText(column["name"]) ?? "", typeOf(column["dataType"])])),
    primaryKey: primaryKeyOf(schema["indexes"]),
  });
}

/** The schema for a row's message; null if no message described this version, or if nothing may be remembered. */
export function schemaFor(message: Block, { memory, topic }: EnvelopeScope): TableSchema | null {
  const schemas = memory === null ? undefined : schemasByMemory.get(memory);
  return schemas?.get(versionOf(topic, message["database"], message["table"], message["schemaVersion"])) ?? null;
}

/** The key of a version. Its number is unique only within one TiDB, and topics may come from several. */
function versionOf(topic: string, database: unknown, table: unknown, version: unknown): string {
  return JSON.stringify([topic, ...[database, table, version].map(scalarText)]);
}

function primaryKeyOf(indexes: unknown): readonly string[] {
  const primary = Array.isArray(indexes) ? indexes.filter(isBlock).find((index) => index["primary"] === true) : undefined;
  return namesOf(primary?.["columns"]);
}

function typeOf(dataType: unknown): SqlType | null {
  if (!isBlock(dataType) || typeof dataType["mysqlType"] !== "string") {
    return null;
  }
  const { mysqlType, unsigned, length, decimal, elements } = dataType;
  const name = mysqlType.toLowerCase();
  const hasScale = name === "decimal";
  return {
    name,
    isUnsigned: unsigned === true,
    length: name === "bit" || hasScale ? numberOrNull(length) : null,
    scale: hasScale ? (numberOrNull(decimal) ?? 0) : null,
    elements: Array.isArray(elements) ? elements.filter((one) => typeof one === "string") : null,
  };
}
