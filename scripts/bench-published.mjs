/**
 * `npm run bench:published`: runs the five published comparisons (docs/published-benchmarks.md) on real components, and writes a result for
 * each part and one report. It starts its own stack and stops it, however it ends; only `kill -9` leaves the stack, which the next start stops.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { readArguments, refuse } from "./arguments.mjs";
import { repositoryRoot, setUp } from "./set-up.mjs";
import { benchmarks, parts } from "./published/parts.mjs";

const usage = `usage: npm run bench:published -- [--quick] [--only A,B,...] [-o FOLDER]

  --quick      small sizes: A to E in less than ten minutes
  --only A,D   only these of ${benchmarks.join(", ")}
  -o FOLDER    where results go (default: bench/results/published, with --quick bench/results/published-quick)`;

const exitCodes = Object.freeze({ ok: 0, failed: 1, interrupted: 130 });

/** @typedef {import("./published/run-part.mjs").Outcome} Outcome */
/** @typedef {{ isQuick: boolean, wanted: readonly import("./published/parts.mjs").Part[], folder: string }} Plan */

const plan = readPlan();
await setUp({ build: true });
process.exitCode = await main(plan);

/** @returns {Plan} */
function readPlan() {
  const { values } = readArguments(usage, {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: benchmarks.join(",") },
    output: { type: "string", short: "o" },
  });
  const letters = values.only.toUpperCase().split(",");
  const unknown = letters.filter((letter) => !benchmarks.includes(letter));
  if (unknown.length > 0) {
    refuse(`--only has ${unknown.join(", ")}: there are ${benchmarks.join(", ")}`, usage);
  }
  const name = values.quick ? "published-quick" : "published";
  return {
    isQuick: values.quick,
    wanted: parts.filter(({ benchmark }) => letters.includes(benchmark)),
    folder: resolve(values.output ?? join(repositoryRoot, "bench/results", name)),
  };
}

/**
 * @param {Plan} plan
 * @returns {Promise<number>}
 */
async function main({ isQuick, wanted, folder }) {
  const { startServices } = await import("./published/services.mjs");
  const { runPart, writeReport } = await import("./published/run-part.mjs");
  const { StackError } = await import("./stack/stack-error.mjs");
  const interrupt = new AbortController();
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      if (!interrupt.signal.aborted) {
        console.error("stopping: the part that runs writes what it has, then the stack is stopped");
      }
      interrupt.abort(signal);
    });
  }
  mkdirSync(folder, { recursive: true });
  const startedAt = new Date().toISOString();
  const startMs = performance.now();
  /** @type {Awaited<ReturnType<typeof startServices>>} */
  let running;
  try {
    running = await startServices(join(repositoryRoot, ".stack/published"), {
      needsStack: wanted.some(({ needs }) => needs === "stack"),
      needsRedis: wanted.some(({ needs }) => needs === "redis"),
      signal: interrupt.signal,
    });
  } catch (error) {
    if (!(error instanceof StackError)) throw error; // a fault of ours: its stack trace is what helps
    console.error(error.message);
    return error.code === "interrupted" ? exitCodes.interrupted : exitCodes.failed;
  }
  /** @type {Outcome[]} */
  const outcomes = [];
  try {
    for (const part of wanted) {
      if (interrupt.signal.aborted) break;
      console.error(`\n${part.benchmark}: ${part.name}`);
      outcomes.push(
        part.needs === "redis" && running.services.redisUrl === null
          ? withoutRedis(part)
          : await runPart(part, { isQuick, folder, services: running.services, interrupt: interrupt.signal }),
      );
    }
  } finally {
    await running.stop();
  }
  const elapsedMs = performance.now() - startMs;
  writeFileSync(
    join(folder, "run.json"),
    `${JSON.stringify({ startedAt, elapsedMs, isQuick, outcomes: outcomes.map(published) }, null, 2)}\n`,
  );
  const files = outcomes.flatMap(({ file }) => file ?? []);
  const report = join(folder, "report.html");
  rmSync(report, { force: true });
  const isReported = files.length > 0 && !interrupt.signal.aborted && (await writeReport(files, report, interrupt.signal)) === 0;
  console.log(
    `\n${outcomes.map(line).join("\n")}\n\n${Math.round(elapsedMs / 1000)} s in all. Results: ${relative(process.cwd(), folder) || "."}`,
  );
  if (isReported) {
    console.log(`Report: ${relative(process.cwd(), report)}`);
  }
  if (interrupt.signal.aborted) return exitCodes.interrupted;
  return isReported && outcomes.every(({ problem }) => problem === null) ? exitCodes.ok : exitCodes.failed;
}

/**
 * @param {import("./published/parts.mjs").Part} part
 * @returns {Outcome}
 */
function withoutRedis({ name, benchmark, command }) {
  const problem = "there is no redis-server: install one (Debian: apt-get install redis-server), and run this part again with --only";
  return {
    name,
    benchmark,
    command: `npx cdc-bench ${command.join(" ")}`,
    exitCode: null,
    elapsedMs: 0,
    file: null,
    problem: `${problem} ${benchmark}`,
  };
}

/** What is kept of a part: no path of this machine. @param {Outcome} outcome */
function published({ file, ...outcome }) {
  return { ...outcome, file: file === null ? null : `${outcome.name}.json` };
}

/** @param {Outcome} outcome */
function line({ name, elapsedMs, problem }) {
  return `${problem === null ? "ok    " : "FAILED"}  ${name.padEnd(12)} ${String(Math.round(elapsedMs / 1000)).padStart(5)} s${problem === null ? "" : `  ${problem}`}`;
}
