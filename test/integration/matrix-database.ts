import pg from "pg";
import { connectorValues, type Connector, fillIn, readConnectors } from "../../scripts/stack/connectors.mjs";
import { runSql } from "../../scripts/stack/mariadb.mjs";
import type { MatrixColumn, Mode } from "./matrix-column.ts";
import { mariadbColumns } from "./matrix-mariadb-columns.ts";
import { postgresColumns } from "./matrix-postgres-columns.ts";
import type { SharedMariadb, SharedStack } from "./stack.ts";

/** The formats in which each connector writes: the name of its definition in docker/connectors. */
export const matrixFormats = ["json-with-schema", "confluent-avro"] as const;
export type MatrixFormat = (typeof matrixFormats)[number];

/** What SQL says: a row's id, then its columns. */
export type TrueRow = readonly (string | null)[];

/** A table with every column type of its database, and the connectors that follow it. */
export interface MatrixDatabase {
  readonly columns: readonly MatrixColumn[];
  /** Makes the table and its rows, and tells what SQL says of them. */
  fill(): Promise<readonly TrueRow[]>;
  /** Updates every row, without changing any of the columns. */
  touch(): Promise<void>;
  connector(mode: Mode, format: MatrixFormat): Connector;
  /** The topic of that connector. */
  topic(mode: Mode, format: MatrixFormat): string;
}

const table = "matrix.everything";

export function postgresMatrix(stack: SharedStack): MatrixDatabase {
  const columns = postgresColumns;
  const name = namesOf("pg");
  return {
    columns,
    fill: () =>
      withClient(stack, async (client) => {
        await client.query(`
          create schema matrix; create extension if not exists hstore; create extension if not exists citext; create extension if not exists ltree;
          create type matrix.mood as enum ('sad', 'so, so', 'happy'); create type matrix.pair as (a int, b text);
          create domain matrix.percentage as numeric(5, 2) check (value <= 100);`);
        await client.query(`${createTable(columns)}; alter table ${table} replica identity full`);
        for (const insert of inserts(columns)) await client.query(insert);
        const list = columns.map((column, i) => `${column.truth ?? `${column.name}::text`} as c${i}`);
        const { rows } = await client.query({ text: `select id::text, ${list.join(", ")} from ${table} order by id`, rowMode: "array" });
        return rows as TrueRow[];
      }),
    touch: () => withClient(stack, async (client) => void (await client.query(`update ${table} set touched = touched + 1`))),
    topic: (mode, format) => `${name(mode, format)}.${table}`,
    connector(mode, format) {
      const prefix = name(mode, format);
      const names = { "topic.prefix": prefix, "slot.name": prefix, "publication.name": prefix, "table.include.list": table };
      const rest = { "slot.drop.on.stop": "true", "include.unknown.datatypes": "true" };
      return { name: prefix, config: { ...definition(stack, format), ...names, ...rest, ...handling(mode) } };
    },
  };
}

export function mariadbMatrix(stack: SharedStack, mariadb: SharedMariadb): MatrixDatabase {
  const columns = mariadbColumns;
  const name = namesOf("my");
  return {
    columns,
    async fill() {
      const texts = columns.map((column) => `cast(${column.truth ?? column.name} as char)`);
      const printed = await runSql(
        mariadb,
        `create database matrix; ${createTable(columns)}; ${inserts(columns).join(";\n")};
        select json_array(cast(id as char), ${texts.join(", ")}) from ${table} order by id;`,
      );
      return printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as TrueRow);
    },
    touch: async () => void (await runSql(mariadb, `update ${table} set touched = touched + 1`)),
    topic: (mode, format) => `${name(mode, format)}.${table}`,
    connector(mode, format) {
      const prefix = name(mode, format);
      return { name: prefix, config: { ...converters(definition(stack, format)), ...mariadbConfig(mariadb, prefix), ...handling(mode) } };
    },
  };
}

function namesOf(database: string): (mode: Mode, format: MatrixFormat) => string {
  // Connect remembers where a connector of the same name has been.
  return ({ time, decimal }, format) => `${database}${process.pid}_${time}_${decimal}_${format === "confluent-avro" ? "av" : "js"}`;
}

function createTable(columns: readonly MatrixColumn[]): string {
  const list = columns.map(({ name, type }) => `${name} ${type}`);
  return `create table ${table} (id int primary key, touched int not null default 0, ${list.join(", ")})`;
}

/** As many rows as the longest list of values, and one of nulls. */
function inserts(columns: readonly MatrixColumn[]): string[] {
  const count = Math.max(...columns.map(({ values }) => values.length));
  const rows = Array.from({ length: count }, (_, i) => columns.map(({ values }) => values[i % values.length]).join(", "));
  return [...rows.map((row, i) => `insert into ${table} values (${i + 1}, 0, ${row})`), `insert into ${table} (id) values (${count + 1})`];
}

async function withClient<Result>({ postgres }: SharedStack, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ ...postgres });
  await client.connect();
  try {
    await client.query("set timezone = 'UTC'");
    return await work(client);
  } finally {
    await client.end();
  }
}

function definition({ postgres, converterUrl }: SharedStack, format: MatrixFormat): Connector["config"] {
  const found = readConnectors().find(({ name }) => name === format);
  if (found === undefined) throw new Error(`docker/connectors/${format}.json is gone`);
  return fillIn(found, connectorValues(postgres, converterUrl, table)).config;
}

/** What a definition says of formats and topics, without its database. */
function converters(config: Connector["config"]): Connector["config"] {
  return Object.fromEntries(Object.entries(config).filter(([key]) => /converter|adjustment|topic\.creation|poll|producer/.test(key)));
}

function mariadbConfig({ database }: SharedMariadb, prefix: string): Connector["config"] {
  return {
    "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
    "tasks.max": "1",
    "database.hostname": database.host,
    "database.port": String(database.port),
    "database.user": database.user,
    "database.password": database.password,
    "database.ssl.mode": "disable",
    "database.server.id": String(1000 + serverIds++), // each is a replica of its own
    "topic.prefix": prefix,
    "table.include.list": table,
    "include.schema.changes": "false",
    "schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory",
    "schema.history.internal.store.only.captured.tables.ddl": "true",
    "bigint.unsigned.handling.mode": "precise",
  };
}

let serverIds = 0;

function handling({ time, decimal }: Mode): Connector["config"] {
  return { "time.precision.mode": time, "decimal.handling.mode": decimal };
}
