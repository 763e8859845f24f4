import { applyTo, type CdcEvent, type Columns, type TableName, UNAVAILABLE } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";
import { quoteTable } from "./quote.ts";
import type { Target } from "./tables.ts";

/** What is to happen to a row: its columns written, or it deleted. */
export interface PendingRow {
  readonly key: Columns;
  /** Null: deleted. A column that is UNAVAILABLE stays as the table has it. */
  readonly row: Columns | null;
  /** The row came into being here, so that the table has nothing to fill in what is UNAVAILABLE; what it has under the key is another row. */
  readonly isNew: boolean;
}

/** Changes to one table, the last of each row alone; emptied before them where the table was truncated among them. */
export interface PendingTable {
  readonly target: Target;
  readonly topic: string;
  readonly isTruncated: boolean;
  readonly rows: readonly PendingRow[];
}

interface OpenTable {
  readonly target: Target;
  readonly topic: string;
  isTruncated: boolean;
  readonly rows: Map<string, PendingRow>;
}

/** Where rows of a table are written; null where nowhere. */
export type TargetOf = (table: TableName) => Target | null;

/** By topic: the table that its changes were written to. */
export type ChangedTables = Map<string, string>;

/**
 * Reduces events to what they leave behind: of each row its last state, table by table, in the order in which tables are first met. What
 * counts is where they are written: a tombstone's table is only known by its topic, which says less of it than a change does, or has
 * another name.
 */
export function pendingTables(events: readonly CdcEvent[], targetOf: TargetOf, changed: ChangedTables): readonly PendingTable[] {
  const tables = new Map<string, OpenTable>();
  for (const event of events) {
    if (!("table" in event) || event.table === null) {
      continue;
    }
    const target = targetOf(event.table);
    if (target === null) {
      continue;
    }
    const { topic } = event.record;
    const name = quoteTable(target);
    if (event.kind === "change") {
      changed.set(topic, name);
    } else if (event.kind === "tombstone" && (changed.get(topic) ?? name) !== name) {
      continue; // of another table, whose delete came before it
    }
    const open = tables.get(name) ?? { target, topic, isTruncated: false, rows: new Map<string, PendingRow>() };
    tables.set(name, open);
    add(event, event.table, open);
  }
  return [...tables.values()].map(({ rows, ...table }) => ({ ...table, rows: [...rows.values()] }));
}

function add(event: CdcEvent, table: TableName, open: OpenTable): void {
  const { rows } = open;
  switch (event.kind) {
    case "change": {
      const key = keyOf(event.key, table);
      if (event.op === "delete") {
        put(rows, { key, row: null, isNew: false });
        return;
      }
      const moved = event.op === "update" ? movedFrom(event.before, key) : null;
      if (moved !== null) {
        put(rows, { key: moved, row: null, isNew: false });
      }
      put(rows, { key, row: event.after, isNew: event.op !== "update" || moved !== null });
      return;
    }
    case "row":
      put(rows, { key: keyOf(event.key, table), row: event.row, isNew: false });
      return;
    case "tombstone":
      // Behind a delete it says the same again; of a compacted topic of rows it is the delete.
      put(rows, { key: keyOf(event.key, table), row: null, isNew: false });
      return;
    case "truncate":
      rows.clear();
      open.isTruncated = true;
      return;
    default: // no other kind has a table
  }
}

function put(rows: Map<string, PendingRow>, pending: PendingRow): void {
  const name = nameOf(pending.key);
  const previous = rows.get(name);
  if (pending.row === null || previous === undefined) {
    rows.set(name, pending);
    return;
  }
  const isNew = pending.isNew || previous.isNew || previous.row === null;
  rows.set(name, { key: pending.key, row: pending.isNew ? pending.row : applyTo(pending.row, previous.row), isNew });
}

/** A key whose row now has another one: systems that write one event for it, not two. */
function movedFrom(before: Columns | null, key: Columns): Columns | null {
  if (before === null) {
    return null;
  }
  const names = Object.keys(key);
  const isKnown = names.every((name) => Object.hasOwn(before, name) && before[name] !== UNAVAILABLE && before[name] !== null);
  const old = Object.fromEntries(names.map((name) => [name, before[name]]));
  return isKnown && nameOf(old) !== nameOf(key) ? old : null;
}

function keyOf(key: unknown, table: TableName): Columns {
  if (typeof key !== "object" || key === null || key instanceof Uint8Array || Array.isArray(key) || Object.keys(key).length === 0) {
    throw new PostgresSinkError(
      "key-missing",
      `a change of ${table.name} has no key of named columns; give the source table a primary key, or its connector message.key.columns`,
    );
  }
  return key as Columns;
}

function nameOf(key: Columns): string {
  return JSON.stringify(Object.entries(key), (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
