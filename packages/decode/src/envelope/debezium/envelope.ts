import { Deferred, readEverything } from "../../encoding/reader.ts";
import type { CdcEvent } from "../../event.ts";
import { Heartbeat, Notification, SchemaChange, TransactionBoundary, UnknownValue } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { type Change, openChange } from "./change.ts";
import { openMongodbChange } from "./mongodb.ts";
import { changePlan, noSource, type SourceHead, tableOf } from "./plan.ts";
import { recogniseDebezium } from "./recognise.ts";
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
    return recognised?.record === "change" && recognised.isPayload !== true ? changePlan() : readEverything;
  },
  open,
  openWhole,
};

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value)) {
    return [new UnknownValue(value, origin)]; // an optional envelope that is null
  }
  const { op, source } = value;
  if (source instanceof Deferred || source === null) {
    return typeof op === "string" ? openDebeziumChange(op, value, origin) : null;
  }
  return openTidbPayload(value, origin) ?? openControl(value, origin);
}

/** A change that is not understood, with everything that was sent. A row whose column `source` is no record is not Debezium's. */
function openWhole(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  return isBlock(value) && "op" in value && (value["source"] === null || isBlock(value["source"]))
    ? [new UnknownValue(value, origin)]
    : null;
}

/** The events of a change, in the dialect of its connector. */
function openDebeziumChange(op: string, change: Change, origin: Origin): readonly CdcEvent[] | null {
  const { source } = change;
  const head = source instanceof Deferred ? (source.peeked as SourceHead) : noSource; // the plan's own head
  const table = tableOf(head, origin.scope);
  if (head.dialect !== null) {
    return head.dialect(op, change, table, origin);
  }
  const before = change["before"] ?? null;
  const after = change["after"] ?? null;
  // Only documents come as text: of a connector that is a fork of the one for MongoDB.
  return typeof before === "string" || typeof after === "string"
    ? openMongodbChange(op, change, table, origin)
    : openChange(op, change, before, after, table, origin);
}

/** Names alone are weak evidence for these: a row whose values are others stays a row. */
function openControl(value: Change, origin: Origin): readonly CdcEvent[] | null {
  const { status } = value;
  if (status === "BEGIN" || status === "END") {
    return [new TransactionBoundary(status === "BEGIN" ? "begin" : "end", value, origin)];
  }
  if ("ddl" in value) {
    return [new SchemaChange(value, origin)];
  }
  if ("ts_ms" in value && Object.keys(value).length === 1) {
    return [new Heartbeat(value, origin)];
  }
  return isNotification(value) ? [new Notification(value, origin)] : null;
}

function isNotification({ id, type, aggregate_type, additional_data, timestamp }: Change): boolean {
  const isDetailed = additional_data === null || isBlock(additional_data);
  const isTimed = timestamp === null || typeof timestamp === "number" || typeof timestamp === "bigint";
  return typeof id === "string" && typeof type === "string" && typeof aggregate_type === "string" && isDetailed && isTimed;
}
