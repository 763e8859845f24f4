import { BoundedMap } from "../bounded-map.ts";
import type { TableName } from "../event.ts";

/** The names of the tables come from senders, and may be long. */
const maxNameChars = 65_536;

/** What is known of each table; null: of records without a table. Bounded by the number of tables, and by the length of their names. */
export class ByTable<Value> {
  readonly #values: BoundedMap<string, Value>;

  constructor(maxTables: number) {
    this.#values = new BoundedMap(maxTables, maxNameChars, (name) => name.length);
  }

  get(table: TableName | null): Value | undefined {
    return this.#values.get(keyOf(table));
  }

  set(table: TableName | null, value: Value): void {
    this.#values.set(keyOf(table), value);
  }
}

function keyOf(table: TableName | null): string {
  return table === null ? "" : JSON.stringify([table.database, table.schema, table.name]);
}
