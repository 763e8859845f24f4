import type { TableName } from "@cdckit/decode";
import { ConsumerError } from "../errors.ts";

/** Which tables a handler takes. */
export type TablePattern =
  | { readonly kind: "any" }
  /** `schema.table`, or `database.table` where the source has no schemas. */
  | { readonly kind: "qualified"; readonly owner: string; readonly name: string }
  /** `database.schema.table`. */
  | { readonly kind: "exact"; readonly database: string; readonly schema: string; readonly name: string };

/** Reads `"*"`, `"inventory.orders"` or `"shop.inventory.orders"`. Throws a `ConsumerError` for anything else. */
export function parseTablePattern(text: string): TablePattern {
  if (text === "*") {
    return { kind: "any" };
  }
  const parts = text.split(".");
  const [first, second, third] = parts;
  if (parts.length > 3 || parts.includes("") || first === undefined || second === undefined) {
    throw new ConsumerError(
      "invalid-handler",
      `on() expects "schema.table", "database.table", "database.schema.table", "*" or the kind of a control event, got ${JSON.stringify(text)}`,
    );
  }
  return third === undefined
    ? { kind: "qualified", owner: first, name: second }
    : { kind: "exact", database: first, schema: second, name: third };
}

export function matchesTable(pattern: TablePattern, table: TableName): boolean {
  switch (pattern.kind) {
    case "any":
      return true;
    case "qualified":
      return table.name === pattern.name && (table.schema ?? table.database) === pattern.owner;
    case "exact":
      return table.name === pattern.name && table.schema === pattern.schema && table.database === pattern.database;
  }
}
