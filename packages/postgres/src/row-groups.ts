import { type Columns, UNAVAILABLE } from "@cdckit/decode";
import { PostgresSinkError } from "./errors.ts";
import type { PendingRow } from "./pending-rows.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { TableColumn, TableColumns, Target } from "./table-columns.ts";

/**
 * `update`: rows of the table with some columns UNAVAILABLE. `insert-without`: such rows that the table cannot have yet. `partial`: updated rows that
 * lack columns of the table. They need not be the source's columns, so a row that is not there is inserted. `move`: a row that gets another key,
 * the only one of its group.
 */
type Kind = "move" | "delete" | "upsert" | "update" | "insert-without" | "partial";

/** Rows that are written by one statement. */
export interface RowGroup {
  readonly kind: Kind;
  /** All columns of the key. The table has each of them, and may generate it. */
  readonly keyNames: readonly string[];
  /** The columns of the key that are null in every row. */
  readonly nullKeys: readonly string[];
  /**
   * The columns that are written; none of a delete. Columns that are UNAVAILABLE are left out, and so are those that the table generates, and
   * those that it lacks, because they are null in every row.
   */
  readonly names: readonly string[];
  readonly rows: Columns[];
  /** Of a move the key that the row had. */
  readonly oldKey?: Columns;
}

/**
 * Deletes come first: a row may have been deleted to make room for another one under a unique index. A move is before them, and the other groups of its
 * row are for a table that has no such row, or one of the new key: they delete the old row, and write the new one.
 */
export function groupsOf(target: Target, rows: readonly PendingRow[], columns: TableColumns): readonly RowGroup[] {
  const groups = new Map<string, RowGroup>();
  const written = [...columns.values()].filter(({ isGenerated }) => !isGenerated).length;
  for (const { key, row, isNew, isUpdate, isReplaced, movedFrom } of rows) {
    const keyNames = Object.keys(key);
    checkKey(target, key, keyNames, columns);
    if (row === null || isReplaced === true) {
      put(groups, { kind: "delete", keyNames, names: [] }, key);
    }
    if (row !== null) {
      const all = withKey(row, key, keyNames);
      const { names, isComplete } = writtenOf(target, all, columns);
      if (movedFrom !== undefined) {
        put(groups, { kind: "delete", keyNames, names: [] }, movedFrom);
      }
      if (movedFrom !== undefined && keyNames.every((name) => isSettable(columns.get(name)))) {
        put(groups, { kind: "move", keyNames, names, oldKey: movedFrom }, all);
      }
      const complete = isUpdate === true && names.length < written ? "partial" : "upsert";
      put(groups, { kind: isComplete ? complete : isNew ? "insert-without" : "update", keyNames, names }, all);
    }
  }
  const order: readonly Kind[] = ["move", "delete"];
  const placeOf = ({ kind }: RowGroup): number => (order.includes(kind) ? order.indexOf(kind) : order.length);
  return [...groups.values()].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Whether an update may set the column. */
function isSettable(column: TableColumn | undefined): boolean {
  return column?.isGenerated === false && !column.isIdentity;
}

function put(groups: Map<string, RowGroup>, shape: Pick<RowGroup, "kind" | "keyNames" | "names" | "oldKey">, row: Columns): void {
  const { kind, keyNames, names } = shape;
  const nullKeys = keyNames.filter((name) => row[name] === null);
  const id = JSON.stringify([kind, keyNames, nullKeys, names]);
  const group = groups.get(id);
  if (group === undefined) {
    groups.set(id, { ...shape, nullKeys, rows: [row] });
  } else {
    group.rows.push(row);
  }
}

/** The columns of the row that are written, and whether they are all that the table has a place for. */
function writtenOf(
  target: Target,
  row: Columns,
  columns: TableColumns,
): { readonly names: readonly string[]; readonly isComplete: boolean } {
  let isComplete = true;
  const names: string[] = [];
  for (const name in row) {
    const [column, value] = [columns.get(name), row[name]];
    if (column === undefined) {
      checkNothingLost(target, name, value);
    } else if (value === UNAVAILABLE) {
      isComplete &&= column.isGenerated;
    } else if (!column.isGenerated) {
      names.push(name);
    }
  }
  return { names, isComplete };
}

/** Columns that rows have values for were looked for before. A value that is left out nevertheless would be lost, and nobody would notice. */
function checkNothingLost(target: Target, name: string, value: unknown): void {
  if (value !== null && value !== undefined && value !== UNAVAILABLE) {
    throw new PostgresSinkError(
      "schema-mismatch",
      `${quoteTable(target)} has no column ${quoteName(name)}, and a row has a value for it: add it`,
    );
  }
}

/** Refuses a key that cannot be told whole: what is left of it is the key of other rows, too. */
function checkKey(target: Target, key: Columns, keyNames: readonly string[], columns: TableColumns): void {
  for (const name of keyNames) {
    if (!columns.has(name)) {
      throw new PostgresSinkError(
        "schema-mismatch",
        `${quoteTable(target)} has no column ${quoteName(name)}, which is part of the key of its rows: add it, and a unique constraint over the key`,
      );
    }
    if (key[name] === UNAVAILABLE) {
      throw new PostgresSinkError(
        "key-missing",
        `a change of ${quoteTable(target)} came without ${quoteName(name)}, which is part of its key: the source left out a large value`,
      );
    }
  }
}

/** The columns of the row and of its key. The key is known also where an update did not send a large value again. */
function withKey(row: Columns, key: Columns, keyNames: readonly string[]): Columns {
  const all: Columns = { ...key, ...row };
  return keyNames.some((name) => all[name] === UNAVAILABLE) ? { ...all, ...key } : all;
}
