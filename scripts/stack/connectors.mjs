import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { StackError } from "./stack-error.mjs";
import { waitUntil } from "./wait.mjs";

/** @typedef {{ readonly name: string, readonly config: Readonly<Record<string, string>> }} Connector */

/**
 * What the placeholders in docker/connectors/*.json stand for: addresses as Kafka Connect sees them.
 * @typedef {object} ConnectorValues
 * @property {string} POSTGRES_HOST
 * @property {string} POSTGRES_PORT
 * @property {string} POSTGRES_USER
 * @property {string} POSTGRES_PASSWORD
 * @property {string} POSTGRES_DB
 * @property {string} REGISTRY_URL of the API that the Avro converter talks to
 * @property {string} TABLES schema.table, separated by commas
 */

/** @typedef {{ readonly name: string, readonly state: string, readonly reason: string }} ConnectorState */

/** The table that the connectors follow unless they are told otherwise. */
export const defaultTables = "sales.salesorderdetail";

/** The folder of the connectors that are deployed only if they are asked for. */
export const moreConnectors = join(import.meta.dirname, "..", "..", "docker", "connectors", "more");

const connectorFolder = join(import.meta.dirname, "..", "..", "docker", "connectors");

/** The connectors of docker/connectors, placeholders and all. @returns {Connector[]} */
export function readConnectors(folder = connectorFolder) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
}

/** What a connector of `docker/connectors` says of its format, and of how it writes: the rest is its database's. */
const formatKeys = /^((key|value)\.converter|(schema|field)\.name\.adjustment|topic\.creation|producer\.override)/;

/**
 * The connectors of another database than PostgreSQL: each format of docker/connectors, and what docker/connectors/databases says of the
 * database. `FORMAT` and `SERVER_ID` are filled in; all other placeholders stay.
 * @param {string} database mysql, sqlserver
 * @returns {Connector[]}
 */
export function connectorsOf(database) {
  const source = JSON.parse(readFileSync(join(connectorFolder, "databases", `${database}.json`), "utf8"));
  return readConnectors().map(({ name, config }, i) => {
    const format = Object.entries(config).filter(([key]) => formatKeys.test(key));
    const own = JSON.stringify(source.config)
      .replaceAll("${FORMAT}", config["topic.prefix"] ?? "")
      .replaceAll("${SERVER_ID}", String(184_054 + i)); // each reads the log as a replica of its own
    return { name: `${database}-${name}`, config: { ...JSON.parse(own), ...Object.fromEntries(format) } };
  });
}

/**
 * A connector with every placeholder filled in.
 * @param {Connector} connector
 * @param {Readonly<Record<string, string>> | ConnectorValues} values
 * @returns {Connector}
 */
export function fillIn({ name, config }, values) {
  /** @type {Readonly<Record<string, string>>} */
  const known = { ...values };
  const filled = Object.entries(config).map(([key, text]) => [
    key,
    text.replaceAll(/\$\{(\w+)\}/g, (_, placeholder) => {
      const value = known[placeholder];
      if (value === undefined) throw new StackError("usage", `connector ${name}: ${key} names \${${placeholder}}, which nothing fills in`);
      return value;
    }),
  ]);
  return { name, config: Object.fromEntries(filled) };
}

/**
 * The values for Connect and PostgreSQL on one machine.
 * @param {import("./postgres.mjs").Database} database
 * @param {string} registryUrl
 * @param {string} tables
 * @returns {ConnectorValues}
 */
export function connectorValues(database, registryUrl, tables) {
  return {
    POSTGRES_HOST: database.host,
    POSTGRES_PORT: String(database.port),
    POSTGRES_USER: database.user,
    POSTGRES_PASSWORD: database.password,
    POSTGRES_DB: database.database,
    REGISTRY_URL: registryUrl,
    TABLES: tables,
  };
}

/** The topics that a connector writes its tables to. @param {Connector} connector @returns {string[]} */
export function topicsOf({ config }) {
  return (config["table.include.list"] ?? "").split(",").map((table) => `${config["topic.prefix"]}.${table.trim()}`);
}

/**
 * Creates or updates a connector and returns when it and its task run.
 * @param {string} connectUrl
 * @param {Connector} connector
 * @param {{ deadlineMs?: number, signal?: AbortSignal | undefined }} [options]
 */
export async function deployConnector(connectUrl, { name, config }, { deadlineMs = 60_000, signal } = {}) {
  const response = await request(connectUrl, `/connectors/${name}/config`, { method: "PUT", body: JSON.stringify(config) });
  if (!response.ok) {
    throw new StackError(
      "connector-failed",
      `Kafka Connect refused the connector ${name} (HTTP ${response.status}): ${await reasonOf(response)}`,
    );
  }
  const { state, reason } = await waitUntil({
    what: `connector ${name}`,
    deadlineMs,
    signal,
    check: async () => {
      const found = await connectorState(connectUrl, name);
      return (found.state === "RUNNING" || found.state === "FAILED") && found;
    },
  });
  if (state === "FAILED") throw new StackError("connector-failed", `connector ${name} failed: ${reason}`);
}

/**
 * The state of a connector: that of its task, which is what reads the database, if it has one already.
 * @param {string} connectUrl
 * @param {string} name
 * @returns {Promise<ConnectorState>}
 */
export async function connectorState(connectUrl, name) {
  const response = await request(connectUrl, `/connectors/${name}/status`);
  if (response.status === 404) return { name, state: "not deployed", reason: "" };
  /** @type {{ connector: { state: string, trace?: string }, tasks: { state: string, trace?: string }[] }} */
  const { connector, tasks } = /** @type {any} */ (await response.json());
  const parts = [connector, ...tasks];
  const failed = parts.find((part) => part.state === "FAILED");
  if (failed !== undefined) return { name, state: "FAILED", reason: causeOf(failed.trace ?? "") };
  return { name, state: tasks[0]?.state ?? "STARTING", reason: "" };
}

/** What a connector was deployed with. @param {string} connectUrl @param {string} name @returns {Promise<Readonly<Record<string, string>>>} */
export async function connectorConfig(connectUrl, name) {
  const response = await request(connectUrl, `/connectors/${name}/config`);
  if (!response.ok) {
    throw new StackError(
      "connector-failed",
      `Kafka Connect does not know the connector ${name} (HTTP ${response.status}): ${await reasonOf(response)}`,
    );
  }
  return /** @type {any} */ (await response.json());
}

/** @param {string} connectUrl @param {string} name @returns {Promise<boolean>} whether there was one */
export async function deleteConnector(connectUrl, name) {
  const response = await request(connectUrl, `/connectors/${name}`, { method: "DELETE" });
  if (!response.ok && response.status !== 404) {
    throw new StackError("connector-failed", `Kafka Connect did not delete ${name} (HTTP ${response.status}): ${await reasonOf(response)}`);
  }
  return response.ok;
}

/**
 * @param {string} connectUrl
 * @param {string} path
 * @param {RequestInit} [init]
 */
async function request(connectUrl, path, init) {
  try {
    return await fetch(`${connectUrl}${path}`, {
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(60_000),
      ...init,
    });
  } catch (cause) {
    throw new StackError(
      "not-running",
      `Kafka Connect does not answer at ${connectUrl}. Is the stack up (npm run stack:status, or docker compose ps)?`,
      { cause },
    );
  }
}

/** @param {Response} response */
async function reasonOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).message ?? text;
  } catch {
    return text; // a proxy's page, say
  }
}

/** The innermost cause of a Java stack trace: the outer ones only say that a task died. @param {string} trace */
function causeOf(trace) {
  const lines = trace.split("\n").filter((line) => /^\S/.test(line));
  return (lines.at(-1) ?? "no reason given").replace(/^Caused by: /, "");
}
