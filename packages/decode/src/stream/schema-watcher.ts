import type { Type } from "../encoding/type.ts";
import type { TableName } from "../event.ts";
import type { SchemaId } from "../schema-source.ts";
import { resolveBounds } from "./bounds.ts";
import { RecentMap } from "./recent-map.ts";
import { type ColumnChange, diffTypes, rowTypeOf } from "./type-difference.ts";

/** The schema that a message was written with. */
export interface WriterSchema {
  readonly topic: string;
  readonly side: "key" | "value";
  /** The table that its rows belong to, or null where that is not known. */
  readonly table: TableName | null;
  /** Null where the message carries its schema itself. */
  readonly id: SchemaId | null;
  readonly type: Type;
}

/** The columns of a table changed on their way from one writer schema to the next. */
export interface SchemaChange {
  readonly topic: string;
  readonly side: "key" | "value";
  readonly table: TableName | null;
  readonly previousId: SchemaId | null;
  readonly nextId: SchemaId | null;
  readonly previous: Type;
  readonly next: Type;
  /** Never empty. */
  readonly changes: readonly ColumnChange[];
}

export type SchemaChangeListener = (change: SchemaChange) => void;

/** What a {@link SchemaWatcher} may remember. */
export interface SchemaWatcherOptions {
  /**
   * Rows of topics whose last schema is remembered.
   * @default 10_000
   */
  readonly maxSchemas?: number;
}

/**
 * Notices that the columns of a table changed. The first schema of a table is no change; nor is one whose row is the same. Where producers
 * of two schema versions write at once, each switch between them is a change.
 */
export class SchemaWatcher {
  readonly #last: RecentMap<string, WriterSchema>;

  constructor(options: SchemaWatcherOptions = {}) {
    const { maxSchemas } = resolveBounds({ maxSchemas: 10_000, ...options }, "SchemaWatcher");
    this.#last = new RecentMap(maxSchemas);
  }

  /** Takes the schema of the next message, and returns how its row differs from the one before, or null where it does not. */
  observe(schema: WriterSchema): SchemaChange | null {
    const place = placeOf(schema);
    const last = this.#last.get(place);
    if (last?.type === schema.type) {
      return null;
    }
    this.#last.set(place, schema);
    const changes = last === undefined ? [] : diffTypes(last.type, schema.type);
    if (last === undefined || changes.length === 0) {
      return null;
    }
    const { topic, side, table, id, type } = schema;
    return { topic, side, table, previousId: last.id, nextId: id, previous: last.type, next: type, changes };
  }
}

/** A topic may hold several tables: their rows have different names. */
function placeOf({ topic, side, table, type }: WriterSchema): string {
  return JSON.stringify([topic, side, table?.database, table?.schema, table?.name, rowTypeOf(type)?.name]);
}
