import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import process from "node:process";
import { expect, test } from "vitest";
import { withKafka } from "../integration/stack.ts";
import { fallIntoBlackHole } from "./black-hole.ts";
import { type ChaosReport, faults, runChaos } from "./chaos.ts";
import { runRecreatedChaos } from "./recreated-chaos.ts";
import { runStops } from "./stops.ts";

// Members are processes of their own: they run what users run.
const isBuilt = existsSync(new URL("../../packages/kafkajs/dist/index.js", import.meta.url));
const minutes = Number(process.env["CHAOS_MINUTES"] ?? 0.5);
const minKills = Number(process.env["CHAOS_KILLS"] ?? 4);
const stops = Number(process.env["CHAOS_STOPS"] ?? 6);
const seed = Number(process.env["CHAOS_SEED"] ?? randomInt(2 ** 31));
/** One record of a partition after the other and many of them at a time are two ways through the consumer: the seed takes one. */
const concurrency = Number(process.env["CHAOS_CONCURRENCY"] ?? (seed % 2 === 0 ? 1 : 8));

const found = await withKafka(); // says why, where there is no Java; the broker of these tests is one of its own, to be killed
const noBroker = found.skip === false ? null : found.skip;
const skipReason = noBroker ?? (isBuilt ? null : "the packages are not built: npm run build");
const meta = skipReason === null ? {} : { skipReason };
/** Nobody replaces the sockets of an application's own client, nor ends them at a stop. */
const hasOwnSockets = process.env["CHAOS_DRIVER"] === "kafkajs-own-client";
/** How a violation begins that is beyond a driver which may not end the sockets of its client. */
const lateStop = "a member was not gone";
const log = process.env["CHAOS_VERBOSE"] === undefined ? undefined : (line: string) => console.error(line);

// Beside each other, each with a broker of its own: all of them wait for most of their time.

test.skipIf(skipReason !== null)(
  "members are killed, frozen and cut off: nothing is lost, no key is reordered, and what comes again is explained",
  { timeout: minutes * 60_000 + minKills * 30_000 + 200_000, meta, concurrent: true },
  async ({ task }) => {
    const report = await runChaos({
      seed,
      minutes,
      minKills,
      ...(hasOwnSockets && { faults: faults.filter((fault) => fault !== "dead connections") }),
      consumer: concurrency === 1 ? {} : { delivery: { concurrency } },
      ...(log && { log }),
    });
    task.meta.summary = summaryOf(report);
    expect(report.violations.slice(0, 20)).toEqual([]);
    // A run in which the faults hit nothing would prove nothing.
    expect(report.killsMidWork).toBeGreaterThanOrEqual(minKills * 0.3);
    expect(report.freezesOutlasted).toBeGreaterThan(0);
    expect(report.holdsBesideOthers).toBeGreaterThan(0);
    expect(report.holdsJudged).toBeGreaterThan(0);
  },
);

test.skipIf(skipReason !== null || hasOwnSockets)(
  "a member is gone in time after SIGTERM, whatever kafkajs is at and whatever the network does",
  { timeout: stops * 20_000 + 60_000, meta, concurrent: true },
  async ({ task }) => {
    const { slowestMs, late } = await runStops(stops, seed, log);
    task.meta.summary = `${stops} stops with seed ${seed}: the slowest took ${Math.round(slowestMs)} ms`;
    expect(late).toEqual([]);
  },
);

test.skipIf(skipReason !== null)(
  "a topic is deleted and created again while members work, stop, are killed or frozen: no record of the last one is skipped",
  { timeout: 400_000, meta, concurrent: true },
  async ({ task }) => {
    const consumer = { delivery: { commitIntervalMs: 20, concurrency } };
    const report = await runRecreatedChaos({ seed, consumer, ...(log && { log }) });
    const { violations, written, handled, faults, metLiveMembers, found, halted } = report;
    const what = Object.entries(faults).map(([name, count]) => `${count} ${name}`);
    task.meta.summary =
      `topics recreated with seed ${seed}, concurrency ${concurrency}: ${written} records written, ${handled} handled; ${what.join(", ")}; ` +
      `${metLiveMembers} recreations met live members, ${found} positions were of an older topic, ${halted} members halted`;
    const isBeyond = (violation: string): boolean => hasOwnSockets && violation.startsWith(lateStop); // its client retries for as long as it wants
    expect(violations.filter((violation) => !isBeyond(violation))).toEqual([]);
    // Recreations that no member has lived through would prove nothing.
    expect(metLiveMembers).toBeGreaterThan(0);
    expect(found).toBeGreaterThan(0);
  },
);

// Its consumer is in this process, and needs no build. Each of its waits says after a minute what did not come.
test.skipIf(noBroker !== null)(
  "a broker that answers everything but fetches turns health() red, with the reason, until it answers again",
  { timeout: 260_000, meta: noBroker === null ? {} : { skipReason: noBroker }, concurrent: true },
  async () => {
    expect(await fallIntoBlackHole()).toMatch(/rows\[0\] has [12] records to read, and nothing has moved for \d+ s/);
  },
);

function summaryOf({ produced, handled, duplicates, disturbances, killsMidWork, expulsions, losses, stalls }: ChaosReport): string {
  const faults = Object.entries(disturbances).map(([name, count]) => `${count} ${name}`);
  return (
    `chaos with seed ${seed}, concurrency ${concurrency}: ${produced} records written, ${handled} handled, ${duplicates} of them again; ` +
    `${faults.join(", ")}; ${killsMidWork} kills hit work in flight, the broker took ${expulsions} members out, and members lost partitions ${losses} times, and the machine stood still ${stalls} times`
  );
}
