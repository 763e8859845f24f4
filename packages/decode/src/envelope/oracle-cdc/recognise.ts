import type { Shape } from "../envelope.ts";

/** Columns that Confluent's Oracle CDC connector adds to the row. */
export const metaColumns: ReadonlySet<string> = new Set(["table", "scn", "op_type", "op_ts", "current_ts", "row_id", "username"]);

/** Recognises a row with the connector's columns. A message that has `pos` too is GoldenGate's. */
export function recogniseOracleCdc({ fields }: Shape): string | null {
  const isOracle =
    fields !== null && ["table", "scn", "op_type", "op_ts", "current_ts"].every((name) => fields.includes(name)) && !fields.includes("pos");
  return isOracle ? "columns table, scn, op_type, op_ts and current_ts" : null;
}
