import type { Shape } from "../envelope.ts";

/** Fields that DeltaForge adds to Debezium's payload; its processors may leave any of them out. */
const ownFields: readonly string[] = ["event_id", "tenant_id", "schema_version", "schema_sequence", "trace_id", "synthetic", "tx_end"];

/** DeltaForge's events, which are Debezium's payload with fields of its own. */
export function recogniseDeltaforge({ fields }: Shape): string | null {
  if (fields === null || !["before", "after", "source", "op", "ts_ms"].every((name) => fields.includes(name))) {
    return null;
  }
  const own = ownFields.find((name) => fields.includes(name));
  return own === undefined ? null : `Debezium's fields, and ${own}`;
}
