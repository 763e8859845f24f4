import { type Type, withoutNull } from "../encoding/type.ts";
import type { SchemaId } from "../schema-source.ts";
import type { SchemaListener } from "../schema-seen.ts";
import { resolveBounds } from "./bounds.ts";
import { RecentMap } from "../recent-map.ts";
import { type ColumnChange, diffTypes } from "./type-difference.ts";

/** A change of a table's columns, or of its key's columns, from one writer schema to the next. */
export interface SchemaChange {
  /** The name of the topic. */
  readonly topic: string;
  /** Whether the columns are those of keys or of rows. */
  readonly side: "key" | "value";
  /** Null if the message carries its schema itself. */
  readonly previousId: SchemaId | null;
  /** Null if the message carries its schema itself. */
  readonly nextId: SchemaId | null;
  /** The types of the rows. */
  readonly previous: Type;
  /** The type after the change; `previous` is the one before it. */
  readonly next: Type;
  /** Never empty. */
  readonly changes: readonly ColumnChange[];
}

/** Is called when the rows of a table have changed their type. */
export type SchemaChangeListener = (change: SchemaChange) => void;

/** The limits of {@link watchSchemas}. */
export interface WatchSchemasOptions {
  /**
   * The most tables of topics whose last schema is remembered.
   * @default 10_000
   */
  readonly maxSchemas?: number;
}

interface LastRow {
  readonly id: SchemaId | null;
  readonly row: Type;
  /** The rows that were compared. A schema comes once for each of its tables, and again after another schema's. */
  readonly compared: WeakSet<Type>;
}

/**
 * A listener for `createDecoder({ onSchema })` that reports changes of a table's columns before the first event with them. The first schema
 * of a table is not a change, and neither is a schema with the same row. Each schema is reported once: if producers of two versions write
 * at the same time, the change is reported once.
 */
export function watchSchemas(listener: SchemaChangeListener, options: WatchSchemasOptions = {}): SchemaListener {
  if (typeof listener !== "function") {
    throw new TypeError(`watchSchemas expects a function that gets the changes, got ${typeof listener}`);
  }
  const { maxSchemas } = resolveBounds({ maxSchemas: 10_000, ...options }, "watchSchemas");
  const lastRows = new RecentMap<string, LastRow>(maxSchemas);
  return ({ topic, side, schemaId, row }) => {
    if (row === null) {
      return;
    }
    const place = placeOf(topic, side, row);
    const last = lastRows.get(place);
    const compared = last?.compared ?? new WeakSet();
    if (compared.has(row)) {
      return;
    }
    lastRows.set(place, { id: schemaId, row, compared: compared.add(row) });
    const changes = last === undefined ? [] : diffTypes(last.row, row);
    if (last !== undefined && changes.length > 0) {
      listener({ topic, side, previousId: last.id, nextId: schemaId, previous: last.row, next: row, changes });
    }
  };
}

/** The key of a table's last schema. A topic may hold several tables, whose rows have different names. */
function placeOf(topic: string, side: "key" | "value", row: Type): string {
  const record = withoutNull(row);
  return JSON.stringify([topic, side, record.kind === "record" ? record.name : null]);
}
