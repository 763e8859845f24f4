import { type Columns, UNAVAILABLE } from "@cdckit/decode";
import { holdsNumber, missingForm } from "./column-type.ts";
import { isPostgresSinkError, PostgresRefusal, PostgresSinkError } from "./errors.ts";
import type { PendingRow } from "./pending-rows.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { TableColumns, Target } from "./tables.ts";
import type { Statements } from "./transaction.ts";
import { valueText } from "./value-text.ts";

export interface WriteOptions {
  /**
   * Whether it is an error if a row lacks columns and is not in the table. It is none if rows may come again, because a later change may have
   * deleted the row.
   */
  readonly refusesIncomplete: boolean;
}

/** Deletes rows, then writes rows. Rows with the same columns are written by one statement, whatever their number. */
export async function writeRows(
  statements: Statements,
  target: Target,
  columns: TableColumns,
  rows: readonly PendingRow[],
  options: WriteOptions,
): Promise<void> {
  for (const { names, keyNames, kind, rows: sameShape } of groupsOf(rows, columns)) {
    const values = arraysOf(target, names, sameShape, columns);
    switch (kind) {
      case "delete":
        await send(deleteText(target, names, columns));
        break;
      case "upsert":
        await send(upsertText(target, names, keyNames, columns));
        break;
      case "insert-without":
        await insertWithout();
        break;
      case "update": {
        const { rowCount } = await send(updateText(target, names, keyNames, columns));
        if (rowCount !== sameShape.length) {
          await insertWithout();
        }
      }
    }

    async function send(text: string): Promise<{ readonly rowCount: number | null }> {
      try {
        return await statements.query({ text, values });
      } catch (error) {
        throw withColumn(error, target, names, sameShape, columns);
      }
    }

    async function insertWithout(): Promise<void> {
      if (options.refusesIncomplete) {
        const lacking = [...columns.keys()].filter((name) => sameShape[0]?.[name] === UNAVAILABLE).map(quoteName);
        throw new PostgresSinkError(
          "row-incomplete",
          `a row of ${quoteTable(target)} came without ${lacking.join(", ")}, and the table does not have it: the source left out large ` +
            "values that an update did not change (REPLICA IDENTITY FULL makes PostgreSQL send them), or earlier changes were not read",
        );
      }
      await send(upsertText(target, names, keyNames, columns));
    }
  }
}

/**
 * The error with the column whose texts its type does not read, if it is about a value (SQLSTATE class 22): PostgreSQL's own error names no column
 * then, and its message quotes the value.
 */
function withColumn(error: unknown, target: Target, names: readonly string[], rows: readonly Columns[], columns: TableColumns): unknown {
  if (!isPostgresSinkError(error) || !(error.cause instanceof PostgresRefusal) || !error.cause.code.startsWith("22")) {
    return error;
  }
  for (const name of names) {
    const type = columns.get(name) ?? "text";
    const form = rows.map((row) => missingForm(type, row[name])).find((found) => found !== null);
    if (form !== undefined) {
      return new PostgresSinkError(
        error.code,
        `${error.message.replace(/^\[[^\]]*\] /, "")}. ${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has a text that is ` +
          `no ${form}: alter the column to a type that reads it, or correct the source`,
        { cause: error.cause },
      );
    }
  }
  return error;
}

/** `update`: rows of the table with some columns UNAVAILABLE. `insert-without`: such rows that the table cannot have yet. */
type Kind = "delete" | "upsert" | "update" | "insert-without";

/** Rows that are written by one statement. */
interface Group {
  readonly kind: Kind;
  readonly keyNames: readonly string[];
  /** Columns that are UNAVAILABLE are left out, and so are those that the table lacks, because they are null in every row, or generates. */
  readonly names: readonly string[];
  readonly rows: Columns[];
}

function isWritten(columns: TableColumns, name: string): boolean {
  return (columns.get(name) ?? null) !== null;
}

/** Deletes come first: a row may have been deleted to make room for another one under a unique index. */
function groupsOf(rows: readonly PendingRow[], columns: TableColumns): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { key, row, isNew } of rows) {
    const all: Columns = row === null ? key : { ...key, ...row };
    const keyNames = Object.keys(key);
    let isComplete = true;
    const names: string[] = [];
    for (const name in all) {
      if (!isWritten(columns, name)) {
        continue;
      }
      if (all[name] === UNAVAILABLE) {
        isComplete = false;
      } else {
        names.push(name);
      }
    }
    const kind = row === null ? "delete" : isComplete ? "upsert" : isNew ? "insert-without" : "update";
    const id = JSON.stringify([kind, keyNames, names]);
    const group = groups.get(id);
    if (group === undefined) {
      groups.set(id, { kind, keyNames, names, rows: [all] });
    } else {
      group.rows.push(all);
    }
  }
  return [...groups.values()].sort((a, b) => Number(b.kind === "delete") - Number(a.kind === "delete"));
}

function arraysOf(target: Target, names: readonly string[], rows: readonly Columns[], columns: TableColumns): (string | null)[][] {
  return names.map((name) => {
    const type = columns.get(name) ?? "text";
    return rows.map((row) => {
      if (!holdsNumber(type, row[name])) {
        throw unfit(target, name, type, row[name]);
      }
      return valueText(row[name], type);
    });
  });
}

/** PostgreSQL would refuse the number, too, but its error has no column, and its message quotes the value. */
function unfit(target: Target, name: string, type: string, value: unknown): PostgresSinkError {
  const found = typeof value === "bigint" || Number.isInteger(value) ? "an integer out of its range" : "a number that is no integer";
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has ${found}: alter the column to numeric, or let the sink ` +
      "widen it (widen: true)",
  );
}

/** Each column is one list of texts, cast to the column's type, so that the statement is the same for any number of rows. */
function unnested(names: readonly string[]): string {
  const lists = names.map((_, i) => `$${i + 1}::text[]`);
  return `unnest(${lists.join(", ")}) as u(${names.map((_, i) => `c${i}`).join(", ")})`;
}

function typed(names: readonly string[], columns: TableColumns): readonly string[] {
  return names.map((name, i) => `u.c${i}::${columns.get(name)}`);
}

/** Identity columns are written too: they get the source's values. */
function upsertText(target: Target, names: readonly string[], keyNames: readonly string[], columns: TableColumns): string {
  const others = names.filter((name) => !keyNames.includes(name));
  const update = others.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(", ");
  return (
    `insert into ${quoteTable(target)} (${names.map(quoteName).join(", ")}) overriding system value ` +
    `select ${typed(names, columns).join(", ")} from ${unnested(names)} ` +
    `on conflict (${keyNames.map(quoteName).join(", ")}) do ${others.length === 0 ? "nothing" : `update set ${update}`}`
  );
}

/** Not an upsert, because PostgreSQL checks `not null` before it checks whether the row exists. */
function updateText(target: Target, names: readonly string[], keyNames: readonly string[], columns: TableColumns): string {
  const types = typed(names, columns);
  const set = names.flatMap((name, i) =>
    keyNames.includes(name) && names.length > keyNames.length ? [] : `${quoteName(name)} = ${types[i]}`,
  );
  const same = keyNames.map((name) => `t.${quoteName(name)} = ${types[names.indexOf(name)]}`);
  return `update ${quoteTable(target)} as t set ${set.join(", ")} from ${unnested(names)} where ${same.join(" and ")}`;
}

function deleteText(target: Target, names: readonly string[], columns: TableColumns): string {
  const types = typed(names, columns);
  const same = names.map((name, i) => `t.${quoteName(name)} = ${types[i]}`).join(" and ");
  return `delete from ${quoteTable(target)} as t using ${unnested(names)} where ${same}`;
}
