import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openCache } from "../../examples/cache-invalidation/cache.js";
import { exampleEnvironment, startExample, withStackForExamples } from "./example-service.ts";
import { missingForRedis, startRedis } from "./redis-server.ts";

const found = await withStackForExamples();
const skipReason = found.skip !== false ? found.skip : missingForRedis();

interface Read {
  readonly status: number;
  readonly from: string | null;
  readonly price: string | undefined;
}

describe.skipIf(skipReason !== "")("the example of a cache", { meta: { skipReason } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};
  let database: pg.Client;

  beforeAll(async () => {
    if (found.skip !== false) return;
    database = new pg.Client({ ...found.part.postgres });
    await database.connect();
    await database.query(
      "insert into shop.products values (1, 'bolt', 1.50, 10), (2, 'nut', 2.50, 10), (9007199254740993, 'cog', 3.50, 10)",
    );
  });
  afterAll(() => database?.end());

  async function read(url: string, id: number): Promise<Read> {
    const response = await fetch(`${url}/products/${id}`);
    const row = (await response.json()) as { readonly price: string } | null;
    return { status: response.status, from: response.headers.get("x-read-from"), price: row?.price };
  }

  const untilRead = (url: string, id: number, wanted: Read): Promise<void> =>
    vi.waitFor(async () => expect(await read(url, id)).toEqual(wanted), { timeout: 60_000, interval: 20 });

  test("reads a row from Redis until it changes, and then the row as it is", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const service = await startExample("cache-invalidation", { ...env, REDIS_URL: redis.url });
    await untilRead(service.url, 1, { status: 200, from: "cache", price: "1.50" });
    expect(await redis.ask("GET", "products:1")).toContain('"price":"1.50"');

    await database.query("update shop.products set price = 1.75 where id = 1");
    await untilRead(service.url, 1, { status: 200, from: "cache", price: "1.75" });

    await database.query("delete from shop.products where id = 1");
    await untilRead(service.url, 1, { status: 404, from: "database", price: undefined });
    expect(await redis.ask("EXISTS", "products:1")).toContain(":0");
    expect(await (await fetch(`${service.url}/products/9007199254740993`)).json()).toMatchObject({ id: "9007199254740993", name: "cog" });
    expect((await fetch(`${service.url}/products/x`)).status).toBe(400);
    expect(await service.stop()).toBe(0);
  });

  test("never keeps an old row, while many read it and it changes, and after changes that it was not there for", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const service = await startExample("cache-invalidation", { ...env, REDIS_URL: redis.url });
    await untilRead(service.url, 2, { status: 200, from: "cache", price: "2.50" });
    let isChanging = true;
    const readers = Array.from({ length: 4 }, async () => {
      while (isChanging) await read(service.url, 2);
    });
    for (let cents = 0; cents < 60; cents++) {
      await database.query("update shop.products set price = 3 + $1::numeric / 100 where id = 2", [cents]);
    }
    isChanging = false;
    await Promise.all(readers);
    await untilRead(service.url, 2, { status: 200, from: "cache", price: "3.59" });
    expect(await redis.ask("GET", "products:2")).toContain('"price":"3.59"');
    expect(await service.stop()).toBe(0);

    await database.query("update shop.products set price = 4 where id = 2"); // while nobody listens
    const again = await startExample("cache-invalidation", { ...env, REDIS_URL: redis.url });
    const first = await read(again.url, 2);
    expect(first).toEqual({ status: 200, from: "database", price: "4.00" });
    await untilRead(again.url, 2, { status: 200, from: "cache", price: "4.00" });
    expect(await again.stop()).toBe(0);
  });

  test("does not let a slow reader put back a row that has changed since it was read", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const cache = await openCache(redis.url, () => {});
    const before = await cache.lastChangeOf("7");
    await cache.delete(new Set(["7"])); // after the reader has read the row, and before it sets the key
    await cache.set("7", "old", before);
    expect(await cache.get("7")).toBeNull();
    await cache.set("7", "new", await cache.lastChangeOf("7"));
    expect(await cache.get("7")).toBe("new");
    await cache.delete(new Set(["7"]));
    expect(await cache.get("7")).toBeNull();

    await cache.delete(new Set(["8"]));
    const afterOne = await cache.lastChangeOf("8");
    await redis.ask("DEL", "products:8:change"); // as at the end of its minute
    await cache.delete(new Set(["8"])); // after the reader has read the row
    await cache.set("8", "old", afterOne);
    expect(await cache.get("8")).toBeNull();
    await cache.close();
  });

  test("says how to get a Redis if none answers", async () => {
    await expect(startExample("cache-invalidation", { ...env, REDIS_URL: "redis://127.0.0.1:1" })).rejects.toThrow(
      /ended with 1.*no Redis answers at 127\.0\.0\.1:1\. Start one \(apt-get install redis-server/,
    );
  });
});
