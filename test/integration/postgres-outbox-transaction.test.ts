import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inTransaction } from "../../examples/outbox/in-transaction.js";
import { type RunningPostgres, startPostgres } from "../../scripts/stack/postgres.mjs";

const dir = mkdtempSync(join(tmpdir(), "cdckit-outbox-"));
let server: RunningPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  server = await startPostgres({ dir });
  pool = new pg.Pool({ ...server.database, max: 1 });
  pool.on("error", () => {}); // the server ends idle connections when it is stopped
  await pool.query("create table orders (id int)");
});

afterAll(async () => {
  await pool.end();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("a connection that is lost in a transaction fails it alone, and the next one has another connection", async () => {
  const lost = inTransaction(pool, async (client) => {
    await client.query("insert into orders values (1)");
    await client.query("select pg_terminate_backend(pg_backend_pid())");
  });
  await expect(lost).rejects.toMatchObject({ code: "57P01" });
  expect(await inTransaction(pool, async (client) => (await client.query("select id from orders")).rows)).toEqual([]);
});

test("work that fails is rolled back, and its connection is used again without another listener", async () => {
  const failing = inTransaction(pool, async (client) => {
    await client.query("insert into orders values (2)");
    throw new Error("of the work");
  });
  await expect(failing).rejects.toThrow("of the work");
  const { rows, listeners } = await inTransaction(pool, async (client) => {
    const { rows } = await client.query("select id from orders");
    return { rows, listeners: client.listenerCount("error") };
  });
  expect([rows, listeners]).toEqual([[], 1]);
});
