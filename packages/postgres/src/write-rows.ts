import { type Columns, UNAVAILABLE } from "@cdckit/decode";
import { checkOf } from "./check-of.ts";
import { withoutScale } from "./column-type.ts";
import { PostgresSinkError, tableAltered } from "./errors.ts";
import { checkNullKeys } from "./null-keys.ts";
import type { PendingRow } from "./pending-rows.ts";
import { quoteName, quoteTable } from "./quote.ts";
import { withColumn } from "./refused-column.ts";
import { groupsOf, type RowGroup } from "./row-groups.ts";
import { isAsRemembered, type TableColumns, type Target } from "./table-columns.ts";
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
  const groups = groupsOf(target, rows, columns);
  await checkNullKeys(statements, target, groups);
  for (const group of groups) {
    const isMoved = await writeGroup(statements, target, columns, group, options);
    if (isMoved) {
      return; // with its other columns: the row is the only one
    }
  }
}

/** Whether it was a move, and the row has moved. */
async function writeGroup(
  statements: Statements,
  target: Target,
  columns: TableColumns,
  group: RowGroup,
  options: WriteOptions,
): Promise<boolean> {
  const { kind, keyNames, names, rows: sameShape, oldKey } = group;
  switch (kind) {
    case "move": {
      const set = settable(names, keyNames, columns);
      const { rowCount } = await send([...keyNames, ...keyNames, ...set], moveText(target, group, set, columns), [
        ...arraysOf(target, keyNames, oldKey === undefined ? [] : [oldKey], columns),
        ...arraysOf(target, [...keyNames, ...set], sameShape, columns),
      ]);
      return rowCount !== 0;
    }
    case "delete":
      await send(keyNames, deleteText(target, group, columns));
      break;
    case "upsert":
    case "insert-without":
      await upsert();
      break;
    case "update":
    case "partial": {
      const set = settable(names, keyNames, columns);
      const { rowCount } = await send([...keyNames, ...set], updateText(target, group, set, columns));
      if (rowCount !== sameShape.length) {
        await upsert();
      }
    }
  }
  return false;

  /** The columns are those that the text names, in its order. What writes rows writes none if the table was altered. */
  async function send(
    bound: readonly string[],
    text: string,
    values = arraysOf(target, bound, sameShape, columns),
  ): Promise<{ readonly rowCount: number | null }> {
    try {
      const result = await statements.query({ text, values });
      if (result.rowCount === 0 && kind !== "delete") {
        await checkAsRemembered(statements, target, columns);
      }
      return result;
    } catch (error) {
      throw await withColumn(error, statements, { target, names: bound, values, rows: sameShape, columns });
    }
  }

  async function upsert(): Promise<void> {
    if (options.refusesIncomplete && (kind === "update" || kind === "insert-without")) {
      throw rowIncomplete(target, columns, sameShape[0]);
    }
    if (names.length === 0) {
      throw new PostgresSinkError("schema-mismatch", `${quoteTable(target)} generates every column that a row came with`);
    }
    await send(names, upsertText(target, names, keyNames, columns));
  }
}

async function checkAsRemembered(statements: Statements, target: Target, columns: TableColumns): Promise<void> {
  const { rows } = await statements.query({ text: `select ${isAsRemembered(target, columns)} as is_so` });
  if (rows[0]?.["is_so"] !== true) {
    throw tableAltered(target);
  }
}

function rowIncomplete(target: Target, columns: TableColumns, row: Columns | undefined): PostgresSinkError {
  const lacking = [...columns.keys()].filter((name) => row?.[name] === UNAVAILABLE);
  return new PostgresSinkError(
    "row-incomplete",
    `a row of ${quoteTable(target)} came without ${lacking.map(quoteName).join(", ")}, and the table does not have it: the source left out large ` +
      "values that an update did not change, also if it changed the primary key and came as a delete and a create (REPLICA IDENTITY FULL makes " +
      "PostgreSQL send them), or earlier changes were not read",
  );
}

/** What a column is taken for that the table does not have. */
const anyText = Object.freeze({ type: "text", hasPlainTexts: true, maxScale: null, keptLength: null, keptUnits: null });

function arraysOf(target: Target, names: readonly string[], rows: readonly Columns[], columns: TableColumns): (string | null)[][] {
  return names.map((name) => {
    const column = columns.get(name) ?? anyText;
    const check = checkOf(target, name, column);
    return rows.map((row) => {
      check(row[name]);
      return valueText(row[name], column.type, column.hasPlainTexts);
    });
  });
}

/** Each column is one list of texts, cast to the column's type, so that the statement is the same for any number of rows. */
function unnested(names: readonly string[]): string {
  const lists = names.map((_, i) => `$${i + 1}::text[]`);
  return `unnest(${lists.join(", ")}) as u(${names.map((_, i) => `c${i}`).join(", ")})`;
}

function typed(names: readonly string[], columns: TableColumns): readonly string[] {
  return names.map((name, i) => cast(`u.c${i}`, columns.get(name)?.type));
}

/** Money is read by `lc_monetary`, and a point may stand between thousands there: 12.50 would be 1,250. A `numeric`, and a list of them, has one form everywhere. */
function cast(text: string, type = "text"): string {
  const direct = `${text}::${type}`;
  const byNumber = withoutScale(type);
  return byNumber === type ? direct : `case when ${text} ~ '^[-+.0-9eE{},"NUL]+$' then ${text}::${byNumber}::${type} else ${direct} end`;
}

/** Identity columns are inserted too: a new row gets the source's values. */
function upsertText(target: Target, names: readonly string[], keyNames: readonly string[], columns: TableColumns): string {
  const set = settable(names, keyNames, columns);
  const update = set.map((name) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(", ");
  return (
    `insert into ${quoteTable(target)} (${names.map(quoteName).join(", ")}) overriding system value ` +
    `select ${typed(names, columns).join(", ")} from ${unnested(names)} ` +
    `where ${isAsRemembered(target, columns)} on conflict (${keyNames.map(quoteName).join(", ")}) do ${set.length === 0 ? "nothing" : `update set ${update}`}`
  );
}

/** The columns that an update sets: not those of the key, and none that PostgreSQL lets only an insert write. */
function settable(names: readonly string[], keyNames: readonly string[], columns: TableColumns): readonly string[] {
  return names.filter((name) => !keyNames.includes(name) && columns.get(name)?.isIdentity !== true);
}

/**
 * Not an upsert, because PostgreSQL checks `not null` before it checks whether the row exists. If there is nothing to set, the rows are only
 * locked, so that their number tells whether they are there.
 */
function updateText(target: Target, group: RowGroup, set: readonly string[], columns: TableColumns): string {
  const names = [...group.keyNames, ...set];
  const types = typed(names, columns);
  if (set.length === 0) {
    return `select from ${quoteTable(target)} as t, ${unnested(names)} where ${sameKey("t", group, types, columns)} for no key update of t`;
  }
  const changes = set.map((name, i) => `${quoteName(name)} = ${types[group.keyNames.length + i]}`).join(", ");
  return `update ${quoteTable(target)} as t set ${changes} from ${unnested(names)} where ${sameKey("t", group, types, columns)} and ${isAsRemembered(target, columns)}`;
}

/**
 * If the table has another row of the new key, the changes come again: that row is what has become of this one. All columns are set at once, because
 * constraints may tie them to the key: a row that refers to itself still does.
 */
function moveText(target: Target, group: RowGroup, set: readonly string[], columns: TableColumns): string {
  const { keyNames } = group;
  const names = [...keyNames, ...keyNames, ...set];
  const types = typed(names, columns);
  const changed = types.slice(keyNames.length);
  const isOld = (row: string): string => sameKey(row, { keyNames, nullKeys: [] }, types, columns); // an old key is known only without nulls
  return (
    `update ${quoteTable(target)} as t set ${[...keyNames, ...set].map((name, i) => `${quoteName(name)} = ${changed[i]}`).join(", ")} ` +
    `from ${unnested(names)} where ${isOld("t")} and not exists (select from ${quoteTable(target)} as o where ${sameKey("o", group, changed, columns)} ` +
    `and not (${isOld("o")})) and ${isAsRemembered(target, columns)}`
  );
}

function deleteText(target: Target, group: RowGroup, columns: TableColumns): string {
  const { keyNames } = group;
  return `delete from ${quoteTable(target)} as t using ${unnested(keyNames)} where ${sameKey("t", group, typed(keyNames, columns), columns)}`;
}

/**
 * Every column of the key, also one that the table generates: without it, the condition is true for rows of other keys. Nothing equals null,
 * and an index knows `is null`, but not `is not distinct from`.
 */
function sameKey(
  row: string,
  { keyNames, nullKeys }: Pick<RowGroup, "keyNames" | "nullKeys">,
  values: readonly string[],
  columns: TableColumns,
): string {
  const same = keyNames.map((name, i) => {
    const column = `${row}.${quoteName(name)}`;
    const { type, comparedAs = null } = columns.get(name) ?? {};
    if (nullKeys.includes(name)) {
      return `${column} is null`;
    }
    // An index knows the own type alone, and the cast to it may cut off a text: then it is the key of another row.
    return comparedAs === null
      ? `${column} = ${values[i]}`
      : `${column} = (${values[i]})::${comparedAs} and ${column}::${type} = ${values[i]}`;
  });
  return same.join(" and ");
}
