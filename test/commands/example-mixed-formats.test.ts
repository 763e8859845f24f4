import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { exampleEnvironment, runExampleFile, startExample, withStackForExamples } from "./example-service.ts";

const root = join(import.meta.dirname, "../..");
const found = await withStackForExamples();

interface Orders {
  readonly taken: Readonly<Record<string, readonly { readonly id: number }[]>>;
  readonly deadLettered: number;
}

describe.skipIf(found.skip !== false)("the example of mixed formats", { meta: { skipReason: String(found.skip) } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};

  beforeAll(async () => {
    if (found.skip !== false) return;
    const database = new pg.Client({ ...found.part.postgres });
    await database.connect();
    await database.query(readFileSync(join(root, "examples/mixed-formats/seed.sql"), "utf8"));
    await database.end();
    runExampleFile("mixed-formats", "seed.js", env);
  });

  test("gives one handler the same values from four formats, sets aside what fails, and takes it after a redrive", async () => {
    if (found.skip !== false) return;
    const order = (id: number, customer: string, quantity: number, price: string, placed_at: string): object => {
      return { id, customer, quantity, price, placed_at };
    };
    const three = [
      order(1, "Ada", 2, "10.50", "2026-01-31T08:00:00.5"),
      order(2, "Grace", 5, "3.20", "2026-01-31T08:05:00"),
      order(3, "Katherine", 12, "99.00", "2026-01-31T08:10:00"),
    ];
    const formats = (orders: readonly object[]): object => ({ "connect-json": orders, json: orders, avro: orders, protobuf: orders });

    const service = await startExample("mixed-formats", env);
    await service.until<Orders>("/orders", (answer) => expect(answer).toEqual({ taken: formats(three), deadLettered: 5 }));
    await service.until("/readyz", (health, status) => expect([status, health]).toMatchObject([200, { ready: true }]));
    await service.until("/healthz", (health, status) => expect([status, health]).toMatchObject([200, { live: true }]));
    expect(await service.stop("SIGINT")).toBe(0);

    const mended = await startExample("mixed-formats", { ...env, MAX_QUANTITY: "10000" });
    const args = [
      "redrive",
      "--brokers",
      found.part.brokers,
      "--topic",
      "mixed-formats.dead-letters",
      "--filter",
      "code=RangeError",
      "--json",
    ];
    const bench = join(root, "packages/cdc-bench/bin/cdc-bench.js");
    const redrive = spawnSync(process.execPath, [bench, ...args], { encoding: "utf8" });
    expect([redrive.status, JSON.parse(redrive.stdout)]).toMatchObject([0, { redriven: 4 }]);
    const fourth = [order(4, "Margaret", 5000, "0.10", "2026-01-31T08:15:00")];
    await mended.until<Orders>("/orders", (answer) => expect(answer).toEqual({ taken: formats(fourth), deadLettered: 0 }));
    expect(await mended.stop()).toBe(0);
  });
});
