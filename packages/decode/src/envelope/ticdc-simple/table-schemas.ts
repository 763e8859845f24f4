import type { SqlType } from "../../values/sql-type.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { namesOf } from "../row-key.ts";
import { isBlock, numberOrNull, scalarText } from "../source.ts";

type Block = Readonly<Record<string, unknown>>;

/** A table as a bootstrap or a DDL described that version of it. */
export interface TableSchema {
  /** The columns' types; null where none is stated. */
  readonly columns: ReadonlyMap<string, SqlType | null>;
  readonly primaryKey: readonly string[];
}

/** MySQL's bound is 4,096 columns a table; what senders make us remember is bounded by columns, all together. */
const maxColumnsOfTable = 4_096;
const maxColumns = 65_536;

/** The schemas that messages described, so that later ones of those versions can be understood. The oldest make room. */
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

/** Remembers the schema that a BOOTSTRAP or a DDL carries, where the user has given something to remember it. */
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

/** The schema of a row's message; null where none of that version was met, or nothing may be remembered. */
export function schemaFor(message: Block, { memory, topic }: EnvelopeScope): TableSchema | null {
  const schemas = memory === null ? undefined : schemasByMemory.get(memory);
  return schemas?.get(versionOf(topic, message["database"], message["table"], message["schemaVersion"])) ?? null;
}

/** The number of a version is unique in one TiDB: topics may come from several. */
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
