import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import type { MembersAs, SqlConversion } from "../../values/sql-text.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { SchemaChange, Truncate, UnknownValue } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { checkEventCount } from "../event-count.ts";
import { keyColumns, namesOf, withKey } from "../row-key.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { convertColumns, sqlTextsOf } from "../sql-columns.ts";
import { columnType } from "./column-type.ts";
import { jdbcTypes } from "./jdbc-types.ts";
import { listWith } from "../../list-with.ts";
import { type Fields, plainConstructor, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["INSERT", "create"],
  ["UPDATE", "update"],
  ["DELETE", "delete"],
  ["INIT", "read"],
]);

/**
 * The events of a flat message, or null if the values do not fit one. `addPosition` adds the fields to the source that say where the change
 * was made.
 */
export function openFlatMessage(
  value: unknown,
  origin: Origin,
  addPosition: (source: Fields, message: Block) => void,
): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return null;
  }
  const { type, isDdl = false, data } = value;
  if (typeof isDdl !== "boolean" || typeof type !== "string") {
    return null;
  }
  if (typeof value["database"] !== "string" && value["database"] !== null) {
    return null;
  }
  const table = tableNamed(textOrNull(value["database"]) ?? "", undefined, textOrNull(value["table"]) ?? "");
  const op = operations.get(type);
  const source = new SourceBlock(value, table, op === "read", addPosition);
  if (isDdl) {
    return listWith(ddlEvent(type, table, value, source, origin));
  }
  if (op === undefined || !Array.isArray(data)) {
    return data === null && /^[A-Z_]+$/.test(type) ? listWith(new UnknownValue(value, origin)) : null;
  }
  return data.every(isRow) && areOldColumns(value["old"]) ? rowEvents(op, table, data, value, source, origin) : null;
}

/** Whether `old` is the list of changed columns that an update has for each row. Other messages have null there. */
function areOldColumns(old: unknown): boolean {
  return old === null || old === undefined || (Array.isArray(old) && old.every((one) => one === null || isBlock(one)));
}

/** Whether a value is a row: a row has at least one column. */
function isRow(value: unknown): value is Columns {
  if (isBlock(value)) {
    for (const name in value) {
      return Object.hasOwn(value, name);
    }
  }
  return false;
}

function rowEvents(op: Operation, table: TableName, data: readonly Columns[], value: Block, source: Block, origin: Origin): CdcEvent[] {
  checkEventCount(data.length, origin);
  // TiCDC writes ENUM members as numbers. Other writers of this format may write them as text.
  const conversionOf = conversions(value, source["connector"] === "tidb" ? "number" : "text-or-number", origin);
  const old = Array.isArray(value["old"]) ? value["old"] : [];
  const names = namesOf(value["pkNames"]);
  return data.map((sent, i) => {
    const row = convertColumns(sent, conversionOf);
    const changed: unknown = old[i];
    const previous = op === "update" && isBlock(changed) ? { ...row, ...convertColumns(changed, conversionOf) } : null;
    const before = op === "delete" ? row : previous;
    const keyed = withKey(origin, keyColumns(row, names));
    return new EnvelopedChange(op, table, before, op === "delete" ? null : row, new DeclaredFields(source, value["ts"]), keyed);
  });
}

/**
 * The conversion of each column's text, by MySQL's type or, if that is missing, by JDBC's type. Each type is looked up once per message,
 * because a type can be as long as the message and the message can have many rows.
 */
function conversions(value: Block, members: MembersAs, { scope }: Origin): (name: string) => SqlConversion | null {
  const texts = sqlTextsOf(scope, "mysql", "latin1", members);
  const { id, mysqlType, sqlType } = value;
  const isCanal = numberOrNull(id) !== 0; // the id of TiCDC's messages; Canal counts its batches from 1 on
  const byName = new Map<string, SqlConversion | null>();
  return (name) => {
    let conversion = byName.get(name);
    if (conversion === undefined) {
      const type = isBlock(mysqlType) && Object.hasOwn(mysqlType, name) ? mysqlType[name] : jdbcTypeOf(sqlType, name);
      conversion = typeof type === "string" ? texts.of(columnType(type, isCanal)) : null;
      byName.set(name, conversion);
    }
    return conversion;
  };
}

function jdbcTypeOf(sqlType: unknown, name: string): string | undefined {
  return isBlock(sqlType) && Object.hasOwn(sqlType, name) ? jdbcTypes.get(numberOrNull(sqlType[name]) ?? Number.NaN) : undefined;
}

const SourceBlock = plainConstructor(function (
  value: Block,
  table: TableName,
  isSnapshot: boolean,
  addPosition: (source: Fields, message: Block) => void,
) {
  this["db"] = table.database;
  this["table"] = table.name;
  setIfPresent(this, "ts_ms", value["es"]);
  this["snapshot"] = isSnapshot ? "true" : "false";
  setIfPresent(this, "id", value["id"]);
  addPosition(this, value);
});

function ddlEvent(type: string, table: TableName, value: Block, source: Block, origin: Origin): CdcEvent {
  const { ts, sql } = value;
  return type === "TRUNCATE"
    ? new Truncate(table, { source, ts_ms: ts }, origin)
    : new SchemaChange({ ddl: sql, databaseName: table.database, source, ts_ms: ts }, origin);
}
