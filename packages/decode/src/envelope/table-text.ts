import type { TableName } from "../event.ts";

/** The table in a text `TABLE`, `SCHEMA.TABLE` or `DATABASE.SCHEMA.TABLE`. */
export function tableOfText(text: string): TableName {
  const parts = text.split(".");
  const name = parts.at(-1) ?? "";
  const schema = parts.at(-2);
  const database = parts.length > 2 ? parts.slice(0, -2).join(".") : undefined;
  return tableNamed(database, schema, name);
}

/** A table with what is known of its name. It is made for each record, so it is no literal, for the reason that `listWith` gives. */
export function tableNamed(database: string | undefined, schema: string | undefined, name: string): TableName {
  const table: { -readonly [Part in keyof TableName]?: string } = {};
  if (database !== undefined) {
    table.database = database;
  }
  if (schema !== undefined) {
    table.schema = schema;
  }
  table.name = name;
  return table as TableName;
}
