/** A database whose money is written as in Germany: "1.234,56 €". */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { CdcEvent, Columns } from "@cdckit/decode";
import { postgres } from "@cdckit/postgres";
import { afterAll, describe, expect, test } from "vitest";
import { ownPostgres } from "./own-postgres.ts";

const locales = mkdtempSync(join(tmpdir(), "cdckit-locales-"));
chmodSync(locales, 0o755); // the server may run as another user
const made = spawnSync("localedef", ["-i", "de_DE", "-f", "UTF-8", join(locales, "de_DE.UTF-8")], { encoding: "utf8" });
const skipReason = made.status === 0 ? "" : `localedef cannot make de_DE.UTF-8 here: ${made.error?.message ?? made.stderr}`;
const before = process.env["LOCPATH"];

afterAll(() => {
  rmSync(locales, { recursive: true, force: true });
});

describe.skipIf(skipReason !== "")("a column of money", { meta: { skipReason } }, async () => {
  process.env["LOCPATH"] = locales; // the server's, too
  const { pool } = await ownPostgres({ options: "-c lc_monetary=de_DE.UTF-8" });
  if (before === undefined) {
    delete process.env["LOCPATH"];
  } else {
    process.env["LOCPATH"] = before;
  }
  const partition = Object.freeze({ topic: "shop.public.orders", partition: 0, epoch: 1 });
  const created = (id: number, m: unknown, list: unknown): CdcEvent =>
    ({
      kind: "change",
      op: "create",
      table: { schema: "public", name: "orders" },
      key: { id },
      before: null,
      after: { id, m, list } as Columns,
      record: { topic: partition.topic },
    }) as unknown as CdcEvent; // what a sink reads

  test("has the amount of the message, whatever stands between thousands and before cents in the database", async () => {
    await pool.query("create schema copy; create table copy.orders (id int primary key, m money, list money[])");
    const sink = postgres({ pool: pool as never, schema: "copy" });
    await sink.claim("g", [partition]);
    const amounts = ["1234.56", "-0.01", "7", 12.5, 9_007_199_254_740_993n, null];
    await sink.apply({ assignment: partition, events: amounts.map((amount, id) => created(id, amount, [amount, null])), nextOffset: 6n });
    const { rows } = await pool.query("select m::numeric::text as m, list::numeric[]::text as list from copy.orders order by id");
    expect(rows).toEqual(
      ["1234.56", "-0.01", "7.00", "12.50", "9007199254740993.00", null].map((m) => ({ m, list: `{${m ?? "NULL"},NULL}` })),
    );
  });
});
