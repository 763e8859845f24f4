import type { TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { millisOf } from "../instant-text.ts";
import { textOrNull } from "../source.ts";
import type { CloudEvent } from "./attributes.ts";

type Block = Readonly<Record<string, unknown>>;

const prefix = "iodebezium";

/** Names of source blocks as an attribute may spell them: CloudEvents allow lower-case letters and digits only. */
const sourceNames: ReadonlyMap<string, string> = new Map(
  (
    "version connector name ts_ms ts_us ts_ns snapshot db sequence schema table collection txId lsn xmin origin origin_lsn server_id gtid file " +
    "pos row thread query change_lsn commit_lsn event_serial_no scn commit_scn lcr_position rs_id ssn redo_thread user_name redo_sql row_id " +
    "commit_ts_ms start_scn start_ts_ms txSeq ord lsid txnNumber wallTime keyspace shard vgtid"
  )
    .split(" ")
    .map((name) => [name.toLowerCase().replaceAll("_", ""), name]),
);

/** Fields that are integers in a source block; every attribute is text. */
const integerNames: ReadonlySet<string> = new Set(
  "ts_ms ts_us ts_ns txId lsn xmin origin_lsn server_id pos row thread event_serial_no ord txnNumber wallTime redo_thread ssn commit_ts_ms start_ts_ms txSeq".split(
    " ",
  ),
);

/** What Debezium's converter says of a change beside its data. */
export interface DebeziumAttributes {
  /** Null where extension attributes are off. */
  readonly op: string | null;
  readonly table: TableName | null;
  readonly source: Block;
  readonly transaction: Block | null;
}

/** The extension attributes of Debezium's converter or, where they are off, what the event's own attributes tell; null for other events. */
export function debeziumAttributes({ id, source, type, attributes }: CloudEvent): DebeziumAttributes | null {
  const extensions = extensionsOf(attributes);
  const isDebezium = /^io\.debezium\./i.test(type) || source.startsWith("/debezium/") || extensions.size > 0;
  if (!isDebezium) {
    return null;
  }
  const block: Record<string, unknown> = { ...fromAttributes(id, source, attributes["time"]) };
  for (const [spelled, name] of sourceNames) {
    const value = extensions.get(spelled);
    if (value !== undefined && value !== null) {
      block[name] = integerNames.has(name) ? integerOf(value) : value;
    }
  }
  const transaction = transactionOf(extensions);
  if (transaction !== null) {
    delete block["txId"]; // the transaction's id stands in its attribute
  }
  const sourceTxId = attributes[`${prefix}txId`];
  if (typeof sourceTxId === "string") {
    block["txId"] = integerOf(sourceTxId);
  }
  return { op: textOrNull(extensions.get("op")), table: tableOf(block), source: block, transaction };
}

/** Whether an attribute is one that Debezium's converter adds, however it is spelled. */
export function isDebeziumAttribute(name: string): boolean {
  const lower = name.toLowerCase();
  const spelled = lower.slice(prefix.length);
  return lower.startsWith(prefix) && (sourceNames.has(spelled) || ownExtensions.has(spelled));
}

const ownExtensions: ReadonlySet<string> = new Set(["op", "txid", "txtotalorder", "txdatacollectionorder"]);

/** By name without the prefix, in lower case: the converter's versions spell them differently. */
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

/** `/debezium/<connector>/<name>`, and an id of the form `name:<name>;lsn:29274832;txId:565`. */
function fromAttributes(id: string, source: string, time: unknown): Block {
  const [, connector, name] = /^\/debezium\/([^/]+)\/(.+)$/.exec(source) ?? [];
  const block: Record<string, unknown> = connector === undefined ? {} : { connector, name };
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
  return totalOrder === null
    ? null
    : { id: extensions.get("txid"), total_order: totalOrder, data_collection_order: extensions.get("txdatacollectionorder") };
}

function tableOf(block: Block): TableName | null {
  const name = textOrNull(block["table"] ?? block["collection"]);
  const database = textOrNull(block["keyspace"] ?? block["db"]);
  const schema = textOrNull(block["schema"]);
  return name === null ? null : { ...(database ? { database } : {}), ...(schema ? { schema } : {}), name };
}
