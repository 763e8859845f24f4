import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { DeclaredFields, EnvelopedChange, TransactionBlock } from "../change-event.ts";
import { SchemaChange, Truncate } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { isBlock, textOrNull } from "../source.ts";
import { recogniseDms } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/** AWS DMS's JSON. It states no types, so dates and times stay the text that DMS prints. */
export const dms: EnvelopeFormat = {
  name: "dms",
  recognise: recogniseDms,
  planFor: () => ({ defer: null, skip: [], rows: ["data", "before-image"] }),
  membersOf: () => members,
  open,
};

const members: ReadonlySet<string> = new Set(["data", "before-image", "control", "metadata"]);

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["load", "read"],
  ["insert", "create"],
  ["update", "update"],
  ["delete", "delete"],
]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const metadata = isBlock(value) ? value["metadata"] : null;
  if (!isBlock(value) || !isBlock(metadata) || typeof metadata["operation"] !== "string") {
    return null;
  }
  const table = tableOf(metadata);
  const extra = extraOf(metadata, metadataMembers);
  const kept = extra === null ? origin : origin.withExtra({ metadata: extra });
  if (metadata["record-type"] === "control") {
    return listWith(controlEvent(metadata["operation"], table, value["control"], metadata, kept));
  }
  const op = operations.get(metadata["operation"]);
  const { data } = value;
  return metadata["record-type"] === "data" && op !== undefined && isBlock(data)
    ? listWith(change(op, table, data, value["before-image"], metadata, kept))
    : null;
}

function change(op: Operation, table: TableName, data: Columns, image: unknown, metadata: Block, origin: Origin): CdcEvent {
  const imaged = isBlock(image) && Object.keys(image).length > 0 ? image : null;
  const before = op === "delete" ? data : op === "update" ? imaged : null;
  const source = new SourceBlock(metadata, table, op === "read" ? "true" : "false");
  return new EnvelopedChange(
    op,
    table,
    before,
    op === "delete" ? null : data,
    new DeclaredFields(source, tsMsOf(metadata), transactionBlock(metadata)),
    origin,
  );
}

function controlEvent(operation: string, table: TableName, control: unknown, metadata: Block, origin: Origin): CdcEvent {
  const block = { source: new SourceBlock(metadata, table, "false"), transaction: transactionBlock(metadata), ts_ms: tsMsOf(metadata) };
  if (operation === "truncate-table") {
    return new Truncate(table, block, origin);
  }
  const tableChanges = [{ type: operation, id: `"${table.schema ?? ""}"."${table.name}"`, table: isBlock(control) ? control : null }];
  return new SchemaChange({ ...block, schemaName: table.schema ?? null, tableChanges }, origin);
}

function tableOf(metadata: Block): TableName {
  const schema = textOrNull(metadata["schema-name"]);
  return tableNamed(undefined, schema === null || schema === "" ? undefined : schema, textOrNull(metadata["table-name"]) ?? "");
}

function tsMsOf(metadata: Block): number | null {
  return millisOf(metadata["timestamp"]);
}

const positionFields = [
  "transaction-id",
  "transaction-record-id",
  "prev-transaction-id",
  "prev-transaction-record-id",
  "stream-position",
] as const;

const metadataMembers: ReadonlySet<string> = new Set([
  ...positionFields,
  ...[
    "timestamp",
    "commit-timestamp",
    "record-type",
    "operation",
    "schema-name",
    "table-name",
    "partition-key-type",
    "partition-key-value",
  ],
]);

const SourceBlock = plainConstructor(function (metadata: Block, table: TableName, snapshot: string) {
  this["connector"] = "dms";
  setIfDefined(this, "schema", table.schema);
  this["snapshot"] = snapshot;
  this["table"] = table.name;
  this["ts_ms"] = millisOf(metadata["commit-timestamp"]) ?? tsMsOf(metadata);
  for (const name of positionFields) {
    setIfDefined(this, name, metadata[name]);
  }
});

function transactionBlock(metadata: Block): Block | null {
  const id = metadata["transaction-id"];
  return id === undefined ? null : new TransactionBlock(id, metadata["transaction-record-id"]);
}
