/** What the sink writes of random changes in random batches, against what the same statements make of the source's own table. */
import { type CdcEvent, type Columns, UNAVAILABLE } from "@cdckit/decode";
import { postgres, type PostgresOptions, type PostgresSink } from "@cdckit/postgres";
import { assert, asyncProperty, constantFrom, array, integer, record } from "fast-check";
import { expect, test } from "vitest";
import type pg from "pg";
import { ownPostgres } from "./own-postgres.ts";

const partition = Object.freeze({ topic: "shop.public.t", partition: 0, epoch: 1 });
const table = { schema: "public", name: "t" };
const { pool } = await ownPostgres();

interface Statement {
  readonly what: "insert" | "update" | "delete" | "rekey" | "replace";
  readonly id: number;
  readonly other: number;
  readonly n: number;
  readonly body: number;
  readonly changes: number;
  readonly endsBatch: number;
}

const bodies = [null, "a", "b", "c"];

const statement = record({
  what: constantFrom<Statement["what"]>("insert", "insert", "update", "update", "update", "delete", "rekey", "replace"),
  id: integer({ min: 1, max: 4 }),
  other: integer({ min: 1, max: 4 }),
  n: integer({ min: 1, max: 4 }),
  body: integer({ min: 0, max: 3 }),
  changes: integer({ min: 1, max: 7 }),
  endsBatch: integer({ min: 0, max: 4 }),
});

/** How a source writes one change of a row. */
type Writer = (before: Columns | null, after: Columns | null, keyNames: readonly string[]) => readonly CdcEvent[];

const keyIn = (row: Columns, names: readonly string[]): Columns => Object.fromEntries(names.map((name) => [name, row[name]]));
const eventOf = (op: string, key: Columns, before: Columns | null, after: Columns | null): CdcEvent =>
  ({ kind: "change", op, table, key, before, after, record: { topic: partition.topic } }) as unknown as CdcEvent;
const tombstone = (key: Columns): CdcEvent =>
  ({ kind: "tombstone", table: null, key, record: { topic: partition.topic } }) as unknown as CdcEvent;
const isSame = (one: Columns, other: Columns): boolean => JSON.stringify(one) === JSON.stringify(other);
const opOf = (before: Columns | null, after: Columns | null): string => (before === null ? "create" : after === null ? "delete" : "update");
const without = (row: Columns, isLeftOut: (name: string) => boolean): Columns =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !isLeftOut(name)));

const writers: Readonly<Record<string, Writer>> = {
  /** Maxwell: whole rows, and one event for a changed key. */
  whole: (before, after, names) => [eventOf(opOf(before, after), keyIn((after ?? before) as Columns, names), before, after)],
  /** GoldenGate: an update has the key and the changed columns. */
  changed: (before, after, names) => {
    const key = keyIn((after ?? before) as Columns, names);
    if (before === null || after === null) {
      return [eventOf(opOf(before, after), key, before, after)];
    }
    const old = keyIn(before, names);
    return [
      eventOf(
        "update",
        key,
        isSame(old, key) ? null : old,
        without(after, (name) => !names.includes(name) && before[name] === after[name]),
      ),
    ];
  },
  /** wal2json: no large value that did not change. */
  "without large values": (before, after, names) => {
    const key = keyIn((after ?? before) as Columns, names);
    return before === null || after === null
      ? [eventOf(opOf(before, after), key, before, after)]
      : [
          eventOf(
            "update",
            key,
            keyIn(before, names),
            without(after, (name) => name === "body" && before["body"] === after["body"]),
          ),
        ];
  },
  /** The same, said. */
  unavailable: (before, after, names) => {
    const key = keyIn((after ?? before) as Columns, names);
    return before === null || after === null
      ? [eventOf(opOf(before, after), key, before, after)]
      : [eventOf("update", key, keyIn(before, names), before["body"] === after["body"] ? { ...after, body: UNAVAILABLE } : after)];
  },
  /** Debezium: a delete, a tombstone and a create for a changed key. */
  debezium: (before, after, names) => {
    if (before === null) {
      return [eventOf("create", keyIn(after as Columns, names), null, after)];
    }
    const old = keyIn(before, names);
    if (after === null) {
      return [eventOf("delete", old, before, null), tombstone(old)];
    }
    const key = keyIn(after, names);
    return isSame(old, key)
      ? [eventOf("update", key, null, before["body"] === after["body"] ? { ...after, body: UNAVAILABLE } : after)]
      : [eventOf("delete", old, before, null), tombstone(old), eventOf("create", key, null, after)];
  },
};

const shapes: Readonly<Record<string, { readonly keyNames: readonly string[]; readonly ddl: string; readonly more?: string }>> = {
  plain: { keyNames: ["id"], ddl: "id int primary key, n int, parent int, body text" },
  unique: { keyNames: ["id"], ddl: "id int primary key, n int unique, parent int, body text" },
  "unique, with a default": {
    keyNames: ["id"],
    ddl: "id int primary key, n int unique, parent int, body text",
    more: "own text not null default 'x'",
  },
  "self-referring": { keyNames: ["id"], ddl: "id int primary key, n int not null, parent int references %.t, body text" },
  generated: {
    keyNames: ["id"],
    ddl: "id int primary key, n int unique, parent int references %.t, body text",
    more: "twice int generated always as (n * 2) stored",
  },
  "two columns": { keyNames: ["id", "n"], ddl: "id int, n int, parent int, body text unique, primary key (id, n)" },
  "no primary key": {
    keyNames: ["id"],
    ddl: "id int not null unique, n int, parent int, body text, exclude using gist (int4range(n, n + 2) with &&)",
  },
};

/** Runs the statement, and returns the events of it. None if PostgreSQL refuses it. */
async function run(
  client: pg.PoolClient,
  { what, id, other, n, body, changes }: Statement,
  write: Writer,
  keyNames: readonly string[],
): Promise<readonly CdcEvent[]> {
  const { rows } = await client.query<Columns>("select * from src.t where id = $1 order by n limit 1", [id]);
  const before = rows[0] ?? null;
  const where = before === null ? "" : keyNames.map((name) => `${name} = ${String(before[name])}`).join(" and ");
  const parent = (n + body) % 3 === 0 ? null : other;
  const text = bodies[body] ?? null;
  const sets = [
    ...(changes & 1 ? [`n = ${n}`] : []),
    ...(changes & 2 ? [`parent = ${parent}`] : []),
    ...(changes & 4 ? [`body = ${text === null ? "null" : `'${text}'`}`] : []),
  ];
  const values = `(${id}, ${n}, ${parent}, ${text === null ? "null" : `'${text}'`})`;
  await client.query("savepoint s");
  try {
    if (what === "insert") {
      if (before !== null && keyNames.length === 1) {
        return [];
      }
      const { rows: made } = await client.query<Columns>(`insert into src.t (id, n, parent, body) values ${values} returning *`);
      return write(null, made[0] as Columns, keyNames);
    }
    if (before === null) {
      return [];
    }
    if (what === "update" || what === "rekey") {
      const all = what === "rekey" ? [`id = ${other}`, ...sets.filter(() => changes !== 1)] : sets;
      const { rows: made } = await client.query<Columns>(`update src.t set ${all.join(", ")} where ${where} returning *`);
      return write(before, made[0] as Columns, keyNames);
    }
    await client.query(`delete from src.t where ${where}`);
    const gone = write(before, null, keyNames);
    if (what === "delete") {
      return gone;
    }
    const { rows: made } = await client.query<Columns>(`insert into src.t (id, n, parent, body) values ${values} returning *`);
    return [...gone, ...write(null, made[0] as Columns, keyNames)];
  } catch {
    await client.query("rollback to savepoint s");
    return [];
  }
}

async function sinkOf(options: PostgresOptions): Promise<PostgresSink> {
  const sink = postgres({ pool: pool as never, schema: "copy", ...options });
  await sink.claim("g", [partition]);
  return sink;
}

const cases = Object.keys(shapes).flatMap((shape) => Object.keys(writers).map((writer) => [shape, writer] as const));

test.each(cases)("a table that is %s is what its source is, whatever the batches are: %s", async (shape, writer) => {
  const { keyNames, ddl, more } = shapes[shape] as (typeof shapes)[string];
  const write = writers[writer] as Writer;
  await assert(
    asyncProperty(array(statement, { minLength: 2, maxLength: 24 }), async (statements) => {
      const inSchema = (schema: string, columns: string): string =>
        `create schema ${schema}; create table ${schema}.t (${columns.replaceAll("%", schema)});`;
      await pool.query(
        `drop schema if exists src, copy cascade; ${inSchema("src", ddl)} ${inSchema("copy", more === undefined ? ddl : `${ddl.replace("body text", `body text, ${more}`)}`)}`,
      );
      const client = await pool.connect();
      const batches: CdcEvent[][] = [[]];
      try {
        await client.query("begin");
        for (const each of statements) {
          batches.at(-1)?.push(...(await run(client, each, write, keyNames)));
          if (each.endsBatch === 0) {
            batches.push([]);
          }
        }
        await client.query("commit");
      } finally {
        client.release();
      }
      const sink = await sinkOf({});
      let nextOffset = 0n;
      for (const events of batches.filter(({ length }) => length > 0)) {
        nextOffset += BigInt(events.length);
        await sink.apply({ assignment: partition, events, nextOffset });
      }
      const rowsOf = async (schema: string): Promise<unknown> =>
        (await pool.query(`select id, n, parent, body from ${schema}.t order by 1, 2`)).rows;
      expect(await rowsOf("copy")).toEqual(await rowsOf("src"));
    }),
    { numRuns: 8 },
  );
});
