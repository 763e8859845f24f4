import type { CdcEvent, TableName } from "../../event.ts";
import { LogicalMessage } from "../control-events.ts";
import { type Change, openChange } from "../debezium/change.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { deltaforgeRow } from "./row.ts";
import { listWith } from "../../list-with.ts";

/**
 * The schema name of messages from `pg_logical_emit_message`, which belong to no table. The message's prefix is in place of the table's
 * name.
 */
const messageSchema = "__wal_message";

/** The events of a change that DeltaForge wrote; null if the operation is not known. */
export function openDeltaforgeChange(op: string, change: Change, table: TableName, origin: Origin): readonly CdcEvent[] | null {
  const { before = null, after = null } = change;
  if (table.schema === messageSchema) {
    return listWith(new LogicalMessage({ ...change, message: { prefix: table.name, content: Buffer.from(jsonOf(after)) } }, origin));
  }
  const isTyped = origin.route.schemaId !== null;
  return openChange(op, change, deltaforgeRow(before, isTyped), deltaforgeRow(after, isTyped), table, origin);
}

/** Writes the content of a message as JSON text again, because it was parsed together with the event. */
function jsonOf(value: unknown): string {
  if (typeof value === "bigint") {
    return value.toString();
  }
  if (Array.isArray(value)) {
    return `[${value.map(jsonOf).join(",")}]`;
  }
  return isBlock(value)
    ? `{${Object.keys(value)
        .map((name) => `${JSON.stringify(name)}:${jsonOf(value[name])}`)
        .join(",")}}`
    : (JSON.stringify(value) ?? "null");
}
