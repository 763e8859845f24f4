import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { LogicalMessage } from "../control-events.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { keyColumns, withKey } from "../row-key.ts";
import { bigintOrNull, isBlock, textOrNull } from "../source.ts";
import { sqlTextsOf } from "../sql-columns.ts";
import { type PlainConstructor, plainConstructor, setIfDefined, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

export type Block = Readonly<Record<string, unknown>>;

/** A column in the form of both formats. */
export interface Column {
  readonly name: unknown;
  readonly type: unknown;
  readonly value: unknown;
}

/** The change of one row, from either format. */
export interface Tuple {
  readonly op: Operation;
  readonly table: TableName;
  readonly columns: readonly Column[] | null;
  /** The columns of the old row that PostgreSQL's replica identity keeps. */
  readonly identity: readonly Column[] | null;
  /**
   * The names of the primary key's columns; null if wal2json was not configured to write them. The identity does not say them: it is the
   * whole row with REPLICA IDENTITY FULL, and then lacks the columns that were null.
   */
  readonly primaryKey: readonly string[] | null;
}

/** The event of a row's change. */
export function rowEvent(tuple: Tuple, source: Block, transaction: Block | null, tsMs: number | null, origin: Origin): CdcEvent {
  const { op, table, columns, identity, primaryKey } = tuple;
  const after = columns === null ? null : rowOf(columns, origin);
  const before = identity === null || identity.length === 0 ? null : rowOf(identity, origin);
  const key = primaryKey === null ? null : (keyColumns(after ?? before, primaryKey) ?? keyColumns(before, primaryKey));
  return new EnvelopedChange(
    op,
    table,
    op === "create" ? null : before,
    op === "delete" ? null : after,
    new DeclaredFields(source, tsMs, transaction),
    withKey(origin, key),
  );
}

/** The row of a list of columns. wal2json leaves out unchanged TOAST columns, so they are absent from the row. */
function rowOf(columns: readonly Column[], { scope }: Origin): Columns {
  const row: Columns = {};
  if (columns.length === 0) {
    return row;
  }
  const texts = sqlTextsOf(scope, "postgresql", "hex");
  for (const { name, type, value } of columns) {
    if (typeof name === "string") {
      setProperty(row, name, typeof type === "string" ? texts.of(type)(value) : (value ?? null));
    }
  }
  return row;
}

export function messageEvent(prefix: string, content: unknown, source: Block, tsMs: number | null, origin: Origin): CdcEvent {
  return new LogicalMessage({ message: { prefix, content: Buffer.from(textOrNull(content) ?? "", "utf8") }, source, ts_ms: tsMs }, origin);
}

export function tableOf(value: Block): TableName {
  const schema = textOrNull(value["schema"]);
  const name = textOrNull(value["table"]) ?? "";
  return tableNamed(undefined, schema ?? undefined, name);
}

/**
 * The source fields that all changes of a message's transaction have in common, under Debezium's names. Debezium writes an LSN as a number:
 * the two halves of the text are its 64 bits.
 */
export const TransactionSource: PlainConstructor<[transaction: Block]> = plainConstructor(function (transaction: Block) {
  this["connector"] = "postgresql";
  setIfPresent(this, "ts_ms", millisOf(transaction["timestamp"]));
  setIfDefined(this, "txId", transaction["xid"]);
  setIfDefined(this, "lsn", lsnOf(transaction["lsn"]));
  setIfDefined(this, "nextlsn", lsnOf(transaction["nextlsn"]));
  setIfDefined(this, "origin", transaction["origin"]);
  setIfDefined(this, "transactional", transaction["transactional"]);
});

/** The transaction of a change, and the place of the change in it, if the message has it. */
export const TransactionBlock: PlainConstructor<[id: string, totalOrder?: number]> = plainConstructor(function (
  id: string,
  totalOrder?: number,
) {
  this["id"] = id;
  setIfDefined(this, "total_order", totalOrder);
});

/**
 * The source fields of a change of one table. A message may name another table in each change, so the fields are copied one by one: adding
 * to a spread object takes ten times as long.
 */
export function tableSource(source: Block, { schema, name }: TableName): Block {
  const fields: Record<string, unknown> = {};
  for (const field of Object.keys(source)) {
    fields[field] = source[field]; // the names are those of `transactionSource`
  }
  if (schema !== undefined) {
    fields["schema"] = schema;
  }
  fields["table"] = name;
  return fields;
}

/** The number of an LSN in PostgreSQL's form (`0/16B3748`); undefined if the value is none. */
export function lsnOf(value: unknown): number | bigint | undefined {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(textOrNull(value) ?? "") ?? [];
  if (high === undefined) {
    return undefined;
  }
  const lsn = (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
  return lsn <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(lsn) : lsn;
}

/** The transaction's id as text, or null if the message has none. */
export function transactionId(value: Block): string | null {
  const { xid } = value;
  return typeof xid === "number" || typeof xid === "bigint" || typeof xid === "string" ? String(xid) : null;
}

/** Whether a message names its transaction in wal2json's form. */
export function isOfTransaction({ xid, lsn, nextlsn }: Block): boolean {
  return bigintOrNull(xid) !== null || lsnOf(lsn) !== undefined || lsnOf(nextlsn) !== undefined;
}

/** A list of columns in format 2; null if the value is not one. */
export function columnsOf(value: unknown): readonly Column[] | null {
  return Array.isArray(value) && value.every(isColumn) ? value : null;
}

function isColumn(value: unknown): value is Column {
  return isBlock(value) && typeof value["name"] === "string";
}
