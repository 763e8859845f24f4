import { type ColumnHintTexts, columnHintsOfTable } from "@cdckit/decode";
import { BenchError } from "../bench-error.ts";

interface ColumnRow {
  readonly name: string;
  readonly typeName: string;
  readonly length: number | null;
  readonly scale: number | null;
}

const columnsOfTable = `
  select column_name as name, udt_name as "typeName",
    coalesce(character_maximum_length, numeric_precision)::integer as length,
    coalesce(datetime_precision, numeric_scale)::integer as scale
  from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`;

/** What the columns of a PostgreSQL table mean in messages of a Debezium connector with default modes. The package pg asks for them. */
export async function hintsOfDatabase(url: string, table: string): Promise<ColumnHintTexts> {
  const [name = "", schema = "public"] = table.split(".").reverse();
  const { Client } = await loadPg();
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    const { rows } = await client.query<ColumnRow>(columnsOfTable, [schema, name]);
    if (rows.length === 0) {
      throw new BenchError("usage", `there is no table ${schema}.${name} in the database of --from: name it with --table SCHEMA.NAME.`);
    }
    return columnHintsOfTable("postgresql", rows);
  } catch (error) {
    if (error instanceof BenchError) {
      throw error;
    }
    // Its message may quote what was typed, password included: the code alone is told.
    const code = String((error as { readonly code?: unknown }).code ?? "no code");
    throw new BenchError("connection", `the database of --from could not be asked (${code}): check its address, user and password.`, {
      cause: error,
    });
  } finally {
    await client.end().catch(() => {}); // it may never have been connected
  }
}

async function loadPg(): Promise<typeof import("pg")> {
  try {
    return (await import("pg")).default as unknown as typeof import("pg"); // a CommonJS module: all its names are on the default
  } catch (cause) {
    throw new BenchError("usage", "to ask PostgreSQL the package pg is needed: npm install pg.", { cause });
  }
}
