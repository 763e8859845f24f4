import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ExampleService, exampleEnvironment, runExampleFile, startExample, withStackForExamples } from "./example-service.ts";

const folder = join(import.meta.dirname, "../../examples/replicate-postgres");
const found = await withStackForExamples();

/** Columns whose text differs by the zeros at the end of a numeric without a scale, which Debezium leaves out. */
const texts = {
  customers: "t::text",
  orders: "id, customer, state, placed_at, placed_ms, net, trim_scale(tax_rate), trim_scale(gross), contract",
  order_lines: "order_id, line, sku, quantity, trim_scale(price)",
  prices: "t::text",
};

describe.skipIf(found.skip !== false)("the example of a replica", { meta: { skipReason: String(found.skip) } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};
  let source: pg.Client;
  let replica: pg.Client;

  beforeAll(async () => {
    if (found.skip !== false) return;
    source = new pg.Client({ ...found.part.postgres });
    await source.connect();
    await source.query(readFileSync(join(folder, "seed.sql"), "utf8"));
    runExampleFile("replicate-postgres", "seed.js", env);
    replica = new pg.Client({ ...found.part.postgres, database: "replica" });
    await replica.connect();
    // Each write of a row in the replica: one that is applied again shows.
    await replica.query(`create table public.writes (order_id bigint, line smallint, what text);
      create function public.note() returns trigger language plpgsql as $$ begin
        insert into public.writes values (coalesce(new.order_id, old.order_id), coalesce(new.line, old.line), tg_op);
        return null;
      end $$;
      create trigger note after insert or update or delete on store.order_lines for each row execute function public.note()`);
  });
  afterAll(() => Promise.all([source?.end(), replica?.end()]));

  const start = (): Promise<ExampleService> => startExample("replicate-postgres", env);

  async function rowsOf(client: pg.Client, table: string, columns: string): Promise<readonly unknown[]> {
    const { rows } = await client.query({ text: `select ${columns} from store.${table} t order by t::text collate "C"`, rowMode: "array" });
    return rows.map((row) => JSON.stringify(row)).sort();
  }

  async function expectEqual(): Promise<void> {
    for (const [table, columns] of Object.entries(texts)) {
      expect(await rowsOf(replica, table, columns), table).toEqual(await rowsOf(source, table, columns));
    }
  }

  const untilEqual = (): Promise<void> => vi.waitFor(expectEqual, { timeout: 90_000, interval: 200 });

  function verify(waitS: number): { readonly status: number | null; readonly output: string } {
    const args = ["verify.js", String(waitS)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    return { status, output: stdout + stderr };
  }

  test("equals its source after the snapshot, whatever the types", async () => {
    const service = await start();
    await untilEqual();
    expect((await rowsOf(replica, "customers", "id")).length).toBe(201);
    expect((await rowsOf(replica, "orders", "id")).length).toBe(500);
    await service.until("/readyz", (health, status) => expect([status, health]).toMatchObject([200, { ready: true }]));
    await service.until("/healthz", (health, status) => expect([status, health]).toMatchObject([200, { live: true }]));
    await service.until("/lag", (lag) =>
      expect(lag).toEqual({ "store.customers": 0, "store.orders": 0, "store.order_lines": 0, "store.prices": 0 }),
    );
    expect(await service.stop()).toBe(0);
  });

  test("applies each change once, although it is killed in the middle of a transaction", async () => {
    const service = await start();
    await service.until("/lag", (lag) => expect(Object.keys(lag as object)).toHaveLength(4));
    await replica.query("truncate public.writes");
    await replica.query("begin; lock table store.order_lines in share mode"); // what is written to it waits
    const orders = await source.query<{ id: string }>(
      "insert into store.orders (customer, net, contract) select n, n, repeat('new ', 1000) from generate_series(1, 300) n returning id",
    );
    const ids = orders.rows.map(({ id }) => id);
    await source.query("insert into store.order_lines select id, 1, 'sku 1', 2, 0.5 from unnest($1::bigint[]) id", [ids]);
    await vi.waitFor(
      async () => {
        const sql = "select from pg_locks where not granted and relation = 'store.order_lines'::regclass";
        expect((await replica.query(sql)).rowCount).toBeGreaterThan(0);
      },
      { timeout: 60_000, interval: 50 },
    );
    expect(await service.stop("SIGKILL")).toBeNull();
    await replica.query("rollback");
    await source.query("update store.orders set state = 'sent' where id = any($1)", [ids]); // their contracts do not come again

    const again = await start();
    await untilEqual();
    const written = await replica.query("select count(*)::int as writes, count(distinct (order_id, line))::int as rows from public.writes");
    expect(written.rows).toEqual([{ writes: 300, rows: 300 }]);
    expect(await again.stop()).toBe(0);
  });

  test("follows deletes, truncates, other keys and other types, and columns that are new", async () => {
    const service = await start();
    await source.query(`
      delete from store.orders where id % 3 = 0;
      update store.order_lines set line = line + 100 where order_id % 5 = 0;
      update store.customers set id = id + 500000 where id between 10 and 20;
      truncate store.prices;
      insert into store.prices values ('sku 1', 2.50), ('sku 1000', 99999999.99);
      alter table store.order_lines alter column quantity type bigint, add column discount numeric(6, 2), add column notes jsonb;
      update store.order_lines set quantity = 9007199254740993, discount = 0.50, notes = '{"a": 1.0}' where order_id % 7 = 0;
      alter table store.orders drop column placed_ms;
      update store.orders set state = 'cancelled', tax_rate = 0.21 where id % 4 = 0`);
    Object.assign(texts, {
      orders: texts.orders.replace("placed_ms, ", ""),
      order_lines: `${texts.order_lines}, discount, notes`,
    });
    await untilEqual();
    const types = await replica.query(
      `select attname, format_type(atttypid, atttypmod) as type from pg_attribute
         where attrelid = 'store.order_lines'::regclass and attname in ('quantity', 'discount', 'notes') order by 1`,
    );
    expect(types.rows).toEqual([
      { attname: "discount", type: "numeric" },
      { attname: "notes", type: "json" },
      { attname: "quantity", type: "bigint" },
    ]);
    expect(verify(30)).toEqual({
      status: 0,
      output: expect.stringMatching(
        /^store\.customers +201 rows {2}equal\nstore\.orders +\d+ rows {2}equal\nstore\.order_lines +\d+ rows {2}equal\nstore\.prices +2 rows {2}equal\n$/,
      ),
    });
    expect(await service.stop()).toBe(0);
  });

  test("is verified by what both sides have: a row too many, one too few and one that differs are named by their keys", async () => {
    await replica.query(`insert into store.prices values ('invented', 1);
      update store.prices set price = price - 0.01 where sku = 'sku 1000';
      delete from store.customers where id = 9007199254740993`);
    const { status, output } = verify(0);
    expect(status).toBe(1);
    expect(output).toMatch(/^store\.customers +201 rows {2}1 differ\n {2}'9007199254740993': only in the source$/m);
    expect(output).toMatch(/^store\.orders +\d+ rows {2}equal$/m);
    expect(output).toMatch(/^store\.prices +2 rows {2}2 differ\n {2}'invented': only in the replica\n {2}'sku 1000': different values$/m);
    await source.query("alter table store.prices add column currency char(3) default 'EUR'");
    expect(verify(0).output).toMatch(/^store\.prices[^]* {2}the replica has no column currency$/m);
  });

  test("says how to get what is missing", () => {
    const away = { ...process.env, ...env, CONNECT_URL: "http://127.0.0.1:1", REPLICA_URL: "postgres://127.0.0.1:1/replica" };
    const verified = spawnSync(process.execPath, ["verify.js"], { cwd: folder, encoding: "utf8", env: away });
    expect([verified.status, verified.stderr]).toEqual([
      1,
      expect.stringMatching(/^the replica does not answer at 127\.0\.0\.1:1\/replica: [^]*set REPLICA_URL/),
    ]);
    const { REPLICA_URL: _, ...withReplica } = away;
    const seeded = spawnSync(process.execPath, ["seed.js"], { cwd: folder, encoding: "utf8", env: withReplica });
    expect(seeded.stderr).toMatch(
      /Kafka Connect does not answer at http:\/\/127\.0\.0\.1:1: start the stack \(npm run stack:up\), or set CONNECT_URL/,
    );
  });
});
