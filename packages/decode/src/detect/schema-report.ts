import { BoundedMap } from "../bounded-map.ts";
import type { CdcEvent, TableName } from "../event.ts";
import type { SchemaListener, SchemaSeen } from "../schema-seen.ts";
import type { RecordReading } from "./record-reading.ts";

/** Reports one schema to the listener: once for each table that records with this schema are of. */
export class SchemaReport {
  readonly #listener: SchemaListener;
  readonly #seen: () => Omit<SchemaSeen, "table">;
  readonly #reportedFor: BoundedMap<string, true>;
  #isReported = false;

  constructor(listener: SchemaListener, maxTables: number, seen: () => Omit<SchemaSeen, "table">) {
    this.#listener = listener;
    this.#reportedFor = new BoundedMap(maxTables);
    this.#seen = seen;
  }

  /** A record without a table says nothing of a schema that was reported with one. */
  send(table: TableName | null): void {
    const name = table === null ? "" : JSON.stringify([table.database, table.schema, table.name]);
    if (this.#reportedFor.get(name) === undefined && (table !== null || !this.#isReported)) {
      this.#reportedFor.set(name, true);
      this.#isReported = true;
      this.#listener({ ...this.#seen(), table });
    }
  }
}

/** Reports the schemas of a record that has become these events. */
export function reportSchemas({ keyRoute, valueRoute }: RecordReading, events: readonly CdcEvent[]): void {
  if (keyRoute.report !== null || valueRoute.report !== null) {
    const table = tableOf(events);
    keyRoute.report?.send(table);
    valueRoute.report?.send(table);
  }
}

/** The table of a tombstone is that of its topic, which may have another name than the table of the topic's changes. */
function tableOf(events: readonly CdcEvent[]): TableName | null {
  for (const event of events) {
    if (event.kind === "change" || event.kind === "row" || event.kind === "truncate") {
      return event.table;
    }
  }
  return null;
}
