/**
 * `npm run test:brokers`: the contract of drivers on other brokers than those of `npm test`: each release of Kafka that scripts/stack/versions.mjs
 * names, as one broker and as three, with topics in each compression. On three brokers, one is also killed
 * and leaders move. The last lines say what passed.
 *
 * `--kafka 3.9 --brokers 3 --driver kafkajs,platformatic --compression gzip,none` takes a part of it.
 */
import process from "node:process";
import { readArguments, refuse } from "./arguments.mjs";
import { brokerRuns, clusterSizes, compressions, contractedDrivers, nameOf } from "./broker-runs.mjs";
import { noteResults } from "./guarantees.mjs";
import { linkConfluentClient, repositoryRoot, runHere, setUp } from "./set-up.mjs";
import { kafkaReleases } from "./stack/versions.mjs";

const usage = `usage: npm run test:brokers -- [--kafka RELEASE,...] [--brokers N,...] [--driver NAME,...] [--compression NAME,...]

  --kafka        of ${Object.keys(kafkaReleases).join(", ")}, or the first numbers of one (default: all)
  --brokers      of ${clusterSizes.join(", ")} (default: all)
  --driver       of ${contractedDrivers.join(", ")} (default: all)
  --compression  of ${compressions.join(", ")} (default: all)`;

const { values } = readArguments(usage, {
  kafka: { type: "string", default: Object.keys(kafkaReleases).join() },
  brokers: { type: "string", default: clusterSizes.join() },
  driver: { type: "string", default: contractedDrivers.join() },
  compression: { type: "string", default: compressions.join() },
});
const releases = values.kafka.split(",").map((wanted) => releaseOf(wanted));
const sizes = listOf("brokers", clusterSizes);
const drivers = listOf("driver", contractedDrivers);
const chosen = listOf("compression", compressions);
await setUp({ build: true });
if (drivers.includes("confluent")) {
  linkConfluentClient(); // `npm ci` removes it, and its contract would be skipped
}

const lines = [];
let failures = 0;
for (const run of brokerRuns.filter(
  ({ release, size, driver }) => releases.includes(release) && sizes.includes(size) && drivers.includes(driver),
)) {
  const { release, size, driver } = run;
  const started = Date.now();
  const files = [`test/integration/${driver}-contract.test.ts`, ...(size === "3" ? ["test/integration/moving-leaders.test.ts"] : [])];
  const status = await runHere(["scripts/demanded-tests.mjs", "--no-file-parallelism", ...files], {
    cwd: repositoryRoot,
    env: {
      ...process.env,
      CDCKIT_KAFKA: release,
      CDCKIT_BROKERS: size,
      CDCKIT_DRIVER: driver,
      CDCKIT_COMPRESSIONS: chosen.join(),
    },
  });
  const state = status === 0 ? "passed" : "failed";
  failures += status === 0 ? 0 : 1;
  lines.push(`${state} in ${Math.round((Date.now() - started) / 1000)} s: Kafka ${release}, brokers: ${size}, ${driver}, ${chosen.join()}`);
  if (chosen.length === compressions.length) {
    noteResults(repositoryRoot, { [`scripts/broker-runs.mjs: ${nameOf(run)}`]: state });
  }
}
console.log(lines.join("\n"));
process.exitCode = failures === 0 ? 0 : 1;

/** @param {string} wanted a release, or the first numbers of one */
function releaseOf(wanted) {
  const found = Object.keys(kafkaReleases).find((release) => release === wanted || release.startsWith(`${wanted}.`));
  return found ?? refuse(`expected --kafka to be of ${Object.keys(kafkaReleases).join(", ")}, found ${wanted}`, usage);
}

/** @param {"brokers" | "driver" | "compression"} name @param {readonly string[]} known */
function listOf(name, known) {
  const wanted = values[name].split(",");
  const wrong = wanted.find((one) => !known.includes(one));
  return wrong === undefined ? wanted : refuse(`expected --${name} to be of ${known.join(", ")}, found ${wrong}`, usage);
}
