import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import type { RecordHeaders } from "../../record.ts";
import { setProperty } from "../../set-property.ts";
import { EnvelopedChange } from "../change-event.ts";
import { UnknownValue } from "../control-events.ts";
import { operationOf } from "../debezium/operation.ts";
import type { EnvelopeFormat, Origin } from "../envelope.ts";
import { headerText } from "../header-values.ts";
import { isBlock } from "../source.ts";
import { isMetaColumn, recogniseFlattened, telling } from "./recognise.ts";

/** A row that Debezium's ExtractNewRecordState took out of its envelope, with what it was asked to leave of it. */
export const flattened: EnvelopeFormat = {
  name: "flattened",
  headerNames: telling,
  recognise: recogniseFlattened,
  planFor: () => ({ defer: null, skip: [], rows: "self" }),
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  if (!isBlock(value)) {
    return [new UnknownValue(value, origin)];
  }
  const row: Columns = {};
  const meta: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    setProperty(isMetaColumn(name) ? meta : row, name, value[name]);
  }
  const headers = origin.batch.headersAt(origin.record);
  const op = flattenedOperation(meta, headers);
  const isDelete = op === "delete";
  const table = tableOf(meta, headers, origin.scope.topicTable);
  const source = sourceBlock(meta, table);
  return [new EnvelopedChange(op, table, isDelete ? row : null, isDelete ? null : row, source, null, meta["__ts_ms"], origin)];
}

/** `__op` where it was asked for; else all that a flattened row says is whether it is gone: the others are upserts, called updates. */
function flattenedOperation(meta: Record<string, unknown>, headers: RecordHeaders): Operation {
  const deleted = meta["__deleted"] ?? headerText(headers, "__deleted");
  if (deleted === true || deleted === "true") {
    return "delete";
  }
  const op = meta["__op"] ?? headerText(headers, "__op");
  return (typeof op === "string" ? operationOf(op) : null) ?? "update";
}

function tableOf(meta: Record<string, unknown>, headers: RecordHeaders, topicTable: TableName | null): TableName {
  const stated = (name: string): string | undefined => {
    const text = meta[name] ?? meta[`__source${name.slice(1)}`] ?? headerText(headers, name);
    return typeof text === "string" && text !== "" ? text : undefined;
  };
  const name = stated("__table") ?? stated("__collection") ?? topicTable?.name ?? "";
  const fromTopic = topicTable?.name === name ? topicTable : null;
  const database = stated("__db") ?? fromTopic?.database;
  const schema = stated("__schema") ?? fromTopic?.schema;
  return { ...(database === undefined ? {} : { database }), ...(schema === undefined ? {} : { schema }), name };
}

/** The source block as far as the meta columns still tell it, by its own names. */
function sourceBlock(meta: Record<string, unknown>, table: TableName): Record<string, unknown> {
  const block: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(meta)) {
    if (name.startsWith("__source_")) {
      setProperty(block, name.slice("__source_".length), value);
    } else if (!notOfSource.has(name)) {
      setProperty(block, name.slice(2), value);
    }
  }
  return { ...block, ...(table.database === undefined ? {} : { db: table.database }), table: table.name };
}

/** Meta columns that speak of the event, not of its source. */
const notOfSource: ReadonlySet<string> = new Set(["__op", "__deleted", "__ts_ms", "__ts_us", "__ts_ns"]);
