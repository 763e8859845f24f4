import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { DecodeError } from "../../errors.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Heartbeat, SchemaChange, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { keyColumns, namesOf, withKey } from "../row-key.ts";
import { isBlock, numberOrNull, scalarText, textOrNull } from "../source.ts";
import { tsoOf } from "../tso.ts";
import { recogniseMaxwell } from "./recognise.ts";
import { tableNamed } from "../table-text.ts";
import { copyFields, plainConstructor, setIfDefined } from "../plain-constructor.ts";
import { listWith } from "../../list-with.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * Maxwell's JSON, which TiCDC writes too. It states no types, so dates and times stay the text that MySQL prints. TiCDC writes a deleted
 * row into `old`, uses TiDB's timestamp as the time of DDL, and writes keys that are only the version of its format.
 */
export const maxwell: EnvelopeFormat = {
  name: "maxwell",
  recognise: recogniseMaxwell,
  planFor: () => ({ defer: null, skip: [], rows: ["data", "old"] }),
  membersOf: () => members,
  open,
};

const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["insert", "create"],
  ["update", "update"],
  ["delete", "delete"],
  ["bootstrap-insert", "read"],
]);

const ddlType = /^(table|database)-(create|alter|drop)$/;

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (isBlock(value) && isEncrypted(value["encrypted"]) && !Object.hasOwn(value, "data")) {
    throw new DecodeError(
      "unsupported-format",
      "expected a row of Maxwell's, found one that it encrypted (its option encrypt): decrypt the values before decoding",
    );
  }
  if (!isBlock(value) || typeof value["type"] !== "string" || typeof value["database"] !== "string") {
    return null;
  }
  const { type, old } = value;
  const data = value["data"] ?? (type === "delete" ? old : undefined);
  const ts = timeOf(value["ts"]);
  if (ts === null) {
    return null;
  }
  if (ddlType.test(type)) {
    return typeof value["sql"] === "string" ? listWith(ddlEvent(type, value["sql"], value, ts, origin)) : null;
  }
  if (typeof value["table"] !== "string" || !isBlock(data)) {
    return null;
  }
  const op = operations.get(type);
  if (op !== undefined) {
    return listWith(change(op, tableNamed(value["database"], undefined, value["table"]), data, value, ts, origin));
  }
  if (type === "heartbeat") {
    return listWith(new Heartbeat({ ts_ms: ts * 1000 }, origin.withExtra({ data })));
  }
  return type === "bootstrap-start" || type === "bootstrap-complete" ? listWith(new UnknownValue(value, origin)) : null;
}

/** Whether this is what Maxwell writes for `data` and `old`, or for the whole message: a cipher text, and the 16 bytes that it began with. */
function isEncrypted(value: unknown): boolean {
  return (
    isBlock(value) &&
    Object.keys(value).length === 2 &&
    typeof value["bytes"] === "string" &&
    typeof value["iv"] === "string" &&
    /^[A-Za-z0-9+/]{22}==$/.test(value["iv"])
  );
}

/**
 * The time of a message: seconds, or milliseconds for DDL. For DDL, TiCDC sends a TSO. A number above 2^53 is always a TSO, because no time
 * in milliseconds is that large.
 */
function timeOf(written: unknown): number | null {
  const ts = numberOrNull(written);
  return ts === null || Number.isSafeInteger(ts) ? ts : (tsoOf(written)?.tsMs ?? null);
}

function change(op: Operation, table: TableName, data: Columns, value: Block, ts: number, origin: Origin): CdcEvent {
  const old = value["old"];
  const before = op === "delete" ? data : op === "update" && isBlock(old) ? { ...data, ...old } : null;
  const after = op === "delete" ? null : data;
  const source = new SourceBlock(value, op === "read" ? "true" : "false", ts * 1000);
  const own = origin.key === ticdcVersion ? origin.withKey(null) : origin;
  const keyed = withKey(own, keyOf(data, value, origin.key));
  return new EnvelopedChange(op, table, before, after, new DeclaredFields(source, pushedMs(value), transactionBlock(value)), keyed);
}

/**
 * The key of a row. The message may state the names of its columns. They stay in the table's spelling even if the row has them in camel
 * case, so both spellings are tried. If the message states no names, the record's key has them in lower case.
 */
function keyOf(data: Columns, value: Block, recordKey: unknown): Columns | null {
  const declared = namesOf(value["primary_key_columns"] ?? value["primaryKeyColumns"]);
  return keyColumns(data, declared) ?? keyColumns(data, declared.map(camelCase)) ?? translatedKey(recordKey);
}

/** The number 1 in eight bytes, which are also read as text. */
const ticdcVersion = "\0\0\0\0\0\0\0\u0001";

/**
 * The key of a row, from a record key `{"database":..,"table":..,"pk.id":4}` or `["db","table",[{"id":4}]]`. Maxwell writes these column
 * names in lower case.
 */
function translatedKey(recordKey: unknown): Columns | null {
  const key: Columns = {};
  if (Array.isArray(recordKey)) {
    const parts: unknown = recordKey[2];
    for (const part of Array.isArray(parts) ? parts.filter(isBlock) : []) {
      copyFields(key, part);
    }
  } else if (isBlock(recordKey)) {
    for (const name of Object.keys(recordKey).filter((one) => one.startsWith("pk."))) {
      setProperty(key, name.slice("pk.".length), recordKey[name]);
    }
  }
  return Object.keys(key).length === 0 ? null : key;
}

/** Fields of the message that belong to the position in MySQL's log. The message also has the text `position`, which is `file:offset`. */
const positionFields = ["server_id", "thread_id", "gtid", "xid", "xoffset", "commit", "schema_id", "query", "reason", "comment"] as const;
/** The same names, each with its spelling in camel case. Translated once: for each record it would cost as much as reading the row. */
const positionSpellings = positionFields.map((name) => [name, camelCase(name)] as const);

const SourceBlock = plainConstructor(function (value: Block, snapshot: string, tsMs: number) {
  this["connector"] = "mysql";
  this["db"] = value["database"];
  this["snapshot"] = snapshot;
  this["ts_ms"] = tsMs;
  if (typeof value["table"] === "string") {
    this["table"] = value["table"];
  }
  for (const [name, inCamelCase] of positionSpellings) {
    setIfDefined(this, name, value[name] ?? value[inCamelCase]);
  }
  const [, file, pos] = /^(.+):(\d{1,20})$/.exec(textOrNull(value["position"]) ?? "") ?? [];
  if (file !== undefined) {
    this["file"] = file;
    this["pos"] = Number(pos);
  }
});

const ownNames: readonly string[] = [...positionFields, "position", "push_ts", "primary_key", "primary_key_columns", "charset", "def"];
const members: ReadonlySet<string> = new Set([
  ...["database", "table", "type", "ts", "data", "old", "sql"],
  ...ownNames.flatMap((name) => [name, camelCase(name)]),
]);

/**
 * Maxwell's `output_naming_strategy=underscore_to_camelcase`: the character after an underscore becomes a capital, and leading underscores
 * are dropped.
 */
function camelCase(name: string): string {
  return name.replace(/^_+/, "").replaceAll(/_(.)?/gs, (_, next = "") => (next as string).toUpperCase()) || name;
}

/**
 * The transaction of a row. Maxwell numbers the rows of a transaction from 0, except for the last row, which has `commit` instead of a
 * number.
 */
function transactionBlock({ xid, xoffset }: Block): Block | null {
  return xid === undefined ? null : new TransactionBlock(xid, numberOrNull(xoffset));
}

const TransactionBlock = plainConstructor(function (id: unknown, offset: number | null) {
  this["id"] = id;
  if (offset !== null) {
    this["total_order"] = offset + 1;
  }
});

/** The time at which the message was sent: seconds with a fraction. */
function pushedMs(value: Block): number | null {
  const pushed = Number(scalarText(value["push_ts"] ?? value["pushTs"]) ?? Number.NaN);
  return Number.isFinite(pushed) ? Math.round(pushed * 1000) : null;
}

function ddlEvent(type: string, sql: string, value: Block, tsMs: number, origin: Origin): CdcEvent {
  const { database, table, def } = value;
  const tableChanges =
    typeof table === "string"
      ? [{ type: type.slice("table-".length).toUpperCase(), id: `"${textOrNull(database) ?? ""}"."${table}"`, table: def ?? null }]
      : [];
  const source = new SourceBlock(value, "false", tsMs);
  return new SchemaChange({ ddl: sql, databaseName: database, tableChanges, source, ts_ms: tsMs }, origin);
}
