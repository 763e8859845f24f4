import { BenchError } from "../../bench-error.ts";
import type { Database, DatabaseKind } from "../../load/database.ts";
import { quotedPath } from "../../leftovers/removers/database.ts";

/** The published table repeats its base rows so often. */
export const baseCopies = 40;
/** Rows of one statement: large enough to be quick, small enough for progress and Ctrl-C. */
const rowsPerInsert = 50_000;
/** The table's comment: `snapshot` adds rows to a table with such a comment alone. */
const commentText = /^made by cdc-bench: (\d+) rows from seed (\d+)$/;

export interface OrderTable {
  /** `schema.name` in PostgreSQL, `database.name` in MariaDB. */
  readonly path: string;
  readonly rows: number;
  readonly seed: number;
}

/** The statements that make the empty table. It is marked as ours before it holds a row. */
export function createStatements(kind: DatabaseKind, { path, rows, seed }: OrderTable): readonly string[] {
  const name = quotedPath({ kind }, path);
  const columns = columnTypes(kind).join(",\n  ");
  const comment = `made by cdc-bench: ${rows} rows from seed ${seed}`;
  return kind === "postgresql"
    ? [`create table ${name} (\n  ${columns}\n)`, `comment on table ${name} is '${comment}'`]
    : [`create table ${name} (\n  ${columns}\n) comment '${comment}'`];
}

function columnTypes(kind: DatabaseKind): readonly string[] {
  const isPostgres = kind === "postgresql";
  return [
    "id bigint not null primary key",
    "salesorderid integer not null",
    "salesorderdetailid integer not null",
    "carriertrackingnumber varchar(25)",
    "orderqty smallint not null",
    "productid integer not null",
    "specialofferid integer not null",
    "unitprice numeric(19, 4) not null",
    "unitpricediscount numeric(19, 4) not null",
    "linetotal numeric(38, 6) not null",
    `rowguid ${isPostgres ? "uuid" : "char(36)"} not null`,
    `modifieddate ${isPostgres ? "timestamp" : "datetime"} not null`,
  ];
}

/**
 * Inserts the rows from `from` up to `to`, counted from 0. Each value follows from the row's number and the seed, by arithmetic that both
 * databases have, so that all runs and both databases hold the same rows.
 */
export function insertStatement(kind: DatabaseKind, { path, rows, seed }: OrderTable, from: number, to: number): string {
  const base = Math.max(1, Math.ceil(rows / baseCopies));
  return kind === "postgresql" ? insertPostgres(path, seed, base, from, to) : insertMariadb(path, seed, base, from, to);
}

function insertPostgres(path: string, seed: number, base: number, from: number, to: number): string {
  return `insert into ${quotedPath({ kind: "postgresql" }, path)}
    select i + 1, 43659 + b / 4, b + 1, carrier, qty, 700 + b % 300, 1 + b % 16, price, discount, qty * price * (1 - discount),
      md5('sales order detail ${seed} ' || i)::uuid, timestamp '2011-05-31' + (b / 120 % 1200) * interval '1 day'
    from generate_series(${from}::bigint, ${to - 1}::bigint) as i,
      lateral (select i % ${base} as b) as numbered,
      lateral (select 1 + (b + ${seed}) % 12 as qty, (((b + ${seed}) * 7919) % 35782700 + 13282) / 10000.0000 as price,
        case when b % 20 = 0 then 0.0500 else 0.0000 end as discount,
        case when b % 5 = 4 then null else upper(concat(lpad(to_hex(b * 31 % 65536), 4, '0'), '-', lpad(to_hex(b * 17 % 65536), 4, '0'), '-',
          lpad(to_hex(b % 256), 2, '0'))) end as carrier) as detail`;
}

function insertMariadb(path: string, seed: number, base: number, from: number, to: number): string {
  return `insert into ${quotedPath({ kind: "mariadb" }, path)}
    select i + 1, 43659 + b div 4, b + 1, carrier, qty, 700 + b % 300, 1 + b % 16, price, discount, qty * price * (1 - discount),
      insert(insert(insert(insert(h, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'), date '2011-05-31' + interval (b div 120 % 1200) day
    from (select i, b, 1 + (b + ${seed}) % 12 as qty, cast((((b + ${seed}) * 7919) % 35782700 + 13282) as decimal(19, 4)) / 10000 as price,
        case when b % 20 = 0 then 0.0500 else 0.0000 end as discount,
        case when b % 5 = 4 then null else upper(concat(lpad(hex(b * 31 % 65536), 4, '0'), '-', lpad(hex(b * 17 % 65536), 4, '0'), '-',
          lpad(hex(b % 256), 2, '0'))) end as carrier, md5(concat('sales order detail ${seed} ', i)) as h
      from (select seq as i, seq % ${base} as b from seq_${from}_to_${to - 1}) as numbered) as detail`;
}

export interface FillOptions {
  readonly interrupt: AbortSignal;
  readonly onProgress: (rows: number) => void;
}

/** Makes the table and its rows. Ends early at the interrupt. Gives how many rows there are. */
export async function createOrderTable(database: Database, table: OrderTable, { interrupt, onProgress }: FillOptions): Promise<number> {
  for (const statement of createStatements(database.kind, table)) {
    await database.query(statement);
  }
  for (let from = 0; from < table.rows; from += rowsPerInsert) {
    if (interrupt.aborted) {
      return from;
    }
    const to = Math.min(from + rowsPerInsert, table.rows);
    await database.query(insertStatement(database.kind, table, from, to));
    onProgress(to);
  }
  await database.query(`analyze ${database.kind === "postgresql" ? "" : "table "}${quotedPath(database, table.path)}`);
  return table.rows;
}

/** What a database says of a table. */
export interface FoundTable {
  readonly rows: number;
  /** As `create-table` or `snapshot --rows` made it: rows may be added and deleted. Null if it is somebody else's. */
  readonly own: OrderTable | null;
}

/** Null if there is no such table. */
export async function findTable(database: Database, path: string): Promise<FoundTable | null> {
  const [schema, name] = partsOf(path);
  const isPostgres = database.kind === "postgresql";
  const [found] = await database.query(
    isPostgres
      ? "select coalesce(obj_description(c.oid, 'pg_class'), '') as comment from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')"
      : "select table_comment as comment from information_schema.tables where table_schema = ? and table_name = ?",
    [schema, name],
  );
  if (found === undefined) {
    return null;
  }
  const [counted] = await database.query(`select count(*) as n from ${quotedPath(database, path)}`);
  const [, rows, seed] = commentText.exec(String(found["comment"])) ?? [];
  return { rows: Number(counted?.["n"]), own: rows === undefined ? null : { path, rows: Number(rows), seed: Number(seed) } };
}

/** Deletes what was added to a table of ours after its rows. */
export async function deleteAdded(database: Database, { path, rows }: OrderTable): Promise<void> {
  await database.query(`delete from ${quotedPath(database, path)} where id > ${rows}`);
}

/** `schema.name` with the schema of the database if none is named. */
export function qualifiedPath(databaseUrl: string, kind: DatabaseKind, table: string): string {
  if (table.split(".").length === 2) {
    return table;
  }
  if (table === "" || table.includes(".")) {
    throw new BenchError("usage", `${table || "an empty name"} is no table: expected NAME or SCHEMA.NAME.`);
  }
  return `${kind === "postgresql" ? "public" : decodeURIComponent(new URL(databaseUrl).pathname.slice(1))}.${table}`;
}

function partsOf(path: string): readonly [schema: string, name: string] {
  const [schema = "", name = ""] = path.split(".");
  return [schema, name];
}
