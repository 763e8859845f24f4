import type { TableName } from "../event.ts";

/** The table in a text `TABLE`, `SCHEMA.TABLE` or `DATABASE.SCHEMA.TABLE`. */
export function tableOfText(text: string): TableName {
  const parts = text.split(".");
  const name = parts.at(-1) ?? "";
  const schema = parts.at(-2);
  const database = parts.length > 2 ? parts.slice(0, -2).join(".") : undefined;
  return { ...(database === undefined ? {} : { database }), ...(schema === undefined ? {} : { schema }), name };
}
