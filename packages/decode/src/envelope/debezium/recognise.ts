import type { Shape } from "../envelope.ts";

/** Which of Debezium's records a shape is. */
export type DebeziumRecord = "change" | "transaction" | "heartbeat" | "schema-change" | "notification";

export interface Recognised {
  readonly record: DebeziumRecord;
  readonly evidence: string;
  /** Whether it stands in the field `payload`, with no schema beside it. */
  readonly isPayload?: boolean;
}

const transactionFields: ReadonlySet<string> = new Set(["status", "id", "event_count", "data_collections", "ts_ms"]);
const notificationFields: readonly string[] = ["id", "type", "aggregate_type", "additional_data", "timestamp"];

/** One of these stands beside op and source; what has no row (a truncate, TiDB's watermark) has a time. */
const changeFields: readonly string[] = ["before", "after", "message", "ts_ms"];

/** Names decide: Debezium's control records have few fields, always the same. */
export function recogniseDebezium(shape: Shape): Recognised | null {
  const { topic, typeName, fields } = shape;
  if (fields === null) {
    return null;
  }
  const has = (name: string): boolean => fields.includes(name);
  if (fields.length === 1 && has("payload")) {
    return recognisePayload(shape);
  }
  if (has("ddl") && has("source") && (has("tableChanges") || has("databaseName"))) {
    return { record: "schema-change", evidence: "fields ddl, source and tableChanges" };
  }
  const image = has("op") && has("source") ? changeFields.find(has) : undefined;
  if (image !== undefined) {
    const byName = typeName?.endsWith(".Envelope") === true ? `, schema named ${typeName}` : "";
    return { record: "change", evidence: `fields op, source and ${image}${byName}` };
  }
  if (has("status") && has("id") && has("event_count") && fields.every((name) => transactionFields.has(name))) {
    return { record: "transaction", evidence: "exactly the fields of transaction metadata" };
  }
  if (fields.length === notificationFields.length && notificationFields.every(has)) {
    return { record: "notification", evidence: "exactly the fields of a notification" };
  }
  const isOnlyTimestamp = fields.length === 1 && has("ts_ms");
  if (isOnlyTimestamp && (topic.startsWith("__debezium-heartbeat") || typeName?.endsWith(".Heartbeat") === true)) {
    return { record: "heartbeat", evidence: "the field ts_ms alone, on a heartbeat topic or under a schema of that name" };
  }
  return null;
}

/** TiCDC without schemas (`debezium-disable-schema`) keeps the name of the other half. */
function recognisePayload(shape: Shape): Recognised | null {
  const fields = shape.fieldsOf("payload");
  const inner =
    fields === null || fields.includes("payload") ? null : recogniseDebezium({ ...shape, typeName: null, fields, fieldsOf: () => null });
  return inner?.record === "change" || inner?.record === "schema-change"
    ? { record: inner.record, evidence: `the field payload alone, in it the ${inner.evidence}`, isPayload: true }
    : null;
}
