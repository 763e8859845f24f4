/** `npm run chaos -- --minutes N --seed S [--kills N] [--concurrency N] [--driver NAME]`: real processes, really killed. Exits 1 if a promise was broken. */
import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { readArguments } from "./arguments.mjs";
import { linkConfluentClient, repositoryRoot, runHere, setUp } from "./set-up.mjs";

const usage = `usage: npm run chaos -- [--minutes N] [--seed S] [--kills N] [--concurrency N] [--driver NAME]

  --minutes N      how long members are killed, frozen and cut off (default 2)
  --seed S         of an earlier run, to repeat its order (default: another one each time)
  --kills N        how many members are killed at least
  --concurrency N  how many keys of a member are handled at a time (default 1)
  --driver NAME    kafkajs (default), platformatic or confluent`;

const { values } = readArguments(usage, {
  minutes: { type: "string", default: "2" },
  seed: { type: "string", default: String(randomInt(2 ** 31)) },
  kills: { type: "string" },
  concurrency: { type: "string", default: "1" },
  driver: { type: "string", default: "kafkajs" },
});
await setUp({ build: true });
if (values.driver === "confluent") {
  linkConfluentClient(); // `npm ci` removes it, and without it every member would end at once, for all the minutes
}
console.log(`Chaos with --seed ${values.seed} for ${values.minutes} min with the driver ${values.driver}.`);
// Whether the chaos still finds planted bugs is asked by itself (CHAOS_PLANTED=1): its tests would be skipped here.
const files = readdirSync(join(repositoryRoot, "test/chaos"))
  .filter((name) => name.endsWith(".test.ts") && name !== "planted-bugs.test.ts")
  .map((name) => `test/chaos/${name}`);
process.exitCode = await runHere(["scripts/demanded-tests.mjs", ...files], {
  cwd: repositoryRoot,
  env: {
    ...process.env,
    CHAOS_MINUTES: values.minutes,
    CHAOS_SEED: values.seed,
    CHAOS_CONCURRENCY: values.concurrency,
    CHAOS_DRIVER: values.driver,
    CHAOS_STOPS: process.env.CHAOS_STOPS ?? "12", // twice as many as `npm test` has time for
    CHAOS_VERBOSE: "1",
    ...(values.kills === undefined ? {} : { CHAOS_KILLS: values.kills }),
  },
});
