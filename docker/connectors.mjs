// Deploys, shows or deletes the connectors of a database, one a format, in the compose stack or in the one of npm run stack:up.
import { readArguments, refuse } from "../scripts/arguments.mjs";
import { composeAddresses, composeValues, profileValues } from "../scripts/stack/compose-addresses.mjs";
import {
  connectorsOf,
  connectorState,
  connectorValues,
  defaultTables,
  deleteConnector,
  deployConnector,
  fillIn,
  moreConnectors,
  readConnectors,
} from "../scripts/stack/connectors.mjs";
import { StackError } from "../scripts/stack/stack-error.mjs";
import { defaultStackDir, readState } from "../scripts/stack/state.mjs";

const usage = `usage: node docker/connectors.mjs deploy | status | delete [--stack | --docker] [--database NAME] [--more] [--tables SCHEMA.TABLE,...]

  --stack    the stack of npm run stack:up (default while that one is up)
  --docker   the stack of docker/compose.yml (default otherwise)
  --database postgres (default), mysql or sqlserver; the last two are in the compose stack alone
  --more     the connectors of docker/connectors/more, too, for PostgreSQL
  --tables   which tables to follow (default ${defaultTables})`;

/** @typedef {{ title: string, connectUrl: string, connectors: readonly import("../scripts/stack/connectors.mjs").Connector[] }} Target */

const databases = ["postgres", "mysql", "sqlserver"];

/** @type {Readonly<Record<string, (target: Target) => Promise<void>>>} */
const commands = { deploy, status, delete: remove };

try {
  const { command, options } = readCommand();
  const target = findTarget(options);
  console.log(`Kafka Connect of ${target.title}, ${target.connectUrl}`);
  await command(target);
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  console.error(error.message);
  process.exitCode = error.code === "usage" ? 2 : 1;
}

function readCommand() {
  const { positionals, values } = readArguments(
    usage,
    {
      stack: { type: "boolean" },
      docker: { type: "boolean" },
      database: { type: "string", default: "postgres" },
      more: { type: "boolean", default: false },
      tables: { type: "string", default: defaultTables },
    },
    { words: true },
  );
  const { stack, docker, database, more } = values;
  const command = commands[positionals[0] ?? ""];
  if (command === undefined) return refuse(positionals[0] === undefined ? "no command given" : `no such command: ${positionals[0]}`, usage);
  if (stack && docker) refuse("--stack and --docker exclude each other", usage);
  if (!databases.includes(database)) refuse(`no such database: ${database}`, usage);
  if (more && database !== "postgres") refuse(`--more is for PostgreSQL, not for ${database}`, usage);
  if (stack && database !== "postgres") refuse(`the stack without Docker has no ${database}`, usage);
  return { command, options: values };
}

/** @param {{ stack?: boolean | undefined, docker?: boolean | undefined, database: string, more: boolean, tables: string }} options @returns {Target} */
function findTarget({ stack, docker, database, more, tables }) {
  const definitions = [...readConnectors(), ...(more ? readConnectors(moreConnectors) : [])];
  const isOther = database !== "postgres";
  const addresses = docker || isOther ? undefined : readState(defaultStackDir)?.addresses;
  if (addresses) {
    const values = connectorValues(addresses.postgres, addresses.converterUrl, tables);
    return {
      title: "the stack without Docker",
      connectUrl: addresses.connectUrl,
      connectors: definitions.map((one) => fillIn(one, values)),
    };
  }
  if (stack) throw new StackError("not-running", "the stack is not up. Start it with: npm run stack:up");
  return {
    title: "the compose stack",
    connectUrl: composeAddresses(tables).connectUrl,
    connectors: isOther
      ? connectorsOf(database).map((one) => fillIn(one, { ...profileValues, TABLES: tables }))
      : definitions.map((one) => fillIn(one, { ...composeValues, TABLES: tables })),
  };
}

/** @param {Target} target */
async function deploy({ connectUrl, connectors }) {
  for (const connector of connectors) {
    await deployConnector(connectUrl, connector);
    console.log(`${connector.name.padEnd(26)} RUNNING, writes to ${connector.config["topic.prefix"]}.*`);
  }
}

/** @param {Target} target */
async function status({ connectUrl, connectors }) {
  for (const connector of connectors) {
    const { name, state, reason } = await connectorState(connectUrl, connector.name);
    console.log(`${name.padEnd(26)} ${state}${reason === "" ? "" : `: ${reason}`}`);
  }
}

/** @param {Target} target */
async function remove({ connectUrl, connectors }) {
  for (const { name } of connectors) {
    console.log(`${name.padEnd(26)} ${(await deleteConnector(connectUrl, name)) ? "deleted" : "was not deployed"}`);
  }
}
