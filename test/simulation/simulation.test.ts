import process from "node:process";
import { expect, test } from "vitest";
import { type Outcome, simulate } from "./simulation.ts";

/** More of them: `SIMULATION_SCHEDULES=100000 SIMULATION_SEED=7 npx vitest run test/simulation`. */
const schedules = Number(process.env["SIMULATION_SCHEDULES"] ?? 1_000);
/** The first schedule's; those of the others follow it. */
const firstSeed = Number(process.env["SIMULATION_SEED"] ?? 1);
/** With one schedule, what happens in it. */
const trace = process.env["SIMULATION_TRACE"] === undefined ? null : (line: string): void => console.log(line);

test("whatever comes in whatever order, nothing is lost, overtaken or committed early, and what comes twice is explained", async ({
  task,
}) => {
  const totals = { done: 0, halted: 0, red: 0, records: 0, kills: 0, killsMidWork: 0, joins: 0, faultsMet: 0, repeats: 0, deadLetters: 0 };
  const failed: string[] = [];
  const before = process.cpuUsage();
  for (let seed = firstSeed; seed < firstSeed + schedules; seed++) {
    const outcome = await simulate(seed, { trace });
    count(totals, outcome);
    if (outcome.violations.length > 0) {
      failed.push(`${outcome.violations.slice(0, 3).join("\n  ")}\n  again: ${again(seed)}`);
    }
  }
  const { done, halted, red, records, kills, killsMidWork, joins, faultsMet, repeats, deadLetters } = totals;
  const { user, system } = process.cpuUsage(before);
  task.meta.summary =
    `simulation: ${schedules} schedules from seed ${firstSeed} in ${Math.round((user + system) / 1e6)} s of a core, ${failed.length} wrong; ${records} records, ${kills} kills (${killsMidWork} amid work), ` +
    `${joins} joins, ${faultsMet} faults, ${deadLetters} dead letters, ${repeats} explained repeats; ${done} done, ${halted} halted with cause, ${red} red`;
  expect(failed.slice(0, 10).join("\n"), `${failed.length} of ${schedules} schedules`).toBe("");
  if (schedules >= 1_000) {
    // Not for want of trying.
    expect(killsMidWork).toBeGreaterThan(kills * 0.1);
    expect(Math.min(kills, faultsMet, repeats, deadLetters)).toBeGreaterThan(schedules / 10);
    expect(done).toBeGreaterThan(schedules * 0.85);
  }
}, 7_200_000);

/** Found among 200,000 by one thing that was wrong each; a plan that is drawn otherwise makes others of them. */
test.each([
  { seed: 20_004_282, what: "the group was moved past a lost range before the records that were taken before it were read" },
  { seed: 8_652, what: "a member went on at an end of the log that it could not read up to, and took the log for truncated" },
  { seed: 72_359, what: "a member that had left was made a zombie, and came back as a ghost" },
  { seed: 91_969, what: "the same while its leaving waited for a member that had crashed" },
  { seed: 11_934, what: "a drain waited for a lease that a driver which had failed did not renew any more" },
  { seed: 15_048, what: "batches of a partition that a sink had fenced were taken into memory, one after the other" },
  { seed: 56_218, what: "a drain waited until its deadline for a sink to which nobody handed on the end" },
  { seed: 65_146, what: "a transaction was committed after the end was judged" },
  { seed: 85_546, what: "the same beside handlers" },
  { seed: 143_211, what: "a dead letter was held against an assignment that never got its record" },
  { seed: 205_250, what: "a drain that wrote a refused batch record by record counted as one that hangs" },
  { seed: 206_842, what: "a delivery that was on its way to the reader of a stream counted as one that began later" },
  { seed: 304_624, what: "a record of which pipe() could make nothing was taken for a transaction that failed" },
  { seed: 413_483, what: "a frozen process was asked where partitions start of which it had not heard" },
  { seed: 421_904, what: "a drain went on after the group had gone on without its member" },
  { seed: 526_663, what: "the same in a process that was frozen when the drain was asked for" },
  { seed: 606_100, what: "the drain of a rebalance waited for the lease of a driver that had failed" },
  { seed: 618_445, what: "four rebalances in a row that each waited for a stalled drain counted as a partition that holds up others" },
  { seed: 631_035, what: "a delivery was on its way to the reader of a stream when its partition was lost" },
  { seed: 637_425, what: "a lost range was compared with the topic that was there when the member had drained" },
  { seed: 640_470, what: "a lost range was compared with what retention had taken until the member had drained" },
  { seed: 7_756, what: "a range that was lost while the member stopped moved its sinks' checkpoints afterwards" },
  { seed: 18_555, what: "the same, and the write was tried again until the process ended" },
])("seed $seed stays right, in which $what", async ({ seed }) => {
  expect((await simulate(seed)).violations).toEqual([]);
});

function count(totals: Record<string, number>, outcome: Outcome): void {
  const { end, records, kills, killsMidWork, joins, faultsMet, repeats, deadLetters } = outcome;
  for (const [name, value] of Object.entries({ [end]: 1, records, kills, killsMidWork, joins, faultsMet, repeats, deadLetters })) {
    totals[name] = (totals[name] ?? 0) + value;
  }
}

function again(seed: number): string {
  return `SIMULATION_SCHEDULES=1 SIMULATION_SEED=${seed} SIMULATION_TRACE=1 npx vitest run test/simulation/simulation.test.ts`;
}
