import { type ColumnHintTexts, columnHintsOfTable } from "@cdckit/decode";
import { BenchError } from "../bench-error.ts";

interface ColumnRow {
  readonly name: string;
  readonly typeName: string;
  readonly length: number | null;
  readonly scale: number | null;
  /** The values of an enum with commas between, and a comma within one as `\,`; null for other types. */
  readonly allowed: string | null;
}

const columnsOfTable = `
  select column_name as name, udt_name as "typeName",
    coalesce(character_maximum_length, numeric_precision)::integer as length,
    coalesce(datetime_precision, numeric_scale)::integer as scale,
    (select string_agg(replace(e.enumlabel, ',', '\\,'), ',' order by e.enumsortorder) from pg_enum e
      join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace
      where n.nspname = udt_schema and t.typname = udt_name) as allowed
  from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`;

/** What asks the database. */
export interface DatabaseQuestions {
  query(sql: string, parameters: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** What the columns of a PostgreSQL table mean in messages of a Debezium connector with default modes. */
export async function hintsOfDatabase(database: DatabaseQuestions, table: string): Promise<ColumnHintTexts> {
  const [name = "", schema = "public"] = table.split(".").reverse();
  const rows = (await database.query(columnsOfTable, [schema, name])) as unknown as readonly ColumnRow[]; // as the statement names them
  if (rows.length === 0) {
    throw new BenchError("usage", `there is no table ${schema}.${name} in the database of --from: name it with --table SCHEMA.NAME.`);
  }
  return { ...columnHintsOfTable("postgresql", rows), ...enumHints(rows) };
}

/** An enum has a name of its own in each database: what tells it is that it lists its values. */
function enumHints(rows: readonly ColumnRow[]): ColumnHintTexts {
  return Object.fromEntries(
    rows.flatMap(({ name, allowed }) => (allowed === null ? [] : [[name, { name: "io.debezium.data.Enum", parameters: { allowed } }]])),
  );
}
