import { DecodeError } from "../../errors.ts";
import { readEverything, Deferred } from "../../encoding/reader.ts";
import type { CdcEvent, Columns } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import { Heartbeat, LogicalMessage, SchemaChange, TransactionBoundary, Truncate, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat, Origin } from "../envelope.ts";
import { operationOf } from "./operation.ts";
import { isBlock } from "../source.ts";
import { changePlan, noSource, type SourceHead } from "./plan.ts";
import { recogniseDebezium } from "./recognise.ts";

/** Debezium's own envelope, and the records on the topics beside the tables: transactions, heartbeats, schema changes. */
export const debezium: EnvelopeFormat = {
  name: "debezium",
  recognise: (shape) => recogniseDebezium(shape)?.evidence ?? null,
  planFor: (shape) => (recogniseDebezium(shape)?.record === "change" ? changePlan() : readEverything),
  open,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] {
  if (!isBlock(value)) {
    return [new UnknownValue(value, origin)]; // an optional envelope that is null
  }
  const { op } = value;
  return typeof op === "string" ? openChange(op, value, origin) : openControl(value, origin);
}

type Block = Readonly<Record<string, unknown>>;

function openChange(op: string, value: Block, origin: Origin): readonly CdcEvent[] {
  const { source } = value;
  const head = source instanceof Deferred ? (source.peeked as SourceHead) : noSource;
  if (head.connector === "cassandra") {
    throw new DecodeError(
      "unsupported-format",
      "expected Debezium's operations c, u, d and r, found the Cassandra connector's, which give r the meaning of a delete: its envelope is not supported yet",
    );
  }
  const table = head.table.name === "" && origin.scope.topicTable !== null ? origin.scope.topicTable : head.table;
  const operation = operationOf(op);
  const before = value["before"] ?? null;
  const after = value["after"] ?? null;
  if (operation !== null && isImage(before) && isImage(after)) {
    return [new EnvelopedChange(operation, table, before, after, source, value["transaction"], value["ts_ms"], origin)];
  }
  switch (op) {
    case "t":
    case "T":
      return [new Truncate(table, value, origin)];
    case "m":
    case "M":
      return [new LogicalMessage(value, origin)];
    default:
      return [unknownValue(value, origin)];
  }
}

/** A row's image: its columns, MongoDB's document as JSON text, or nothing. */
function isImage(value: unknown): value is Columns | null {
  return value === null || isBlock(value) || typeof value === "string";
}

/** Its source is read now: who takes the value apart should find what was sent. */
function unknownValue(value: Block, origin: Origin): UnknownValue {
  const { source } = value;
  return new UnknownValue(source instanceof Deferred ? { ...value, source: source.value } : value, origin);
}

function openControl(value: Block, origin: Origin): readonly CdcEvent[] {
  const { status } = value;
  if (status === "BEGIN" || status === "END") {
    return [new TransactionBoundary(status === "BEGIN" ? "begin" : "end", value, origin)];
  }
  if ("ddl" in value) {
    return [new SchemaChange(value, origin)];
  }
  return "ts_ms" in value && Object.keys(value).length === 1 ? [new Heartbeat(value, origin)] : [unknownValue(value, origin)];
}
