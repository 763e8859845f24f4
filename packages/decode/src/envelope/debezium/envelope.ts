import { Deferred, readEverything } from "../../encoding/reader.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent } from "../../event.ts";
import { Heartbeat, Notification, SchemaChange, TransactionBoundary, UnknownValue } from "../control-events.ts";
import { beginsWithWrapper } from "../cells.ts";
import { isDocumentText } from "../document-change.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { bigintOrNull, isBlock, numberOrNull, scalarText } from "../source.ts";
import { type Change, openChange } from "./change.ts";
import { type Dialect, dialectOfVersion } from "./dialect.ts";
import { openMongodbChange } from "./mongodb.ts";
import { changePlan, type SourceHead, tableInValue, tableOf } from "./plan.ts";
import { hasHeartbeatFields, isNamedEnvelope, membersOfRecord, recogniseDebezium } from "./recognise.ts";
import { isSourceBlock } from "./source-evidence.ts";
import { openTidbPayload } from "./tidb.ts";
import { listWith } from "../../list-with.ts";

/**
 * Debezium's own envelope, and the records of its other topics: transactions, heartbeats, schema changes, notifications. An incremental
 * snapshot writes rows into its signal table, and these become changes like those of any other table.
 */
export const debezium: EnvelopeFormat = {
  name: "debezium",
  recognise: (shape) => recogniseDebezium(shape)?.evidence ?? null,
  planFor: (shape) => {
    const recognised = recogniseDebezium(shape);
    return recognised?.record === "change" && recognised.isPayload !== true
      ? { ...changePlan(isNamedEnvelope(shape)), isSelectable: true }
      : readEverything;
  },
  membersOf: membersOfRecord,
  tableIn: tableInValue,
  sharesSemantics: () => true,
  open,
  openUnprojected,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return listWith(new UnknownValue(value, origin)); // the envelope is optional in its schema, and null
  }
  const { op, source } = value;
  if (source instanceof Deferred) {
    return typeof op === "string" ? openDebeziumChange(op, value, source, origin) : null;
  }
  return openTidbPayload(value, origin) ?? openControl(value, origin);
}

/**
 * A change that `open` could not read becomes an unknown event with all members that were sent. If the column `source` is not Debezium's,
 * the value is a row.
 */
function openUnprojected(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  return isBlock(value) && "op" in value && isSourceBlock(value["source"]) ? listWith(new UnknownValue(value, origin)) : null;
}

/** The events of a change, in the dialect of its connector. */
function openDebeziumChange(op: string, change: Change, source: Deferred, origin: Origin): readonly CdcEvent[] | null {
  const head = source.peeked as SourceHead; // the plan of this envelope made the head
  if (!head.isEvident && !isSourceBlock(source.value)) {
    return null;
  }
  const table = tableOf(head, origin.scope);
  const { dialect = forkDialect(change, source, origin) } = head;
  if (dialect !== null) {
    origin.scope.needWholeRows?.(); // a dialect may tell from other columns how a row is written
    return dialect(op, change, table, origin);
  }
  const before = change["before"] ?? null;
  const after = change["after"] ?? null;
  // Only documents are written as text. Their connector is a fork of Debezium's MongoDB connector.
  return isDocumentText(before) || isDocumentText(after)
    ? openMongodbChange(op, change, table, origin)
    : openChange(op, change, before, after, table, origin);
}

/**
 * The dialect of a fork that keeps the name of its connector: the version in the source names it. Reading that of each record would cost more
 * than all other names, so it is read if the row (or the key, if there is no row) begins with a wrapper.
 */
function forkDialect({ before, after }: Change, source: Deferred, { key }: Origin): Dialect | null {
  if (!beginsWithWrapper(after ?? before, key)) {
    return null;
  }
  try {
    const { version } = isBlock(source.value) ? source.value : {};
    return dialectOfVersion(version);
  } catch (error) {
    if (isDecodeError(error)) {
      return null; // whoever asks for the source gets the error
    }
    throw error;
  }
}

/** Opens a control record. Its names are weak evidence, so a value whose members have other types stays a row. */
function openControl(value: Change, origin: Origin): readonly CdcEvent[] | null {
  const { status } = value;
  if (status === "BEGIN" || status === "END") {
    return isBoundary(value) ? listWith(new TransactionBoundary(status === "BEGIN" ? "begin" : "end", value, origin)) : null;
  }
  if ("ddl" in value) {
    return isSchemaChange(value) ? listWith(new SchemaChange(value, origin)) : null;
  }
  if (hasHeartbeatFields(Object.keys(value))) {
    return numberOrNull(value["ts_ms"]) === null ? null : listWith(new Heartbeat(value, origin));
  }
  return isNotification(value) ? listWith(new Notification(value, origin)) : null;
}

function isBoundary({ id, event_count, data_collections, ts_ms }: Change): boolean {
  const isCounted = (one: unknown): boolean => isBlock(one) && typeof one["data_collection"] === "string" && isCount(one["event_count"]);
  const areCounted = isNone(data_collections) || (Array.isArray(data_collections) && data_collections.every(isCounted));
  return scalarText(id) !== null && (isNone(event_count) || isCount(event_count)) && areCounted && (isNone(ts_ms) || isCount(ts_ms));
}

/** Whether this is a schema change. In the connector's own schema history topic, the source is only the connector's name. */
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

/** Whether a value is an integer in any form that the int64 option gives. */
function isCount(value: unknown): boolean {
  return bigintOrNull(value) !== null;
}

function isNotification({ id, type, aggregate_type, additional_data, timestamp }: Change): boolean {
  const isDetailed = additional_data === null || isBlock(additional_data);
  const isTimed = timestamp === null || typeof timestamp === "number" || typeof timestamp === "bigint";
  return typeof id === "string" && typeof type === "string" && typeof aggregate_type === "string" && isDetailed && isTimed;
}
