import type { TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { millisOf } from "../instant-text.ts";
import { isSourceBlock } from "../debezium/source-evidence.ts";
import { isBlock, textOrNull } from "../source.ts";
import type { CloudEvent } from "./attributes.ts";
import { type Fields, plainConstructor } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

const prefix = "iodebezium";

/** The names of a source block's fields by their spelling in an attribute. CloudEvents allow only lower-case letters and digits. */
const sourceNames: ReadonlyMap<string, string> = new Map(
  (
    "version connector name ts_ms ts_us ts_ns snapshot db sequence schema table collection txId lsn xmin origin origin_lsn server_id gtid file " +
    "pos row thread query change_lsn commit_lsn event_serial_no scn commit_scn lcr_position rs_id ssn redo_thread user_name redo_sql row_id " +
    "commit_ts_ms start_scn start_ts_ms txSeq ord lsid txnNumber wallTime keyspace shard vgtid"
  )
    .split(" ")
    .map((name) => [name.toLowerCase().replaceAll("_", ""), name]),
);

/** Fields that are integers in a source block. In attributes all of them are text. */
const integerNames: ReadonlySet<string> = new Set(
  "ts_ms ts_us ts_ns txId lsn xmin origin_lsn server_id pos row thread event_serial_no ord txnNumber wallTime redo_thread ssn commit_ts_ms start_ts_ms txSeq".split(
    " ",
  ),
);

/** The facts about a change that Debezium's converter writes outside of its data. */
export interface DebeziumAttributes {
  /** Null if extension attributes are off. */
  readonly op: string | null;
  readonly table: TableName | null;
  readonly source: Block;
  readonly transaction: Block | null;
  /** When the connector sent the change. No attribute states it, so that only data that is a whole envelope has it. */
  readonly tsMs: unknown;
}

/**
 * The extension attributes of Debezium's converter. If they are off, the facts are taken from the event's own attributes. Null for events
 * that Debezium did not write.
 */
export function debeziumAttributes({ id, source, type, attributes }: CloudEvent): DebeziumAttributes | null {
  const extensions = extensionsOf(attributes);
  const isDebezium = /^io\.debezium\./i.test(type) || source.startsWith("/debezium/") || extensions.size > 0;
  if (!isDebezium) {
    return null;
  }
  const block = fromAttributes(id, source, attributes["time"]);
  for (const [spelled, name] of sourceNames) {
    const value = extensions.get(spelled);
    if (value !== undefined && value !== null) {
      block[name] = integerNames.has(name) ? integerOf(value) : value;
    }
  }
  const transaction = transactionOf(extensions);
  if (transaction !== null) {
    delete block["txId"]; // the transaction has it
  }
  const sourceTxId = attributes[`${prefix}txId`];
  if (typeof sourceTxId === "string") {
    block["txId"] = integerOf(sourceTxId);
  }
  return { op: textOrNull(extensions.get("op")), table: tableOf(block), source: block, transaction, tsMs: null };
}

/**
 * The same facts, with those that the data states. If the metadata of an event come from headers (`metadata.source=header`), its data is the
 * whole envelope, and so is MariaDB's. Of such an event the extension attributes may be off.
 */
export function withFactsOf(data: Block, declared: DebeziumAttributes): DebeziumAttributes {
  const { op, source, transaction, ts_ms } = data;
  if (typeof op !== "string" || !isBlock(source) || !isSourceBlock(source)) {
    return declared;
  }
  return {
    op: declared.op ?? op,
    table: declared.table ?? tableOf(source),
    source: declared.op === null ? source : declared.source,
    transaction: declared.transaction ?? (isBlock(transaction) ? transaction : null),
    tsMs: ts_ms ?? null,
  };
}

/** Whether Debezium's converter adds an attribute, in any spelling. */
export function isDebeziumAttribute(name: string): boolean {
  const lower = name.toLowerCase();
  const spelled = lower.slice(prefix.length);
  return lower.startsWith(prefix) && (sourceNames.has(spelled) || ownExtensions.has(spelled));
}

const ownExtensions: ReadonlySet<string> = new Set(["op", "txid", "txtotalorder", "txdatacollectionorder"]);

/** The extension attributes by their lower-case names without the prefix, because versions of the converter spell them differently. */
function extensionsOf(attributes: Block): ReadonlyMap<string, unknown> {
  const extensions = new Map<string, unknown>();
  for (const name of Object.keys(attributes)) {
    const lower = name.toLowerCase();
    if (lower.startsWith(prefix) && (attributes[name] !== null || !extensions.has(lower.slice(prefix.length)))) {
      extensions.set(lower.slice(prefix.length), attributes[name]);
    }
  }
  return extensions;
}

/**
 * The facts in the event's own attributes: a source `/debezium/<connector>/<name>`, and an id of the form
 * `name:<name>;lsn:29274832;txId:565`.
 */
function fromAttributes(id: string, source: string, time: unknown): Fields {
  const [, connector, name] = /^\/debezium\/([^/]+)\/(.+)$/.exec(source) ?? [];
  const block: Fields = {};
  if (connector !== undefined) {
    block["connector"] = connector;
    block["name"] = name;
  }
  const tsMs = millisOf(time);
  if (tsMs !== null) {
    block["ts_ms"] = tsMs;
  }
  for (const part of id.split(";", 16)) {
    const colon = part.indexOf(":");
    const known = sourceNames.get(part.slice(0, Math.max(colon, 0)).toLowerCase().replaceAll("_", ""));
    const value = part.slice(colon + 1);
    if (known !== undefined && known !== "name" && value !== "null" && value !== "") {
      setProperty(block, known, integerNames.has(known) ? integerOf(value) : value);
    }
  }
  return block;
}

function integerOf(value: unknown): unknown {
  if (typeof value !== "string" || !/^-?\d{1,20}$/.test(value)) {
    return value;
  }
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

function transactionOf(extensions: ReadonlyMap<string, unknown>): Block | null {
  const totalOrder = extensions.get("txtotalorder") ?? null;
  return totalOrder === null ? null : new TransactionBlock(extensions, totalOrder);
}

const TransactionBlock = plainConstructor(function (extensions: ReadonlyMap<string, unknown>, totalOrder: unknown) {
  this["id"] = extensions.get("txid") ?? null;
  this["total_order"] = totalOrder;
  this["data_collection_order"] = extensions.get("txdatacollectionorder") ?? null;
});

function tableOf(block: Block): TableName | null {
  const name = textOrNull(block["table"] ?? block["collection"]);
  const database = textOrNull(block["keyspace"] ?? block["db"]);
  const schema = textOrNull(block["schema"]);
  return name === null ? null : tableNamed(database || undefined, schema || undefined, name);
}
