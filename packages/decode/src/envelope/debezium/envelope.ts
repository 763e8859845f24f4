import { Deferred, readEverything } from "../../encoding/reader.ts";
import type { CdcEvent } from "../../event.ts";
import { Heartbeat, Notification, SchemaChange, TransactionBoundary, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { bigintOrNull, isBlock, numberOrNull, scalarText } from "../source.ts";
import { type Change, openChange } from "./change.ts";
import { openMongodbChange } from "./mongodb.ts";
import { changePlan, type SourceHead, tableInValue, tableOf } from "./plan.ts";
import { isNamedEnvelope, membersOfRecord, recogniseDebezium } from "./recognise.ts";
import { isSourceBlock } from "./source-evidence.ts";
import { openTidbPayload } from "./tidb.ts";

/**
 * Debezium's own envelope, and the records on the topics beside the tables: transactions, heartbeats, schema changes, notifications. The
 * rows that an incremental snapshot writes into its signal table are changes of that table like any other.
 */
export const debezium: EnvelopeFormat = {
  name: "debezium",
  recognise: (shape) => recogniseDebezium(shape)?.evidence ?? null,
  planFor: (shape) => {
    const recognised = recogniseDebezium(shape);
    return recognised?.record === "change" && recognised.isPayload !== true ? changePlan(isNamedEnvelope(shape)) : readEverything;
  },
  membersOf: membersOfRecord,
  tableIn: tableInValue,
  sharesSemantics: () => true,
  open,
  openUnprojected,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return [new UnknownValue(value, origin)]; // an optional envelope that is null
  }
  const { op, source } = value;
  if (source instanceof Deferred) {
    return typeof op === "string" ? openDebeziumChange(op, value, source, origin) : null;
  }
  return openTidbPayload(value, origin) ?? openControl(value, origin);
}

/** A change that is not understood, with everything that was sent. A row whose column `source` is not Debezium's is a row. */
function openUnprojected(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  return isBlock(value) && "op" in value && isSourceBlock(value["source"]) ? [new UnknownValue(value, origin)] : null;
}

/** The events of a change, in the dialect of its connector. */
function openDebeziumChange(op: string, change: Change, source: Deferred, origin: Origin): readonly CdcEvent[] | null {
  const head = source.peeked as SourceHead; // the plan's own head
  if (!head.isEvident && !isSourceBlock(source.value)) {
    return null;
  }
  const table = tableOf(head, origin.scope);
  if (head.dialect !== null) {
    return head.dialect(op, change, table, origin);
  }
  const before = change["before"] ?? null;
  const after = change["after"] ?? null;
  // Only documents come as text: of a connector that is a fork of the one for MongoDB.
  return isDocumentText(before) || isDocumentText(after)
    ? openMongodbChange(op, change, table, origin)
    : openChange(op, change, before, after, table, origin);
}

function isDocumentText(image: unknown): boolean {
  return typeof image === "string" && /^\s*\{/.test(image);
}

/** Names alone are weak evidence for these: a row whose values are others stays a row. */
function openControl(value: Change, origin: Origin): readonly CdcEvent[] | null {
  const { status } = value;
  if (status === "BEGIN" || status === "END") {
    return isBoundary(value) ? [new TransactionBoundary(status === "BEGIN" ? "begin" : "end", value, origin)] : null;
  }
  if ("ddl" in value) {
    return isSchemaChange(value) ? [new SchemaChange(value, origin)] : null;
  }
  if ("ts_ms" in value && Object.keys(value).length === 1) {
    return numberOrNull(value["ts_ms"]) === null ? null : [new Heartbeat(value, origin)];
  }
  return isNotification(value) ? [new Notification(value, origin)] : null;
}

function isBoundary({ id, event_count, data_collections, ts_ms }: Change): boolean {
  const isCounted = (one: unknown): boolean => isBlock(one) && typeof one["data_collection"] === "string" && isCount(one["event_count"]);
  const areCounted = isNone(data_collections) || (Array.isArray(data_collections) && data_collections.every(isCounted));
  return scalarText(id) !== null && (isNone(event_count) || isCount(event_count)) && areCounted && (isNone(ts_ms) || isCount(ts_ms));
}

/** In the connector's own history of schemas the source is the connector's name alone. */
function isSchemaChange({ ddl, databaseName, schemaName, tableChanges, source, position }: Change): boolean {
  if (!isSourceBlock(source) && !(isBlock(position) && Array.isArray(tableChanges))) {
    return false;
  }
  const areNamed = [ddl, databaseName, schemaName].every((name) => isNone(name) || typeof name === "string");
  return areNamed && (isNone(tableChanges) || (Array.isArray(tableChanges) && tableChanges.every(isBlock)));
}

function isNone(value: unknown): boolean {
  return value === null || value === undefined;
}

/** A whole number, whichever way the int64 option has it. */
function isCount(value: unknown): boolean {
  return bigintOrNull(value) !== null;
}

function isNotification({ id, type, aggregate_type, additional_data, timestamp }: Change): boolean {
  const isDetailed = additional_data === null || isBlock(additional_data);
  const isTimed = timestamp === null || typeof timestamp === "number" || typeof timestamp === "bigint";
  return typeof id === "string" && typeof type === "string" && typeof aggregate_type === "string" && isDetailed && isTimed;
}
