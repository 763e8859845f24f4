import type { Columns } from "@cdckit/decode";
import { isJson, missingForm } from "./value-fit.ts";
import { isPostgresSinkError, PostgresRefusal, PostgresSinkError } from "./errors.ts";
import { quoteName, quoteTable } from "./quote.ts";
import { columnsOf, type TableColumns, type Target } from "./table-columns.ts";
import type { Statements } from "./transaction.ts";

/** What was bound by a statement that failed. */
export interface Bound {
  readonly target: Target;
  readonly names: readonly string[];
  /** By name: the texts of the column. */
  readonly values: readonly (readonly (string | null)[])[];
  readonly rows: readonly Columns[];
  readonly columns: TableColumns;
}

/**
 * The error with the column that refuses a value, if it is about a value (SQLSTATE class 22): PostgreSQL's own error names no column then, and its
 * message quotes the value. The transaction has failed, and is begun anew to ask for it: its owner rolls it back in any case.
 */
export async function withColumn(error: unknown, statements: Statements, bound: Bound): Promise<unknown> {
  if (!isPostgresSinkError(error) || !isAboutValue(error)) {
    return error;
  }
  const { target, columns } = bound;
  const what = (name: string): string =>
    `${error.message.replace(/^\[[^\]]*\] /, "")}. ${quoteTable(target)}: the column ${quoteName(name)} is ${columns.get(name)?.type ?? "text"}`;
  const mistaken = mistakenText(bound);
  if (mistaken !== null) {
    const [name, form] = mistaken;
    return rejected(
      error,
      `${what(name)}, and a row has a text that is no ${form}: alter the column to a type that reads it, or correct the source`,
    );
  }
  const name = await refusingColumn(statements, bound);
  return name === null
    ? error
    : rejected(error, `${what(name)}, and does not take the value of a row: ${adviceFor(error, columns.get(name)?.type)}`);
}

function adviceFor({ cause }: PostgresSinkError, type: string | undefined): string {
  if (cause instanceof PostgresRefusal && cause.code === noSuchCharacter) {
    return "no type of column takes such a text, so correct the source, or let failure.poison put such records aside";
  }
  // PostgreSQL keeps a document of json as its text, and takes that of jsonb apart.
  return `alter the column to ${type === "jsonb" ? "json" : "a type that holds it"}, or correct the source`;
}

/** PostgreSQL refuses the parameter, before any column's type reads it. */
const noSuchCharacter = "22021";

function rejected({ code, cause }: PostgresSinkError, detail: string): PostgresSinkError {
  return new PostgresSinkError(code, detail, { cause });
}

/** The column whose texts its type does not read, and what they are not. */
function mistakenText({ names, rows, columns }: Bound): readonly [name: string, form: string] | null {
  for (const name of names) {
    const { type, hasPlainTexts } = columns.get(name) ?? { type: "text", hasPlainTexts: true };
    const form =
      hasPlainTexts && isJson(type) ? undefined : rows.map((row) => missingForm(type, row[name])).find((found) => found !== null);
    if (form !== undefined && form !== null) {
      return [name, form];
    }
  }
  return null;
}

/**
 * Reads the texts of one column after the other as the table's own columns do, with their lengths and domains. Nothing is written. What the
 * transaction had made or widened is gone with it: such a column is read by its type alone.
 */
async function refusingColumn(statements: Statements, { target, names, values, columns }: Bound): Promise<string | null> {
  await statements.query({ text: "rollback; begin" });
  const present = await columnsOf(statements, target, new Set());
  for (const [i, name] of names.entries()) {
    try {
      await statements.query({ text: "rollback; begin" });
      const type = columns.get(name)?.type ?? "text";
      // A column of JSON takes any text as a part of a document, and says nothing of the document that is in it.
      const isOwn = !isJson(type) && present.get(name)?.type === type;
      const row = `jsonb_populate_record(null::${quoteTable(target)}, jsonb_build_object($2::text, c))`;
      const read = isOwn ? row : `c::${type}, $2::text`;
      await statements.query({ text: `select count((${read})) from unnest($1::text[]) as u(c)`, values: [values[i], name] });
    } catch (error) {
      return isAboutValue(error) ? name : null;
    }
  }
  return null;
}

function isAboutValue(error: unknown): boolean {
  return isPostgresSinkError(error) && error.cause instanceof PostgresRefusal && error.cause.code.startsWith("22");
}
