import { resolve } from "node:path";
import { connectorState } from "./connectors.mjs";
import { isRunning } from "./process.mjs";
import { readState, serviceNames, stackCommand } from "./state.mjs";
import { endOffsets } from "./topics.mjs";

/** `npm run stack:status`: what of the stack runs, and what is in its topics. @param {string} dir */
export async function status(dir) {
  const state = readState(resolve(dir));
  if (state === null) {
    console.log(`The stack is not up. Start it with: ${stackCommand(dir, "up")}`);
    return;
  }
  const { addresses } = state;
  if (addresses === null && isRunning(state.starter)) {
    console.log(`The stack is being started by process ${state.starter.pid}.\n`);
  }
  const where = {
    connect: addresses?.connectUrl,
    registry: addresses?.registryUrl,
    kafka: addresses?.brokers,
    postgres: addresses && `${addresses.postgres.host}:${addresses.postgres.port}`,
  };
  const running = new Set(serviceNames.filter((name) => isUp(state.services[name])));
  for (const name of serviceNames) {
    const record = state.services[name];
    const found = running.has(name)
      ? `running at ${where[name] ?? "(still starting)"}, process ${record?.pid}`
      : `NOT running${name === "kafka" && addresses !== null ? ` (${stackCommand(dir, "start", "kafka")}, at ${addresses.brokers} again)` : ""}`;
    console.log(`${name.padEnd(10)} ${found}${record === undefined ? "" : `, log ${record.log}`}`);
  }
  if (addresses === null) return;
  if (running.has("connect")) await printConnectors(addresses);
  if (running.has("kafka")) await printTopics(addresses);
}

/** @param {import("./process.mjs").ProcessRecord | undefined} record */
function isUp(record) {
  return record !== undefined && isRunning(record);
}

/** @param {import("./state.mjs").StackAddresses} addresses */
async function printConnectors({ connectUrl, connectors }) {
  console.log("\nconnectors");
  for (const connector of connectors) {
    const { name, state, reason } = await connectorState(connectUrl, connector);
    console.log(`  ${name.padEnd(28)} ${state}${reason === "" ? "" : `: ${reason}`}`);
  }
}

/** @param {import("./state.mjs").StackAddresses} addresses */
async function printTopics({ brokers, topics }) {
  console.log("\nevents in topics");
  const counts = await endOffsets(brokers, topics);
  topics.forEach((topic, i) => console.log(`  ${topic.padEnd(28)} ${counts[i]?.toLocaleString("en-US") ?? "no such topic"}`));
}
