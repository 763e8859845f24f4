import type { CdcEvent, TableName } from "../event.ts";
import type { SchemaListener, SchemaSeen } from "../schema-seen.ts";
import { isPromise, wrongAnswer } from "../user-answer.ts";
import { ByTable } from "./by-table.ts";
import type { SideRoute } from "./route.ts";

/** Reports one schema to the listener: once for each table that records with this schema are of. */
export class SchemaReport {
  readonly #listener: SchemaListener;
  readonly #seen: () => Omit<SchemaSeen, "table">;
  readonly #reportedFor: ByTable<true>;
  /** The table of the last record. Most records are of the same one. */
  #last: TableName | null | undefined = undefined;

  constructor(listener: SchemaListener, maxTables: number, seen: () => Omit<SchemaSeen, "table">) {
    this.#listener = listener;
    this.#reportedFor = new ByTable(maxTables);
    this.#seen = seen;
  }

  /** A record without a table says nothing of a schema that was reported with one. */
  send(table: TableName | null): void {
    if (this.#last !== undefined && (table === null || isSame(table, this.#last))) {
      return;
    }
    this.#last = table;
    if (this.#reportedFor.get(table) === undefined) {
      this.#reportedFor.set(table, true);
      const answer: unknown = this.#listener({ ...this.#seen(), table });
      if (isPromise(answer)) {
        throw wrongAnswer("onSchema", "return nothing", answer);
      }
    }
  }
}

function isSame(a: TableName, b: TableName | null): boolean {
  return a === b || (b !== null && a.name === b.name && a.schema === b.schema && a.database === b.database);
}

/** Reports the schemas of a record that has become these events. */
export function reportSchemas(key: SideRoute, value: SideRoute, events: readonly CdcEvent[]): void {
  if (key.report !== null || value.report !== null) {
    const table = tableOf(events);
    key.report?.send(table);
    value.report?.send(table);
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
