import type { Shape } from "../envelope.ts";
import { hasSourceNames } from "./source-evidence.ts";

/** The kinds of records that Debezium writes. */
export type DebeziumRecord = "change" | "transaction" | "heartbeat" | "schema-change" | "notification";

export interface Recognised {
  readonly record: DebeziumRecord;
  readonly evidence: string;
  /** Whether the record is in the field `payload`, with no schema next to it. */
  readonly isPayload?: boolean;
}

const heartbeatFields: ReadonlySet<string> = new Set(["ts_ms", "vgtid"]);

/** Whether these are the names in a heartbeat: the time alone, and in one of Vitess's connector also the position that it has read up to. */
export function hasHeartbeatFields(fields: readonly string[]): boolean {
  return fields.includes("ts_ms") && fields.every((name) => heartbeatFields.has(name));
}

/** All other members of a heartbeat become `extra`. */
export const membersOfHeartbeat: ReadonlySet<string> = new Set(["ts_ms"]);

const transactionFields: ReadonlySet<string> = new Set(["status", "id", "event_count", "data_collections", "ts_ms"]);
const notificationFields: readonly string[] = ["id", "type", "aggregate_type", "additional_data", "timestamp"];

/** A change has one of these fields together with op and source. Records without a row (a truncate, TiDB's watermark) have a time. */
const changeFields: readonly string[] = ["before", "after", "message", "ts_ms"];

/**
 * Whether the schema has the name that Debezium's connectors give to envelopes. Such a schema is an envelope even if its source block has
 * other names.
 */
export function isNamedEnvelope({ typeName }: Shape): boolean {
  return typeName?.endsWith(".Envelope") === true;
}

/**
 * Recognises Debezium's records by their names: a source block has typical names, and control records have few fields, which are always the
 * same.
 */
export function recogniseDebezium(shape: Shape): Recognised | null {
  const { topic, typeName, fields } = shape;
  if (fields === null) {
    return null;
  }
  const has = (name: string): boolean => fields.includes(name);
  if (fields.length === 1 && has("payload")) {
    return recognisePayload(shape);
  }
  if (has("ddl") && has("source") && isSchemaChange(shape)) {
    return { record: "schema-change", evidence: "fields ddl, source and tableChanges" };
  }
  const image = has("op") && has("source") ? changeFields.find(has) : undefined;
  if (image !== undefined && (isNamedEnvelope(shape) || hasSourceNames(shape))) {
    const byName = isNamedEnvelope(shape) ? `, schema named ${typeName}` : "";
    return { record: "change", evidence: `fields op, source and ${image}${byName}` };
  }
  if (has("status") && has("id") && has("event_count") && fields.every((name) => transactionFields.has(name))) {
    return { record: "transaction", evidence: "exactly the fields of transaction metadata" };
  }
  if (fields.length === notificationFields.length && notificationFields.every(has)) {
    return { record: "notification", evidence: "exactly the fields of a notification" };
  }
  if (hasHeartbeatFields(fields) && (topic.startsWith("__debezium-heartbeat") || typeName?.endsWith(".Heartbeat") === true)) {
    return { record: "heartbeat", evidence: "exactly the fields of a heartbeat, on a heartbeat topic or under a schema of that name" };
  }
  return null;
}

/**
 * Whether this is a schema change. In the connector's own schema history topic, the source is only the connector's name, and there is a
 * position.
 */
function isSchemaChange(shape: Shape): boolean {
  const has = (name: string): boolean => shape.fields?.includes(name) === true;
  const isHistory = has("position") && has("tableChanges");
  return (has("tableChanges") || has("databaseName")) && (isHistory || hasSourceNames(shape));
}

const changeMembers: readonly string[] = ["before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction", "updateDescription"];
export const membersOfChange: ReadonlySet<string> = new Set(changeMembers);
const membersOfMessage: ReadonlySet<string> = new Set([...changeMembers, "message"]);
export const membersOfSchemaChange: ReadonlySet<string> = new Set(
  "source ts_ms ts_us ts_ns databaseName schemaName ddl tableChanges".split(" "),
);

/** The members of a record. A logical message has no images, and a change has no message. The other records have only their own fields. */
export function membersOfRecord(shape: Shape): ReadonlySet<string> {
  const fields = shape.fields ?? [];
  const recognised = recogniseDebezium(shape);
  if (recognised?.isPayload === true) {
    return new Set(fields); // the members in it are compared when it is opened
  }
  switch (recognised?.record) {
    case "schema-change":
      return membersOfSchemaChange;
    case "change":
      return fields.includes("message") && !fields.includes("before") && !fields.includes("after") ? membersOfMessage : membersOfChange;
    case "heartbeat":
      return membersOfHeartbeat;
    default:
      return new Set(fields);
  }
}

/**
 * Recognises a record under the field `payload`. TiCDC without schemas (`debezium-disable-schema`) writes only this half of
 * `{"schema","payload"}`.
 */
function recognisePayload(shape: Shape): Recognised | null {
  const fields = shape.fieldsOf("payload");
  if (fields === null) {
    return { record: "change", evidence: "the field payload alone, which may hold a change", isPayload: true };
  }
  const inner = fields.includes("payload") ? null : recogniseDebezium({ ...shape, typeName: null, fields, fieldsOf: () => null });
  return inner?.record === "change" || inner?.record === "schema-change"
    ? { record: inner.record, evidence: `the field payload alone, in it the ${inner.evidence}`, isPayload: true }
    : null;
}
