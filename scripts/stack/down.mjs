import { resolve } from "node:path";
import { stopPostgres } from "./postgres.mjs";
import { stopProcess } from "./process.mjs";
import { readState, removeState, serviceNames } from "./state.mjs";

/**
 * `npm run stack:down`: stops the recorded processes and nothing else.
 * @param {string} dir
 * @param {(line: string) => void} [log]
 */
export async function down(dir, log = console.log) {
  const folder = resolve(dir);
  const state = readState(folder);
  if (state === null) {
    log("The stack is not up; nothing to stop.");
    return;
  }
  for (const name of serviceNames) {
    const record = state.services[name];
    if (record === undefined) continue;
    const stopped = name === "postgres" ? await stopPostgres(record) : await stopProcess(record, { signal: "SIGKILL" });
    log(`${name.padEnd(9)} ${stopped ? `stopped (process ${record.pid})` : "was not running any more"}`);
  }
  removeState(folder, state.folders);
  log(`Data deleted; the logs are still in ${folder}`);
}
