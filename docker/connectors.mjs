// Deploys, shows or deletes the connectors of a database, one a format, in the compose stack or in the one of npm run stack:up.
import { parseArgs } from "node:util";
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
  const { command, target } = parse(process.argv.slice(2));
  console.log(`Kafka Connect of ${target.title}, ${target.connectUrl}`);
  await command(target);
} catch (error) {
  if (!(error instanceof StackError)) throw error;
  console.error(error.message);
  process.exitCode = error.code === "usage" ? 2 : 1;
}

/** @param {string[]} argv */
function parse(argv) {
  try {
    const { positionals, values } = parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        stack: { type: "boolean" },
        docker: { type: "boolean" },
        database: { type: "string", default: "postgres" },
        more: { type: "boolean", default: false },
        tables: { type: "string", default: defaultTables },
      },
    });
    const command = commands[positionals[0] ?? ""];
    if (command === undefined) throw new Error(positionals[0] === undefined ? "no command given" : `no such command: ${positionals[0]}`);
    if (values.stack && values.docker) throw new Error("--stack and --docker exclude each other");
    if (!databases.includes(values.database)) throw new Error(`no such database: ${values.database}`);
    if (values.more && values.database !== "postgres") throw new Error(`--more is for PostgreSQL, not for ${values.database}`);
    if (values.stack && values.database !== "postgres") throw new Error(`the stack without Docker has no ${values.database}`);
    return { command, target: findTarget(values) };
  } catch (cause) {
    if (cause instanceof StackError) throw cause;
    throw new StackError("usage", `${cause instanceof Error ? cause.message : cause}\n${usage}`, { cause });
  }
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
