/**
 * The examples that use one stack. The one that started the stack may be stopped first: the last one takes the stack down.
 * Each has a file in `users/` of the stack's folder while it runs.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning } from "../stack/process.mjs";
import { exampleMarker, readState, writeState } from "../stack/state.mjs";

/** @typedef {import("../stack/process.mjs").ProcessRecord} ProcessRecord */

/** Whether examples have started the stack, and not `npm run stack:up`. @param {string} dir @returns {boolean} */
export function belongsToExamples(dir) {
  return readState(resolve(dir))?.starter.marker === exampleMarker;
}

/** This process uses the stack from now on. Called before the stack is looked for: see `close`. @param {string} dir */
export function enter(dir) {
  mkdirSync(usersOf(dir), { recursive: true });
  writeFileSync(join(usersOf(dir), `${process.pid}.json`), JSON.stringify({ pid: process.pid, marker: exampleMarker, log: "" }));
}

/** This process no longer uses the stack. @param {string} dir */
export function leave(dir) {
  rmSync(join(usersOf(dir), `${process.pid}.json`), { force: true });
}

/** The other examples that run. One that was killed has left its file, which is deleted. @param {string} dir @returns {number[]} */
export function others(dir) {
  const files = readdirSync(usersOf(dir)).filter((name) => name.endsWith(".json") && name !== `${process.pid}.json`);
  return files.flatMap((name) => {
    const record = readRecord(join(usersOf(dir), name));
    if (record !== null && isRunning(record)) return [record.pid];
    rmSync(join(usersOf(dir), name), { force: true });
    return [];
  });
}

/**
 * Closes the stack to examples that start from now on, if no other one runs. One that starts enters and then looks at the state; this closes
 * the state and then looks who has entered: whatever comes first, one of the two sees the other. Call it after `leave`: two examples that end
 * together would otherwise wait for each other.
 * @param {string} dir
 * @returns {Promise<"others" | "closed" | "gone">} closed: it is for this process to take the stack down
 */
export async function close(dir) {
  const folder = resolve(dir);
  let state = readState(folder);
  while (state?.addresses === null && isRunning(state.starter)) {
    await delay(100); // another example has closed it, and looks who has entered or takes it down
    state = readState(folder);
  }
  if (state === null) return "gone";
  writeState(folder, { ...state, starter: { pid: process.pid, marker: exampleMarker, log: "" }, addresses: null });
  if (others(dir).length === 0) return "closed";
  writeState(folder, state);
  return "others";
}

/** @param {string} file @returns {ProcessRecord | null} */
function readRecord(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // its process has just deleted it, or was killed while it wrote
  }
}

/** @param {string} dir */
function usersOf(dir) {
  return join(resolve(dir), "users");
}
