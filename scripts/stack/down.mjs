import { resolve } from "node:path";
import { stopPostgres } from "./postgres.mjs";
import { stopProcess } from "./process.mjs";
import { readState, removeState, serviceNames } from "./state.mjs";

/** `npm run stack:down`: stops the recorded processes and nothing else. @param {string} dir */
export async function down(dir) {
  const folder = resolve(dir);
  const state = readState(folder);
  if (state === null) {
    console.log("The stack is not up; nothing to stop.");
    return;
  }
  for (const name of serviceNames) {
    const record = state.services[name];
    if (record === undefined) continue;
    const stopped = name === "postgres" ? await stopPostgres(record) : await stopProcess(record, { signal: "SIGKILL" });
    console.log(`${name.padEnd(9)} ${stopped ? `stopped (process ${record.pid})` : "was not running any more"}`);
  }
  removeState(folder, state.folders);
  console.log(`Data deleted; the logs are still in ${folder}`);
}
