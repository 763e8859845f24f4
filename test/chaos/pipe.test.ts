import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import process from "node:process";
import { expect, test } from "vitest";
import { withKafka } from "../integration/stack.ts";
import { runPipeChaos } from "./pipe-chaos.ts";

const isBuilt = existsSync(new URL("../../packages/kafkajs/dist/index.js", import.meta.url)); // members run what users run
const minutes = process.env["CHAOS_MINUTES"];
const seconds = minutes === undefined ? 10 : Number(minutes) * 60;
const seed = Number(process.env["CHAOS_SEED"] ?? randomInt(2 ** 31));

const found = await withKafka(); // says why, where there is no Java; the broker of this test is one of its own
const skipReason = found.skip === false ? (isBuilt ? null : "the packages are not built: npm run build") : found.skip;

test.skipIf(skipReason !== null)(
  "pipe() writes every record once for readers of what is committed, whoever is killed, frozen or joins",
  { timeout: seconds * 1_000 + 400_000, meta: skipReason === null ? {} : { skipReason } },
  async ({ task }) => {
    const log = process.env["CHAOS_VERBOSE"] === undefined ? {} : { log: (line: string) => console.error(line) };
    const { violations, written, read, commits, faults, handedAfterFreeze } = await runPipeChaos({ seed, seconds, ...log });
    const what = Object.entries(faults).map(([name, count]) => `${count} ${name}`);
    task.meta.summary = `pipe() with seed ${seed}: ${written} records written, ${read} read, ${commits} commits; ${what.join(", ")}; ${handedAfterFreeze} handed on after freezes`;
    console.log(task.meta.summary);
    expect(violations).toEqual([]);
    expect(read).toBe(written);
    expect(commits).toBeGreaterThan(0);
  },
);
