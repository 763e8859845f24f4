import type { Shape } from "../envelope.ts";

/** Whether TiCDC's Avro has added a column to the row. */
export function isExtension(name: string): boolean {
  return name.startsWith("_tidb_");
}

/** Recognises a row with TiDB's extension columns. */
export function recogniseTicdcAvro({ fields }: Shape): string | null {
  const isExtended = fields !== null && ["_tidb_op", "_tidb_commit_ts"].every((name) => fields.includes(name));
  return isExtended ? "columns _tidb_op and _tidb_commit_ts" : null;
}
