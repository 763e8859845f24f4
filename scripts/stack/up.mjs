import { mkdirSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { isRunning } from "./process.mjs";
import { StackError } from "./stack-error.mjs";
import { roomyJvm, startStack } from "./start-stack.mjs";
import { exampleMarker, readState, removeState, serviceNames, stackCommand, writeState } from "./state.mjs";

/**
 * `npm run stack:up`: starts the stack unless it is up already, and says where everything is.
 * @param {string} dir
 * @param {AbortSignal} signal
 */
export async function up(dir, signal) {
  const { addresses, wasUp } = await ensureUp(dir, signal);
  if (wasUp) {
    keep(resolve(dir));
    console.log("The stack is up already.");
  }
  printAddresses(dir, addresses);
}

/**
 * Starts the stack unless it is up already.
 * @param {string} dir
 * @param {AbortSignal} signal
 * @returns {Promise<{ addresses: import("./state.mjs").StackAddresses, wasUp: boolean }>}
 */
export async function ensureUp(dir, signal) {
  const folder = resolve(dir);
  const known = readState(folder);
  if (known?.addresses && isComplete(known)) {
    return { addresses: known.addresses, wasUp: true };
  }
  if (known?.addresses === null && isRunning(known.starter)) {
    throw new StackError(
      "not-ready",
      `process ${known.starter.pid} is starting the stack in ${folder}, or taking it down; wait for it, or stop it with Ctrl-C`,
    );
  }
  if (known !== null && serviceNames.some((name) => runs(known, name))) {
    const lacking = serviceNames.filter((name) => !runs(known, name)).join(", ") || "a complete start";
    const what = lacking === "kafka" && known.addresses !== null ? `Run ${stackCommand(folder, "start", "kafka")}, or` : "Run";
    throw new StackError(
      "not-running",
      `the stack is half up: ${lacking} is missing. ${what} ${stackCommand(folder, "down")} first; logs are in ${folder}`,
    );
  }
  clear(folder, known);
  return { addresses: await start(folder, signal), wasUp: false };
}

/** The stack that an example has started: from now on it stays up until `stack:down`. @param {string} folder */
function keep(folder) {
  const state = readState(folder);
  if (state?.addresses && state.starter.marker === exampleMarker) writeState(folder, { ...state, starter: thisProcess() });
}

function thisProcess() {
  return { pid: process.pid, marker: basename(process.argv[1] ?? "node"), log: "" };
}

/** @param {string} folder @param {AbortSignal} signal */
async function start(folder, signal) {
  const starter = thisProcess();
  /** @type {import("./state.mjs").StackState} */
  const state = { startedAt: new Date().toISOString(), starter, services: {}, folders: [], addresses: null };
  const startedMs = Date.now();
  writeState(folder, state); // downloads may take minutes, in which a second `up` must not start the same
  try {
    const stack = await startStack({
      dir: folder,
      outlive: true,
      jvm: roomyJvm,
      signal,
      log: (line) => console.error(`${String(Math.round((Date.now() - startedMs) / 1000)).padStart(4)} s  ${line}`),
      onSpawn: (name, record) => {
        state.services[name] = record;
        writeState(folder, state);
      },
    });
    state.addresses = stack.addresses;
    state.folders = stack.folders;
    writeState(folder, state);
    return stack.addresses;
  } catch (error) {
    removeState(folder, state.folders);
    throw error;
  }
}

/** Nothing of an earlier stack runs any more: its data goes, and its logs make room for new ones. @param {string} folder @param {import("./state.mjs").StackState | null} known */
function clear(folder, known) {
  removeState(folder, known?.folders);
  for (const name of serviceNames) rmSync(resolve(folder, `${name}.log`), { force: true });
  mkdirSync(folder, { recursive: true });
}

/** @param {import("./state.mjs").StackState} state */
function isComplete(state) {
  return state.addresses !== null && serviceNames.every((name) => runs(state, name));
}

/** @param {import("./state.mjs").StackState} state @param {import("./state.mjs").ServiceName} name */
function runs(state, name) {
  const record = state.services[name];
  return record !== undefined && isRunning(record);
}

/** @param {string} dir @param {import("./state.mjs").StackAddresses} addresses */
function printAddresses(dir, { brokers, registryUrl, connectUrl, postgres, topics }) {
  console.log(`
  Kafka            ${brokers}
  schema registry  ${registryUrl}
  Kafka Connect    ${connectUrl}
  PostgreSQL       postgres://${postgres.user}:${postgres.password}@${postgres.host}:${postgres.port}/${postgres.database}
  topics           ${topics.join("\n                   ")}

Next:
  ${stackCommand(dir, "seed", "--rows", "200000")}
  npx cdc-bench run --brokers ${brokers} --registry ${registryUrl} --topics ${topics.join(",")}
  ${stackCommand(dir, "down")}`);
}
