import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleEnvironment, runExampleFile, startExample, withStackForExamples } from "./example-service.ts";

const root = join(import.meta.dirname, "../..");
const found = await withStackForExamples();

describe.skipIf(found.skip !== false)("the example of", { meta: { skipReason: String(found.skip) } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};
  let database: pg.Client;

  beforeAll(async () => {
    database = new pg.Client({ connectionString: env["DATABASE_URL"] });
    await database.connect();
  });
  afterAll(() => database?.end());

  const sql = (example: string, file: string) => database.query(readFileSync(join(root, "examples", example, file), "utf8"));

  test("a NestJS app keeps what its decorated methods get, answers probes, and ends well", async () => {
    const tsc = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", join(root, "examples/nestjs")], { encoding: "utf8" });
    expect([tsc.status, tsc.stdout]).toEqual([0, ""]);
    await sql("nestjs", "seed.sql");
    const app = await startExample("nestjs", env, "dist/main.js");
    await app.until("/stock", (stock) => expect(stock).toMatchObject([{ product: 1, pieces: 40 }, { product: 2 }, { product: 3 }]));
    await app.until("/readyz", (health, status) => expect([status, health]).toMatchObject([200, { ready: true }]));
    await database.query("update shop.stock set pieces = 4 where product = 1");
    await database.query("delete from shop.stock where product = 3");
    await app.until("/stock", (stock) =>
      expect(stock).toEqual([
        { product: 1, name: "bolt", pieces: 4 },
        { product: 2, name: "nut", pieces: 25 },
      ]),
    );
    const fewAreLeft = expect.objectContaining({ msg: "few are left", product: 1, pieces: 4 }) as unknown; // it is typed any
    await app.untilLogged((lines) => expect(lines).toContainEqual(fewAreLeft));
    await app.until("/healthz", (health, status) => expect([status, health]).toMatchObject([200, { live: true }]));
    expect(await app.stop()).toBe(0);
  });

  test("a function for Lambda is called again with what failed and what follows it, and books each payment once in its order", async () => {
    await database.query("insert into shop.payments values (1, 'Ada', 10.25), (2, 'Mallory', 7.00), (3, 'Ada', 0.50)");
    const service = await startExample("lambda-msk", { ...env, RETRY_PAUSE_MS: "10" });
    await service.until("/readyz", (answer, status) => expect([status, answer]).toEqual([200, { ready: true }]));
    await service.untilLogged((lines) => {
      const booked = lines.filter(({ msg }) => msg === "booked").map(({ id, amount, times }) => [id, amount, times]);
      expect(booked).toEqual([
        [1, "10.25", 1],
        [2, "7.00", 3],
        [3, "0.50", 1],
      ]);
      const answers = lines.flatMap(({ batchItemFailures }) => (batchItemFailures as readonly object[] | undefined) ?? []);
      expect(answers).toEqual([1, 1].map((offset) => ({ itemIdentifier: { partition: "av.shop.payments-0", offset } })));
    });
    expect(await service.stop()).toBe(0);
  });

  test("an outbox: an order and its event come together, and a transaction that fails gives neither", async () => {
    await sql("outbox", "tables.sql");
    runExampleFile("outbox", "seed.js", env);
    const service = await startExample("outbox", env);
    const place = (total: string) =>
      fetch(`${service.url}/orders`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ customer: "Ada", total }),
      });
    expect((await place("ten")).status).toBe(400);
    const { order } = (await (await place("12.50")).json()) as { order: number };
    const { order: other } = (await (await place("3.00")).json()) as { order: number };
    expect((await fetch(`${service.url}/orders/${order}`, { method: "DELETE" })).status).toBe(204);
    expect((await fetch(`${service.url}/orders/${order}`, { method: "DELETE" })).status).toBe(404); // and no event
    await service.until("/shipments", (shipments) =>
      expect(shipments).toEqual([
        { order, state: "cancelled", reason: "the customer has asked for it" },
        { order: other, customer: "Ada", total: "3.00", state: "to be sent" },
      ]),
    );
    expect((await database.query("select from outbox.events")).rowCount).toBe(0);
    await service.until("/readyz", (health, status) => expect([status, health]).toMatchObject([200, { ready: true }]));
    expect(await service.stop()).toBe(0);
  });
});
