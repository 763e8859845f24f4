import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { StackError } from "./stack-error.mjs";

/** The order in which services are stopped: those that talk to others first. */
export const serviceNames = Object.freeze(/** @type {const} */ (["connect", "registry", "kafka", "postgres"]));

/** @typedef {typeof serviceNames[number]} ServiceName */
/** @typedef {import("./process.mjs").ProcessRecord} ProcessRecord */

/**
 * Where the parts of a stack are.
 * @typedef {object} StackAddresses
 * @property {string} brokers
 * @property {string} registryUrl the Confluent-compatible API
 * @property {string} converterUrl the API that the Avro converter talks to
 * @property {string} connectUrl
 * @property {import("./postgres.mjs").Database} postgres
 * @property {readonly string[]} connectors
 * @property {readonly string[]} topics
 */

/**
 * state.json. Services are recorded as soon as their process exists, addresses once all are ready: whatever ends `up`, `down` knows what to stop.
 * @typedef {object} StackState
 * @property {string} startedAt
 * @property {ProcessRecord} starter the process that starts the stack, or takes it down, while there are no addresses; its marker says whether
 *   the stack is that of examples, or stays up until `stack:down`
 * @property {Partial<Record<ServiceName, ProcessRecord>>} services
 * @property {readonly string[]} folders outside of the stack's folder
 * @property {StackAddresses | null} addresses
 */

/** What occurs in the command line of `npm run example`. */
export const exampleMarker = "example.mjs";

/** The stack's folder in this checkout. */
export const defaultStackDir = resolve(import.meta.dirname, "..", "..", ".stack");

/**
 * The command that acts on the stack in this folder, as a user types it: `npm run stack:start -- kafka --dir /data/stack`.
 * @param {string} dir
 * @param {"up" | "down" | "seed" | "start"} command
 * @param {...string} words
 */
export function stackCommand(dir, command, ...words) {
  const folder = resolve(dir);
  const all = folder === defaultStackDir ? words : [...words, "--dir", folder];
  return ["npm", "run", `stack:${command}`, ...(all.length === 0 ? [] : ["--", ...all])].join(" ");
}

/** @param {string} dir @returns {StackState | null} */
export function readState(dir) {
  const file = join(dir, "state.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

/** Where the stack of this folder is, or an error that says how to start it. @param {string} dir @returns {StackAddresses} */
export function addressesIn(dir) {
  const addresses = readState(resolve(dir))?.addresses;
  if (!addresses) throw new StackError("not-running", `the stack is not up. Start it with: ${stackCommand(dir, "up")}`);
  return addresses;
}

/** @param {string} dir @param {StackState} state */
export function writeState(dir, state) {
  mkdirSync(dir, { recursive: true });
  const file = join(dir, "state.json");
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/** Deletes the state and every service's data; the logs stay to be read. @param {string} dir @param {readonly string[]} [folders] */
export function removeState(dir, folders = []) {
  const names = [
    "state.json",
    "kafka-data",
    "postgres-data",
    "plugins",
    "tmp",
    "server.properties",
    "connect.properties",
    "connect-offsets",
    "examples",
  ];
  for (const path of [...names.map((name) => join(dir, name)), ...folders]) {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}
