/** `npm run chaos -- --minutes N --seed S [--kills N] [--concurrency N] [--driver NAME]`: real processes, really killed. Exits 1 if a promise was broken. */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { repositoryRoot, setUp, toolPath } from "./set-up.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    kills: { type: "string", default: "0" },
    concurrency: { type: "string", default: "1" },
    driver: { type: "string", default: "kafkajs" },
  },
});
setUp({ build: true });
if (values.driver === "confluent") {
  // `npm ci` removes it, and without it every member would end at once, for all the minutes.
  const { status: installed } = spawnSync(process.execPath, ["scripts/confluent-client.mjs"], { cwd: repositoryRoot, stdio: "inherit" });
  if (installed !== 0) {
    process.exit(1);
  }
}
console.log(`Chaos with --seed ${values.seed} for ${values.minutes} min with the driver ${values.driver}.`);
const { status } = spawnSync(toolPath("vitest"), ["run", "test/chaos"], {
  cwd: repositoryRoot,
  stdio: "inherit",
  env: {
    ...process.env,
    CHAOS_MINUTES: values.minutes,
    CHAOS_SEED: values.seed,
    CHAOS_CONCURRENCY: values.concurrency,
    CHAOS_DRIVER: values.driver,
    CHAOS_VERBOSE: "1",
    CHAOS_KILLS: values.kills,
  },
});
process.exitCode = status ?? 1;
