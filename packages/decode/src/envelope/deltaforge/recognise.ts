import { hasSourceNames } from "../debezium/source-evidence.ts";
import type { Shape } from "../envelope.ts";

/** Fields that DeltaForge adds to Debezium's payload. Its processors may remove any of them. */
const ownFields: readonly string[] = ["event_id", "tenant_id", "schema_version", "schema_sequence", "trace_id", "synthetic", "tx_end"];

/** Recognises DeltaForge's events: Debezium's payload with fields of DeltaForge. */
export function recogniseDeltaforge({ fields, fieldsOf }: Shape): string | null {
  const names = isWrapped(fields) ? fieldsOf("payload") : fields;
  if (names === null && fields !== null) {
    return "fields schema and payload, which may hold an event";
  }
  if (names === null || !["before", "after", "source", "op", "ts_ms"].every((name) => names.includes(name))) {
    return null;
  }
  const own = ownFields.find((name) => names.includes(name));
  const isEvident = isWrapped(fields) || hasSourceNames({ fieldsOf });
  return own === undefined || !isEvident ? null : `Debezium's fields, and ${own}`;
}

/** The members that become parts of events. The fields that DeltaForge adds are not among them, so they become `extra`. */
export const members: ReadonlySet<string> = new Set("before after source op ts_ms ts_us ts_ns transaction ddl".split(" "));

/**
 * Whether the event is in `payload`, with a `schema` that is not a Connect schema. In JSON that is a message with a schema, in Avro a
 * record.
 */
export function isWrapped(fields: readonly string[] | null): boolean {
  return fields?.length === 2 && fields.includes("schema") && fields.includes("payload");
}
