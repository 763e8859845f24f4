import { type Columns, UNAVAILABLE } from "@cdckit/decode";
import type { PostgresClient } from "./options.ts";
import type { PendingRow } from "./pending-rows.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { TableColumns, Target } from "./tables.ts";
import { valueText } from "./value-text.ts";

/** Deletes what is gone, then writes what is there: one statement for the rows that have the same columns, whatever their number. */
export async function writeRows(client: PostgresClient, target: Target, columns: TableColumns, rows: readonly PendingRow[]): Promise<void> {
  const gone = rows.filter(({ row }) => row === null).map(({ key }) => key);
  for (const { names, rows: alike } of groupsOf(gone, columns)) {
    await client.query({ text: deleteText(target, names, columns), values: arraysOf(names, alike, columns) });
  }
  const written = rows.filter((pending): pending is PendingRow & { readonly row: Columns } => pending.row !== null);
  const keyNames = Object.keys(written[0]?.key ?? {});
  for (const { names, rows: alike } of groupsOf(
    written.map(({ key, row }) => ({ ...key, ...row })),
    columns,
  )) {
    await client.query({ text: upsertText(target, names, keyNames, columns), values: arraysOf(names, alike, columns) });
  }
}

interface Group {
  readonly names: readonly string[];
  readonly rows: Columns[];
}

/** Rows by the columns that they tell of: one that is UNAVAILABLE is not written, one that the table lacks is null throughout. */
function groupsOf(rows: readonly Columns[], columns: TableColumns): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const names = Object.keys(row).filter((name) => row[name] !== UNAVAILABLE && columns.has(name));
    const id = JSON.stringify(names);
    const group = groups.get(id);
    if (group === undefined) {
      groups.set(id, { names, rows: [row] });
    } else {
      group.rows.push(row);
    }
  }
  return [...groups.values()];
}

function arraysOf(names: readonly string[], rows: readonly Columns[], columns: TableColumns): (string | null)[][] {
  return names.map((name) => {
    const type = columns.get(name) ?? "text";
    return rows.map((row) => valueText(row[name], type));
  });
}

/** Every column comes as a list of texts, which its own type reads: the statement's text does not depend on how many rows there are. */
function unnested(names: readonly string[]): string {
  const lists = names.map((_, i) => `$${i + 1}::text[]`);
  return `unnest(${lists.join(", ")}) as u(${names.map((_, i) => `c${i}`).join(", ")})`;
}

function typed(names: readonly string[], columns: TableColumns): readonly string[] {
  return names.map((name, i) => `u.c${i}::${columns.get(name)}`);
}

function upsertText(target: Target, names: readonly string[], keyNames: readonly string[], columns: TableColumns): string {
  const others = names.filter((name) => !keyNames.includes(name));
  const update = others.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(", ");
  return (
    `insert into ${quoteTable(target)} (${names.map(quoteName).join(", ")}) select ${typed(names, columns).join(", ")} from ${unnested(names)} ` +
    `on conflict (${keyNames.map(quoteName).join(", ")}) do ${others.length === 0 ? "nothing" : `update set ${update}`}`
  );
}

function deleteText(target: Target, names: readonly string[], columns: TableColumns): string {
  const types = typed(names, columns);
  const same = names.map((name, i) => `t.${quoteName(name)} = ${types[i]}`).join(" and ");
  return `delete from ${quoteTable(target)} as t using ${unnested(names)} where ${same}`;
}
