import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { UnknownValue } from "../control-events.ts";
import { operationOf } from "../debezium/operation.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { scalarIn } from "../header-values.ts";
import { isBlock } from "../source.ts";
import { tableNamed } from "../table-text.ts";
import { defaultPrefix, metaField, prefixOf, recogniseFlattened, markerNames } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

/** A row that Debezium's ExtractNewRecordState took out of its envelope, with the fields of the envelope that it was configured to keep. */
export const flattened: EnvelopeFormat = {
  name: "flattened",
  headerNames: markerNames,
  recognise: recogniseFlattened,
  planFor: () => ({ defer: null, skip: [], rows: "self", isSelectable: true }),
  sharesSemantics: () => true,
  isMetaColumn: (name, names) => metaField(name, prefixOf(names)) !== null,
  open,
};

/** The kept fields of the envelope, by their names in the envelope: `op`, `table`, `source_ts_ms`, `transaction_id`. */
type Meta = Readonly<Record<string, unknown>>;

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return listWith(new UnknownValue(value, origin));
  }
  const names = Object.keys(value);
  const prefix = prefixOf(names);
  const row: Columns = {};
  const meta = metaOfHeaders(origin);
  for (const name of names) {
    const field = metaField(name, prefix);
    if (field === null) {
      setProperty(row, name, value[name]);
    } else {
      meta[field] = value[name] ?? meta[field] ?? null; // a column has a type, so it replaces a header
    }
  }
  if (!isEvident(meta, prefix)) {
    return null; // the columns are the user's own
  }
  const op = flattenedOperation(meta);
  const table = tableOf(meta, origin.scope.topicTable);
  const kept = new DeclaredFields(sourceBlock(meta, table), meta["ts_ms"], transactionBlock(meta));
  return listWith(new EnvelopedChange(op, table, op === "delete" ? row : null, op === "delete" ? null : row, kept, origin));
}

/**
 * Whether the transformation has written this row. The evidence is an operation that exists, or a valid value of `__deleted`, or the name
 * of a table together with another field of an envelope.
 */
function isEvident(meta: Meta, prefix: string): boolean {
  const { op, deleted } = meta;
  const isOperation = typeof op === "string" && operationOf(op) !== null;
  if ((op ?? null) !== null || prefix !== defaultPrefix) {
    return isOperation;
  }
  const isDeletion = typeof deleted === "boolean" || deleted === "true" || deleted === "false";
  const others = (): number => Object.keys(meta).filter((name) => name !== "op" && name !== "deleted" && meta[name] !== null).length;
  return (deleted ?? null) === null ? others() > 1 : isDeletion;
}

/** The fields that were kept in headers. The last header of a name that has a value counts. */
function metaOfHeaders({ headers, scope }: Origin): Record<string, unknown> {
  const meta: Record<string, unknown> = {};
  for (const [name, bytes] of headers) {
    const field = name.startsWith(defaultPrefix) ? metaField(name, defaultPrefix) : null;
    if (field !== null) {
      meta[field] = bytes ?? meta[field] ?? null;
    }
  }
  for (const field of Object.keys(meta)) {
    const bytes = meta[field];
    meta[field] = bytes instanceof Uint8Array ? scalarIn(bytes, scope) : null;
  }
  return meta;
}

/**
 * The operation of a flattened row: the operation letter if the row has it. Without the letter, a row says only whether it is deleted. All
 * others are upserts, which are reported as updates.
 */
function flattenedOperation({ deleted, op }: Meta): Operation {
  if (deleted === true || deleted === "true") {
    return "delete";
  }
  return (typeof op === "string" ? operationOf(op) : null) ?? "update";
}

function tableOf(meta: Meta, topicTable: TableName | null): TableName {
  const declared = (field: string): string | undefined => {
    const text = meta[field] ?? meta[`source_${field}`];
    return typeof text === "string" && text !== "" ? text : undefined;
  };
  const name = declared("table") ?? declared("collection") ?? topicTable?.name ?? "";
  const fromTopic = topicTable?.name === name ? topicTable : null;
  const database = declared("keyspace") ?? declared("db") ?? fromTopic?.database;
  const schema = declared("schema") ?? fromTopic?.schema;
  return tableNamed(database, schema, name);
}

/** The kept fields of the source block, by their own names. */
function sourceBlock(meta: Meta, table: TableName): Record<string, unknown> {
  const block: Record<string, unknown> = {};
  for (const field of Object.keys(meta)) {
    if (field.startsWith("source_")) {
      setProperty(block, field.slice("source_".length), meta[field]);
    } else if (!notOfSource.has(field) && !field.startsWith("transaction_")) {
      setProperty(block, field, meta[field]);
    }
  }
  if (table.database !== undefined) {
    block["db"] = table.database;
  }
  block["table"] = table.name;
  return block;
}

/** Fields that describe the event, not its source. */
const notOfSource: ReadonlySet<string> = new Set(["op", "deleted", "ts_ms", "ts_us", "ts_ns"]);

/** The kept fields of the transaction block, by their own names; null if none has a value. */
function transactionBlock(meta: Meta): Record<string, unknown> | null {
  let block: Record<string, unknown> | null = null;
  for (const field of Object.keys(meta)) {
    if (field.startsWith("transaction_") && (meta[field] ?? null) !== null) {
      block ??= {};
      setProperty(block, field.slice("transaction_".length), meta[field]);
    }
  }
  return block;
}
