import type { CdcEvent, Columns } from "../../event.ts";

/** A row of the table by which Debezium is told what to do, and in which incremental snapshots leave their marks. */
export interface DebeziumSignal {
  readonly id: string;
  /** `execute-snapshot`, `snapshot-window-open`, `snapshot-window-close`, ... */
  readonly type: string;
  /** JSON text, or null. */
  readonly data: string | null;
}

/**
 * The signal that an event is of, or null. Where a connector captures its signal table, signals come among the changes of that table, as
 * rows like any other; who handles all tables alike leaves these out by asking here.
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

/** The order is fixed, and some databases have their names in capitals. */
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

/** Marks are inserted, and deleted where `incremental.snapshot.watermarking.strategy` is `insert_delete`. */
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
