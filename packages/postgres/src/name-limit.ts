import { PostgresSinkError } from "./errors.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { Target } from "./table-columns.ts";

/**
 * PostgreSQL keeps so many bytes of a name. It cuts off the rest with no more than a notice, so that a column is not found under its own name, and
 * two tables become one. https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS
 */
export const maxNameBytes = 63;

/** Whether PostgreSQL keeps the whole name. */
export function isKeptWhole(name: string): boolean {
  return Buffer.byteLength(name) <= maxNameBytes;
}

/** Refuses a table whose name, or whose schema's name, would be cut. */
export function checkTableName(target: Target): void {
  for (const [part, name] of [["schema", target.schema] as const, ["table", target.name] as const]) {
    if (!isKeptWhole(name)) {
      throw tooLong(`the name of the ${part} of ${quoteTable(target)}`, name, "name another one by tableFor");
    }
  }
}

/** Refuses columns whose names would be cut. */
export function checkColumnNames(target: Target, names: Iterable<string>): void {
  for (const name of names) {
    if (!isKeptWhole(name)) {
      throw tooLong(
        `the name of the column ${quoteName(name)} of ${quoteTable(target)}`,
        name,
        "the sink has no other names for columns, so rename it in the source or by a transformation of the connector, or leave the table out by tableFor",
      );
    }
  }
}

function tooLong(what: string, name: string, advice: string): PostgresSinkError {
  return new PostgresSinkError(
    "schema-mismatch",
    `expected names of at most ${maxNameBytes} bytes, because PostgreSQL cuts off the rest, but ${what} has ${Buffer.byteLength(name)}: ${advice}`,
  );
}
