import type { CdcEvent, Columns } from "../../event.ts";

/** A row of the signal table. Users write commands for Debezium into this table, and incremental snapshots write their marks into it. */
export interface DebeziumSignal {
  /** The id of the row, which the writer of the signal chose. */
  readonly id: string;
  /** `execute-snapshot`, `snapshot-window-open`, `snapshot-window-close`, ... */
  readonly type: string;
  /** JSON text, or null. */
  readonly data: string | null;
}

/**
 * The signal in an event, or null. If a connector captures its signal table, signals arrive as changes of that table. A handler that treats
 * all tables alike uses this function to leave them out.
 */
export function signalOf(event: CdcEvent): DebeziumSignal | null {
  const row = rowOf(event);
  const names = row === null ? [] : Object.keys(row);
  if (row === null || names.length !== columns.length || !names.every((name, i) => name.toLowerCase() === columns[i])) {
    return null;
  }
  const [id, type, data] = names.map((name) => row[name]);
  const isSignal = typeof id === "string" && typeof type === "string" && types.has(type);
  return isSignal ? { id, type, data: typeof data === "string" ? data : null } : null;
}

/** The columns of the signal table. Their order is fixed. Some databases write their names in capitals. */
const columns: readonly string[] = ["id", "type", "data"];

const types: ReadonlySet<string> = new Set([
  "execute-snapshot",
  "stop-snapshot",
  "pause-snapshot",
  "resume-snapshot",
  "snapshot-window-open",
  "snapshot-window-close",
  "schema-changes",
  "set-binlog-position",
  "log",
]);

/** The row of an event. Marks are inserted. They are also deleted if `incremental.snapshot.watermarking.strategy` is `insert_delete`. */
function rowOf(event: CdcEvent): Columns | null {
  switch (event.kind) {
    case "change":
      return event.after ?? event.before;
    case "row":
      return event.row;
    default:
      return null;
  }
}
