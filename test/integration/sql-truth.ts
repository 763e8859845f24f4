import type pg from "pg";

/** A row in SQL's own words: column name to text. */
export type TruthRow = Readonly<Record<string, string | null>>;

/** A change of one row, as PostgreSQL sees it. */
export interface TrueChange {
  readonly op: "create" | "update" | "delete";
  readonly before: TruthRow | null;
  readonly after: TruthRow | null;
}

export interface TruthColumn {
  readonly name: string;
  /** In SQL, text or null. */
  readonly expression: string;
}

export interface TruthTable {
  readonly name: string;
  readonly keyColumns: readonly string[];
  readonly columns: readonly TruthColumn[];
}

/**
 * Runs a statement and tells what it changed, by asking PostgreSQL for the rows before and after it. Nothing of what Debezium sends is
 * looked at. Changes come in the order of the keys, or of the physical rows where there is no key: statements should change one row, or
 * insert.
 */
export async function changesOf(client: pg.Client, table: TruthTable, sql: string): Promise<TrueChange[]> {
  const before = await rowsOf(client, table);
  await client.query(sql);
  const after = await rowsOf(client, table);
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, row]): TrueChange => ({ op: "delete", before: row, after: null }));
  const rest = [...after].flatMap(([key, row]): TrueChange[] => {
    const old = before.get(key);
    if (old === undefined) return [{ op: "create", before: null, after: row }];
    return JSON.stringify(old) === JSON.stringify(row) ? [] : [{ op: "update", before: old, after: row }];
  });
  return [...gone, ...rest]; // a changed key is a delete, then an insert
}

async function rowsOf(client: pg.Client, { name, keyColumns, columns }: TruthTable): Promise<Map<string, TruthRow>> {
  const list = columns.map(({ name: column, expression }) => `${expression} as ${column}`).join(", ");
  const order = keyColumns.length === 0 ? "ctid" : keyColumns.join(", ");
  const { rows } = await client.query<Record<string, string | null>>(`select ${list} from ${name} order by ${order}`);
  // Rows without a key are told apart by what they hold.
  return new Map(rows.map((row) => [JSON.stringify(keyColumns.length === 0 ? row : keyColumns.map((column) => row[column])), row]));
}
