import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import process from "node:process";
import { expect, test } from "vitest";
import { withStack } from "../integration/stack.ts";
import { type CopyReport, runCopy } from "./postgres-copy.ts";

const isBuilt = existsSync(new URL("../../packages/postgres/dist/index.js", import.meta.url)); // members run what users run
const kills = Number(process.env["COPY_KILLS"] ?? 5);
const seed = Number(process.env["CHAOS_SEED"] ?? randomInt(2 ** 31));

const found = await withStack();
const skipReason = found.skip === false ? (isBuilt ? null : "the packages are not built: npm run build") : found.skip;

test.skipIf(skipReason !== null)(
  "a copy of tables under load, whose members are killed, equals its source, and every change was applied once",
  { timeout: kills * 20_000 + 300_000, meta: skipReason === null ? {} : { skipReason } },
  async () => {
    if (found.skip !== false) throw new Error("unreachable: the test is skipped");
    const log = process.env["CHAOS_VERBOSE"] === undefined ? {} : { log: (line: string) => console.error(line) };
    const report = await runCopy(found.part, { seed, kills, ...log });
    console.log(summaryOf(report));
    expect(report.violations).toEqual([]);
    for (const { source, copy } of Object.values(report.tables)) {
      expect(copy).toBe(source);
    }
    // A run in which the kills hit nothing would prove nothing.
    expect(report.killsMidWork).toBeGreaterThanOrEqual(Math.floor(kills * 0.3));
  },
);

function summaryOf({ statements, transactions, events, kills: done, killsMidWork, batches, tables }: CopyReport): string {
  const rows = Object.entries(tables).map(([name, { copy }]) => `${name} ${copy.slice(0, copy.indexOf(","))}`);
  return (
    `copy with seed ${seed}: ${statements} statements in ${transactions} transactions, ${events} records applied in ${batches} transactions; ` +
    `${done} kills, ${killsMidWork} with work to do; ${rows.join(", ")}`
  );
}
