import { resolve } from "node:path";
import { knowsBroker } from "./kafka.mjs";
import { isRunning, startProcess, stopProcess } from "./process.mjs";
import { untilServing } from "./service.mjs";
import { StackError } from "./stack-error.mjs";
import { addressesIn, readState, serviceNames, stackCommand, writeState } from "./state.mjs";

/** Why the others cannot be stopped alone. */
const together = Object.freeze({
  registry: "it keeps its schemas in memory, and would come back without them",
  connect: "it keeps its connectors in memory, and would come back without them",
  postgres: "the connectors would fail, and not come back with it",
});

/**
 * `npm run stack:stop -- kafka`: ends one service as a power failure does. Its data stays, and so does everything else of the stack.
 * @param {string} dir
 * @param {string} name
 */
export async function stopService(dir, name) {
  const { record } = serviceIn(dir, name);
  if (!(await stopProcess(record, { signal: "SIGKILL" }))) {
    console.log(`${name} is not running. Start it with: ${stackCommand(dir, "start", name)}`);
    return;
  }
  console.log(`${name} stopped (process ${record.pid}); its data stays. Start it again with: ${stackCommand(dir, "start", name)}`);
}

/**
 * `npm run stack:start -- kafka`: starts a service that was stopped or has ended, as it was: with its data, on the same ports.
 * @param {string} dir
 * @param {string} name
 * @param {AbortSignal} signal
 */
export async function startService(dir, name, signal) {
  const { folder, record, addresses } = serviceIn(dir, name);
  if (isRunning(record)) {
    console.log(`${name} is running already, process ${record.pid}.`);
    return;
  }
  if (record.again === undefined) {
    throw new StackError(
      "not-running",
      `it is not known how ${name} was started. Start all of the stack again: ${stackCommand(dir, "down")}, and stack:up in the same way`,
    );
  }
  const running = startProcess({ name, ...record.again, marker: record.marker, log: record.log, outlive: true });
  const stop = async () => {
    await stopProcess(running.record, { signal: "SIGKILL" });
  };
  const onSpawn = (/** @type {import("./process.mjs").ProcessRecord} */ started) => remember(folder, name, started);
  const what = `Kafka at ${addresses.brokers}`;
  const check = () => knowsBroker(addresses.brokers);
  await untilServing({ what, running, check, deadlineMs: 120_000, stop }, { signal, onSpawn });
  console.log(`${name} is ready at ${addresses.brokers}, process ${running.record.pid}`);
}

/** @param {string} dir @param {string} name */
function serviceIn(dir, name) {
  if (!serviceNames.some((known) => known === name)) {
    throw new StackError("usage", `there is no service "${name}"; there are ${serviceNames.join(", ")}`);
  }
  if (name !== "kafka") {
    const why = together[/** @type {keyof typeof together} */ (name)]; // the other names
    throw new StackError("usage", `${name} is stopped and started with the whole stack: ${why}. Only kafka can be stopped alone`);
  }
  const folder = resolve(dir);
  const addresses = addressesIn(folder);
  const record = readState(folder)?.services.kafka;
  if (record === undefined) throw new StackError("not-running", `the stack has no Kafka. Start it with: ${stackCommand(dir, "up")}`);
  return { folder, addresses, record };
}

/** The state is read again, because the stack may have been taken down meanwhile. @param {string} folder @param {string} name @param {import("./process.mjs").ProcessRecord} record */
function remember(folder, name, record) {
  const state = readState(folder);
  if (state !== null) writeState(folder, { ...state, services: { ...state.services, [name]: record } });
}
