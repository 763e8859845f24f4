import { PostgresSinkError } from "./errors.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { RowGroup } from "./row-groups.ts";
import type { Target } from "./table-columns.ts";
import type { Statements } from "./transaction.ts";

/**
 * Refuses a key with a null where the table tells nulls apart: an upsert would add a row each time, and a delete would take all of them. Asks
 * the database only if there is such a key, which no primary key has.
 */
export async function checkNullKeys(statements: Statements, target: Target, groups: readonly RowGroup[]): Promise<void> {
  for (const { keyNames, nullKeys } of groups) {
    if (nullKeys.length > 0 && !(await takesNullsAsEqual(statements, target, keyNames))) {
      throw new PostgresSinkError(
        "key-missing",
        `a change of ${quoteTable(target)} has null in ${nullKeys.map(quoteName).join(", ")} of its key: give the table a constraint ` +
          `unique nulls not distinct (${keyNames.map(quoteName).join(", ")}), or the source a key without nulls`,
      );
    }
  }
}

/** By a field of the index's row as JSON, because PostgreSQL before 15 has no such column. */
async function takesNullsAsEqual(statements: Statements, target: Target, keyNames: readonly string[]): Promise<boolean> {
  const { rows } = await statements.query({
    text:
      "select from pg_index i where indrelid = to_regclass($1) and indisunique and indisvalid and indpred is null " +
      "and (to_jsonb(i) ->> 'indnullsnotdistinct')::boolean and indnkeyatts = cardinality($2::text[]) and $2::text[] <@ " +
      "(select array_agg(attname::text) from pg_attribute where attrelid = indrelid and attnum = any ((indkey::int2[])[0:indnkeyatts - 1]))",
    values: [quoteTable(target), keyNames],
  });
  return rows.length > 0;
}
