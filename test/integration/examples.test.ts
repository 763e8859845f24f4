import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { withStack } from "./stack.ts";

const root = join(import.meta.dirname, "../..");
const quickstart = join(root, "examples/quickstart");
const copy = join(root, "examples/postgres-copy");
const found = await withStack();
const isBuilt = ["cdckit", "postgres"].every((name) => existsSync(join(root, "packages", name, "dist/index.js")));
const skipReason =
  found.skip !== false ? found.skip : isBuilt ? "" : "the packages are not built: run `npm test`, or `npm run build` first";

test("the quickstart service fits on a screen: under 40 lines", () => {
  expect(readFileSync(join(quickstart, "index.js"), "utf8").trimEnd().split("\n").length).toBeLessThan(40);
});

describe.skipIf(skipReason !== "")("the quickstart service, as a user runs it", { meta: { skipReason } }, () => {
  let id = 0;

  beforeAll(async () => {
    if (found.skip !== false) return;
    const client = new pg.Client({ ...found.part.postgres });
    await client.connect();
    const { rows } = await client.query<{ id: string }>(
      `insert into sales.salesorderdetail values (default, 1, 1, null, 3, 7, 1, 10.5, 0, 31.5, gen_random_uuid(), now()) returning id`,
    );
    id = Number(rows[0]?.id);
    await client.query("update sales.salesorderdetail set orderqty = 4 where id = $1", [id]);
    await client.query("delete from sales.salesorderdetail where id = $1", [id]);
    await client.end();
  });

  for (const prefix of ["av", "js", "jn"]) {
    test(`prints the changes of ${prefix}.sales.salesorderdetail until it is stopped, and ends well`, async () => {
      if (found.skip !== false) return;
      const env = { ...process.env, KAFKA_BROKERS: found.part.brokers, SCHEMA_REGISTRY_URL: found.part.registryUrl };
      const service = spawn(process.execPath, ["index.js", `${prefix}.sales.salesorderdetail`], {
        cwd: quickstart,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void service.kill("SIGKILL"));
      const ended = new Promise((resolve) => service.once("exit", resolve));
      const printed: string[] = [];
      for await (const line of createInterface({ input: service.stdout })) {
        printed.push(line);
        if (line === `- ${id}`) service.kill("SIGTERM");
      }
      expect(printed[0]).toBe(`following ${prefix}.sales.salesorderdetail on ${found.part.brokers}`);
      const price = prefix === "jn" ? "AZoo" : "10.5000"; // plain JSON does not say that this is a decimal
      expect(printed.slice(-3).map((line) => line.replace(/ = .*/, ""))).toEqual([
        `+ ${id}: 3 x ${price}`,
        `~ ${id}: 3 x ${price} -> 4 x ${price}`,
        `- ${id}`,
      ]);
      expect(await ended).toBe(0);
    });
  }
});

test("the example of a copy fits on a screen: under 40 lines", () => {
  expect(readFileSync(join(copy, "index.js"), "utf8").trimEnd().split("\n").length).toBeLessThan(40);
});

// Behind the quickstart, in one file: it changes the rows of the same table.
describe.skipIf(skipReason !== "")("the example of a copy, as a user runs it", { meta: { skipReason } }, () => {
  let database: pg.Client;

  beforeAll(async () => {
    if (found.skip !== false) return;
    database = new pg.Client({ ...found.part.postgres });
    await database.connect();
  });
  afterAll(() => database?.end());

  async function start(): Promise<{ readonly service: ChildProcess; readonly healthUrl: string }> {
    if (found.skip !== false) throw new Error("skipped");
    const { brokers, registryUrl, postgres } = found.part;
    const { user, password, host, port, database: name } = postgres;
    const env = {
      ...process.env,
      KAFKA_BROKERS: brokers,
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${name}`,
    };
    const service = spawn(process.execPath, ["index.js"], { cwd: copy, env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void service.kill("SIGKILL"));
    const lines = createInterface({ input: service.stdout });
    const first = await new Promise<string>((resolve) => lines.once("line", resolve));
    return { service, healthUrl: /http:\S+/.exec(first)?.[0] ?? "" };
  }

  async function change(rows: number): Promise<void> {
    await database.query(
      `insert into sales.salesorderdetail
         select nextval(pg_get_serial_sequence('sales.salesorderdetail', 'id')), 1, n, null, 3, 7, 1, 10.5, 0, 31.5, gen_random_uuid(), now()
         from generate_series(1, $1) n`,
      [rows],
    );
    await database.query("update sales.salesorderdetail set orderqty = orderqty + 1, unitprice = unitprice * 1.1 where id % 3 = 0");
    await database.query("delete from sales.salesorderdetail where id % 7 = 0");
  }

  async function rowsOf(table: string): Promise<string> {
    const sql = `select md5(coalesce(string_agg(r::text, ',' order by id), '')) || ' ' || count(*) as hash from (
      select id, salesorderid, orderqty, unitprice, linetotal, rowguid::text as rowguid from ${table}) r`;
    return (await database.query<{ hash: string }>(sql)).rows[0]?.hash ?? "";
  }

  test("is equal to its table by row hash, although it was killed in the middle", async () => {
    await change(500);
    const { service } = await start();
    await vi.waitFor(async () => expect((await database.query("select from copy.salesorderdetail limit 1")).rowCount).toBe(1), {
      timeout: 60_000,
      interval: 20,
    });
    await change(500);
    service.kill("SIGKILL");
    await change(200);
    const again = await start();
    await vi.waitFor(async () => expect(await rowsOf("copy.salesorderdetail")).toBe(await rowsOf("sales.salesorderdetail")), {
      timeout: 90_000,
      interval: 250,
    });
    const health = await fetch(again.healthUrl);
    expect([health.status, await health.json()]).toMatchObject([200, { ready: true }]);
    const ended = new Promise((resolve) => again.service.once("exit", resolve));
    again.service.kill("SIGTERM");
    expect(await ended).toBe(0);
  }, 180_000);
});
