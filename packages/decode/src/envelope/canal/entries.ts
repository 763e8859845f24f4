import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import type { SqlTexts } from "../../values/sql-text.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Heartbeat, SchemaChange, TransactionBoundary, Truncate, UnknownValue } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { checkEventCount } from "../event-count.ts";
import { withKey } from "../row-key.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { sqlTextsOf } from "../sql-columns.ts";
import { columnType } from "./column-type.ts";
import { jdbcTypes } from "./jdbc-types.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/** `EventType`: these three are changes of rows, the others are DDL. */
const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  [1, "create"],
  [2, "update"],
  [3, "delete"],
]);
const truncateType = 8;
/** `EntryType` */
const heartbeatType = 4;

/**
 * The events of a batch of Canal's log entries, in their order: changes of rows, transactions (if the server does not leave them out) and
 * DDL.
 */
export function openEntries({ batchId, entries }: Block, origin: Origin): readonly CdcEvent[] {
  const texts = sqlTextsOf(origin.scope, "mysql", "latin1");
  const blocks = Array.isArray(entries) ? entries.filter(isBlock) : [];
  checkEventCount(
    blocks.reduce((sum, { rowChange }) => sum + Math.max(1, rowsOf(rowChange).length), 0),
    origin,
  );
  return blocks.flatMap((entry) => openEntry(entry, batchId, texts, origin));
}

function openEntry(entry: Block, batchId: unknown, texts: SqlTexts, origin: Origin): readonly CdcEvent[] {
  const header = isBlock(entry["header"]) ? entry["header"] : {};
  const table = tableNamed(textOrNull(header["schemaName"]) ?? "", undefined, textOrNull(header["tableName"]) ?? "");
  const source = new SourceBlock(header, table, batchId);
  const { rowChange, transactionBegin, transactionEnd, entryType } = entry;
  if (isBlock(rowChange)) {
    return openRowChange(rowChange, table, source, texts, origin);
  }
  if (isBlock(transactionBegin) || isBlock(transactionEnd)) {
    const stored = (transactionBegin ?? transactionEnd) as Block; // the condition above says that one of them is a block
    const value = { id: stored["transactionId"], source, ts_ms: stored["executeTime"] ?? header["executeTime"] };
    return listWith(new TransactionBoundary(isBlock(transactionBegin) ? "begin" : "end", value, origin));
  }
  return listWith(
    entryType === heartbeatType ? new Heartbeat({ source, ts_ms: header["executeTime"] }, origin) : new UnknownValue(entry, origin),
  );
}

function openRowChange(change: Block, table: TableName, source: Block, texts: SqlTexts, origin: Origin): readonly CdcEvent[] {
  const { eventType, isDdl, sql, ddlSchemaName } = change;
  const tsMs = source["ts_ms"];
  const op = operations.get(eventType);
  if (eventType === truncateType) {
    return listWith(new Truncate(table, { source, ts_ms: tsMs }, origin));
  }
  if (isDdl === true || op === undefined) {
    const databaseName = textOrNull(ddlSchemaName) || table.database;
    return listWith(new SchemaChange({ ddl: sql, databaseName, source, ts_ms: tsMs }, origin));
  }
  const isCanal = source["file"] !== undefined; // TiCDC has read no file of MySQL's
  return rowsOf(change).map((row) => {
    const before = op === "create" ? null : columnsOf(row["beforeColumns"], texts, isCanal);
    const after = op === "delete" ? null : columnsOf(row["afterColumns"], texts, isCanal);
    const key = keyOf(op === "delete" ? row["beforeColumns"] : row["afterColumns"], after ?? before);
    return new EnvelopedChange(op, table, before, after, new DeclaredFields(source, tsMs), withKey(origin, key));
  });
}

function rowsOf(change: unknown): readonly Block[] {
  const rows = isBlock(change) ? change["rowDatas"] : null;
  return Array.isArray(rows) ? rows.filter(isBlock) : [];
}

/** The columns of a row. All values are text, or null if `isNull` is set. */
function columnsOf(columns: unknown, texts: SqlTexts, isCanal: boolean): Columns {
  const row: Columns = {};
  for (const column of Array.isArray(columns) ? columns.filter(isBlock) : []) {
    const { name, value, isNull, mysqlType, sqlType } = column;
    const type = textOrNull(mysqlType) || jdbcTypes.get(numberOrNull(sqlType) ?? Number.NaN);
    const convert = type === undefined ? null : texts.of(columnType(type, isCanal));
    const text = isNull === true ? null : (value ?? "");
    setProperty(row, textOrNull(name) ?? "", convert === null ? text : convert(text));
  }
  return row;
}

function keyOf(columns: unknown, row: Columns | null): Columns | null {
  const key: Columns = {};
  for (const column of Array.isArray(columns) ? columns.filter(isBlock) : []) {
    const name = textOrNull(column["name"]) ?? "";
    if (column["isKey"] === true && row !== null) {
      setProperty(key, name, row[name]);
    }
  }
  return Object.keys(key).length === 0 ? null : key;
}

const SourceBlock = plainConstructor(function (header: Block, table: TableName, batchId: unknown) {
  const { executeTime, logfileName, logfileOffset, serverId, gtid } = header;
  this["connector"] = "mysql";
  this["db"] = table.database;
  this["table"] = table.name;
  setIfPresent(this, "ts_ms", executeTime);
  this["snapshot"] = "false";
  setIfPresent(this, "id", batchId);
  setIfDefined(this, "gtid", textOrNull(gtid) || undefined);
  setIfDefined(this, "file", textOrNull(logfileName) || undefined);
  setIfPresent(this, "pos", logfileOffset);
  setIfPresent(this, "server_id", serverId);
});
