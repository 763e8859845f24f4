import { quoteName } from "./quote.ts";
import type { Statements } from "./transaction.ts";

/** Creates the schema if there is none. `if not exists` alone wants the right to create schemas also where there is nothing to create. */
export async function createSchema(statements: Statements, schema: string): Promise<void> {
  const { rows } = await statements.query({ text: "select to_regnamespace($1) is null as is_missing", values: [quoteName(schema)] });
  if (rows[0]?.["is_missing"] === true) {
    await statements.query({ text: `create schema if not exists ${quoteName(schema)}` });
  }
}
