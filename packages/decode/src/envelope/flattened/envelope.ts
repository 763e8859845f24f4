import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { EnvelopedChange } from "../change-event.ts";
import { UnknownValue } from "../control-events.ts";
import { operationOf } from "../debezium/operation.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { headerText } from "../header-values.ts";
import { isBlock } from "../source.ts";
import { defaultPrefix, metaField, prefixOf, recogniseFlattened, markerNames } from "./recognise.ts";

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
    return [new UnknownValue(value, origin)];
  }
  const names = Object.keys(value);
  const prefix = prefixOf(names);
  const row: Columns = {};
  const meta: Record<string, unknown> = {};
  addHeaders(meta, origin);
  for (const name of names) {
    const field = metaField(name, prefix);
    if (field === null) {
      setProperty(row, name, value[name]);
    } else {
      meta[field] = value[name] ?? meta[field] ?? null;
    }
  }
  if (!isEvident(meta, prefix)) {
    return null; // the columns are the user's own
  }
  const op = flattenedOperation(meta);
  const [before, after] = op === "delete" ? [row, null] : [null, row];
  const table = tableOf(meta, origin.scope.topicTable);
  return [
    new EnvelopedChange(
      op,
      table,
      before,
      after,
      { source: sourceBlock(meta, table), transaction: transactionBlock(meta), ts_ms: meta["ts_ms"] },
      origin,
    ),
  ];
}

/**
 * Whether the transformation has written this row. The evidence is an operation that exists, or a valid value of `__deleted`, or the name
 * of a table together with another field of an envelope.
 */
function isEvident({ op, deleted, ...rest }: Meta, prefix: string): boolean {
  const isOperation = typeof op === "string" && operationOf(op) !== null;
  if ((op ?? null) !== null || prefix !== defaultPrefix) {
    return isOperation;
  }
  const isDeletion = typeof deleted === "boolean" || deleted === "true" || deleted === "false";
  return (deleted ?? null) === null ? Object.keys(rest).filter((name) => rest[name] !== null).length > 1 : isDeletion;
}

/** Adds the fields that were kept in headers. A column of the same name replaces them, because columns have types. */
function addHeaders(meta: Record<string, unknown>, { headers, scope }: Origin): void {
  for (const [name] of headers) {
    const field = name.startsWith(defaultPrefix) ? metaField(name, defaultPrefix) : null;
    if (field !== null) {
      meta[field] = headerText(headers, name, scope);
    }
  }
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
  return { ...(database === undefined ? {} : { database }), ...(schema === undefined ? {} : { schema }), name };
}

/** The kept fields of the source block, by their own names. */
function sourceBlock(meta: Meta, table: TableName): Record<string, unknown> {
  const block: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(meta)) {
    if (field.startsWith("source_")) {
      setProperty(block, field.slice("source_".length), value);
    } else if (!notOfSource.has(field) && !field.startsWith("transaction_")) {
      setProperty(block, field, value);
    }
  }
  return { ...block, ...(table.database === undefined ? {} : { db: table.database }), table: table.name };
}

/** Fields that describe the event, not its source. */
const notOfSource: ReadonlySet<string> = new Set(["op", "deleted", "ts_ms", "ts_us", "ts_ns"]);

function transactionBlock(meta: Meta): Readonly<Record<string, unknown>> | null {
  const { transaction_id, transaction_total_order, transaction_data_collection_order } = meta;
  return transaction_id === undefined || transaction_id === null
    ? null
    : { id: transaction_id, total_order: transaction_total_order, data_collection_order: transaction_data_collection_order };
}
