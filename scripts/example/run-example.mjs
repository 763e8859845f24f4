import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { composeAddresses } from "../stack/compose-addresses.mjs";
import { defaultTables } from "../stack/connectors.mjs";
import { down } from "../stack/down.mjs";
import { followTables } from "../stack/follow.mjs";
import { withDatabase } from "../stack/postgres.mjs";
import { requireJava } from "../stack/requirements.mjs";
import { isMissingRequirement, StackError } from "../stack/stack-error.mjs";
import { ensureUp } from "../stack/up.mjs";
import { readPart } from "./examples.mjs";
import { startRedis } from "../stack/redis.mjs";
import { requireRedis } from "./redis.mjs";
import { belongsToExamples, close, enter, leave, others } from "./stack-users.mjs";

/** @typedef {import("./examples.mjs").Example} Example */
/** @typedef {import("../stack/state.mjs").StackAddresses} StackAddresses */

/**
 * @typedef {object} RunOptions
 * @property {string} dir of the stack
 * @property {boolean} docker whether the stack is that of docker/compose.yml
 * @property {readonly string[]} args for the example
 * @property {AbortSignal} signal stops the example, and then what was started for it
 * @property {AbortSignal} impatience stops waiting for the example
 * @property {(line: string) => void} log
 */

const changesEveryMs = 1_000;
// More than a consumer waits for its handlers by default.
const stopGraceMs = 15_000;

/**
 * Starts what an example needs, prepares it, runs the example, and stops what was started.
 * @param {Example} example
 * @param {RunOptions} options
 * @returns {Promise<number>} the exit code
 */
export async function runExample(example, options) {
  requireNeeds(example, options);
  /** @type {(() => Promise<void>)[]} */
  const stops = [];
  try {
    build(example);
    const stack = example.needs.includes("stack") ? await startStack(options, stops) : null;
    /** @type {NodeJS.ProcessEnv} */
    const env = { ...process.env, ...(stack === null ? {} : { ...addressVariables(stack), DATA_DIR: dataFolder(example, options) }) };
    if (example.needs.includes("redis") && !env["REDIS_URL"]) {
      const redis = await startRedis({ signal: options.signal, outlive: true }); // Ctrl-C must not reach it before the example has stopped
      stops.push(redis.stop);
      env["REDIS_URL"] = redis.url;
    }
    if (stack !== null) {
      await prepare(example, stack, env, options);
    }
    return await runService(example, stack, env, options);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** All that is missing is said before anything starts. @param {Example} example @param {RunOptions} options */
function requireNeeds({ needs }, { docker }) {
  const requirements = [
    ...(needs.includes("stack") && !docker ? [requireJava] : []),
    ...(needs.includes("redis") && !process.env["REDIS_URL"] ? [requireRedis] : []),
  ];
  const missing = requirements.map(reasonToRefuse).filter((reason) => reason !== "");
  if (missing.length > 0) throw new StackError("requirements-missing", `for this example:\n${missing.join("\n")}`);
}

/** @param {() => void} require */
function reasonToRefuse(require) {
  try {
    require();
    return "";
  } catch (error) {
    if (!isMissingRequirement(error)) throw error;
    return /** @type {Error} */ (error).message;
  }
}

/** @param {Example} example */
function build({ folder, isBuilt }) {
  if (!isBuilt) return;
  const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "build"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new StackError("process-died", `npm run build in ${folder} failed:\n${stdout}${stderr}`);
}

/** @param {RunOptions} options @param {(() => Promise<void>)[]} stops */
async function startStack({ dir, docker, signal, log }, stops) {
  if (docker) return composeAddresses(defaultTables);
  enter(dir);
  stops.push(async () => leave(dir));
  const { addresses, wasUp } = await ensureUp(dir, signal);
  stops.push(() => leaveStack(dir, log));
  if (wasUp) {
    const end = belongsToExamples(dir) ? "it was started for another example, and the last one takes it down." : "it stays up.";
    log(`The stack is up already; ${end}`);
  }
  return addresses;
}

/** @param {string} dir @param {(line: string) => void} log */
async function leaveStack(dir, log) {
  leave(dir);
  if (!belongsToExamples(dir)) return;
  const outcome = await close(dir);
  if (outcome === "closed") await down(dir, log);
  if (outcome === "others") {
    log(`The stack stays up for another example (process ${others(dir).join(", ")}), which takes it down when it ends.`);
  }
}

/** What an example keeps on disk ends with the stack, because it belongs to the stack's topics. @param {Example} example @param {RunOptions} options */
function dataFolder({ name }, { dir }) {
  const folder = resolve(dir, "examples", name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** @param {StackAddresses} addresses */
function addressVariables({ brokers, registryUrl, connectUrl, postgres: { user, password, host, port, database } }) {
  return {
    KAFKA_BROKERS: brokers,
    SCHEMA_REGISTRY_URL: registryUrl,
    CONNECT_URL: connectUrl,
    DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`,
  };
}

/**
 * Tables, connectors that follow them, rows: `tables.sql`, `seed.sql` and `seed.js` of the example.
 * @param {Example} example
 * @param {StackAddresses} stack
 * @param {NodeJS.ProcessEnv} env
 * @param {RunOptions} options
 */
async function prepare(example, stack, env, { signal, log }) {
  const [tables, rows] = [readPart(example, "tables.sql"), readPart(example, "seed.sql")];
  if (tables !== null) await runSql(example, "tables.sql", tables, stack);
  if (example.tables.length > 0) {
    log(`Debezium follows ${example.tables.join(", ")}`);
    await followTables(stack, example.tables, signal);
  }
  if (rows !== null) await runSql(example, "seed.sql", rows, stack);
  if (existsSync(join(example.folder, "seed.js"))) {
    const { status, stderr } = spawnSync(process.execPath, ["seed.js"], { cwd: example.folder, env, encoding: "utf8" });
    if (status !== 0) throw new StackError("process-died", `seed.js of ${example.name} failed:\n${stderr}`);
  }
}

/**
 * The user may have altered the tables meanwhile: what PostgreSQL then says is no fault of ours.
 * @param {Example} example
 * @param {string} file
 * @param {string} sql
 * @param {StackAddresses} stack
 */
async function runSql({ name }, file, sql, { postgres }) {
  await withDatabase(postgres, (client) => client.query(sql)).catch((cause) => {
    throw new StackError("sql-failed", `${file} of ${name} failed: ${cause.message}`, { cause });
  });
}

/**
 * The example itself, with changes to its tables beside it.
 * @param {Example} example
 * @param {StackAddresses | null} stack
 * @param {NodeJS.ProcessEnv} env
 * @param {RunOptions} options
 */
async function runService(example, stack, env, { args, signal, impatience, log }) {
  if (signal.aborted) throw new StackError("interrupted", "stopped before the example was started");
  log(`${example.name} starts; Ctrl-C stops it`);
  // In a session of its own: the terminal's Ctrl-C reaches this process alone, which passes one signal on.
  const child = spawn(process.execPath, [...example.start, ...args], {
    cwd: example.folder,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill); // whatever ends this process
  const over = new AbortController();
  const stop = () => {
    child.kill("SIGTERM");
    setTimeout(kill, stopGraceMs).unref();
  };
  signal.addEventListener("abort", stop, { once: true });
  impatience.addEventListener("abort", kill, { once: true });
  await showLines(child);
  const changes = changeRows(example, stack, AbortSignal.any([signal, over.signal]), log);
  const [code] = /** @type {[number | null]} */ (await once(child, "close"));
  process.off("exit", kill);
  over.abort();
  await changes;
  return code ?? 1;
}

/** Lines of JSON are for programs; people on a terminal get them as pino-pretty writes them. @param {import("node:child_process").ChildProcess} child */
async function showLines({ stdout }) {
  if (!process.stdout.isTTY) {
    stdout?.pipe(process.stdout, { end: false });
    return;
  }
  const { default: pretty } = await import("pino-pretty");
  stdout?.pipe(pretty({ colorize: process.stdout.hasColors(), translateTime: "SYS:HH:MM:ss.l", ignore: "pid,hostname", singleLine: true }));
}

/**
 * Runs `changes.sql` of the example every second, so that there is something to see.
 * @param {Example} example
 * @param {StackAddresses | null} stack
 * @param {AbortSignal} signal
 * @param {(line: string) => void} log
 */
async function changeRows(example, stack, signal, log) {
  const changes = readPart(example, "changes.sql");
  if (changes === null || stack === null) return;
  let logged = "";
  while (!signal.aborted) {
    // What the user does to the same rows may be in its way once (a deadlock), or for good (a column that is gone).
    await runSql(example, "changes.sql", changes, stack).catch(({ message }) => {
      if (message !== logged) log(`${message}. It runs again every second`);
      logged = message;
    });
    await delay(changesEveryMs, undefined, { signal }).catch(() => {}); // stopped
  }
}
