import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startConnect } from "./connect.mjs";
import { connectorValues, defaultTables, deployConnector, fillIn, readConnectors, topicsOf } from "./connectors.mjs";
import { untilGroupsAreKnown } from "./coordinators.mjs";
import { ensureJars } from "./jars.mjs";
import { smallJvm, startKafka } from "./kafka.mjs";
import { startPostgres, withDatabase } from "./postgres.mjs";
import { startRegistry } from "./registry.mjs";
import { requireJava } from "./requirements.mjs";
import { StackError } from "./stack-error.mjs";
import { createTopics } from "./topics.mjs";
import { debeziumJars, kafkaJars, registryJars } from "./versions.mjs";
import { waitUntil } from "./wait.mjs";

/**
 * @typedef {object} StackOptions
 * @property {string} dir where data and logs go
 * @property {string} [cacheDir]
 * @property {string} [tables] which the connectors follow, `schema.table` separated by commas
 * @property {(parts: { postgres: import("./postgres.mjs").Database, registryUrl: string }) => Promise<void>} [prepare] runs after
 *   docker/postgres/init.sql and before the connectors start
 * @property {readonly import("./versions.mjs").JarSet[]} [plugins] connectors over the one for PostgreSQL
 * @property {boolean} [outlive] whether the services go on after this process has ended
 * @property {readonly string[]} [jvm] for Kafka and Connect
 * @property {import("./jars.mjs").Log} [log]
 * @property {AbortSignal | undefined} [signal]
 * @property {(name: import("./state.mjs").ServiceName, record: import("./process.mjs").ProcessRecord) => void} [onSpawn]
 */

/** @typedef {{ readonly addresses: import("./state.mjs").StackAddresses, readonly folders: readonly string[], readonly classPath: string, stop(): Promise<void> }} RunningStack */

/** Options of the JVM for a stack that is measured: the compiler may take its time. */
export const roomyJvm = Object.freeze(["-Xms256m", "-Xmx1g"]);

/**
 * Starts PostgreSQL, Kafka, the registry and Connect, and the three connectors; returns when all three stream. What was started is stopped when
 * one part fails.
 * @param {StackOptions} options
 * @returns {Promise<RunningStack>}
 */
export async function startStack(options) {
  const { tables = defaultTables, prepare = async () => {}, log = () => {}, signal } = options;
  requireJava();
  for (const set of [kafkaJars, debeziumJars, registryJars]) {
    await ensureJars(set, { ...cacheOf(options), log, signal });
  }
  mkdirSync(options.dir, { recursive: true });
  /** @type {{ stop(): Promise<void> }[]} */
  const started = [];
  const stop = async () => {
    for (const service of started.toReversed()) await service.stop();
  };
  try {
    const { postgres, kafka, registry, connect } = await startServices(options, started);
    await withDatabase(postgres.database, (client) => client.query(readFileSync(initSql, "utf8")));
    await prepare({ postgres: postgres.database, registryUrl: registry.url });
    const values = connectorValues(postgres.database, registry.converterUrl, tables);
    const connectors = readConnectors().map((connector) => fillIn(connector, values));
    const addresses = {
      brokers: kafka.brokers,
      registryUrl: registry.url,
      converterUrl: registry.converterUrl,
      connectUrl: connect.url,
      postgres: postgres.database,
      connectors: connectors.map(({ name }) => name),
      topics: connectors.flatMap(topicsOf),
    };
    await createTopics(addresses.brokers, addresses.topics);
    await Promise.all([deployAll(connect.url, connectors, postgres.database, signal), untilGroupsAreKnown(kafka.brokers, signal)]);
    log("the three connectors stream");
    return { addresses, folders: postgres.folders, classPath: kafka.classPath, stop };
  } catch (error) {
    await stop();
    throw signal?.aborted ? new StackError("interrupted", "stopped while starting; nothing is left running", { cause: error }) : error;
  }
}

/**
 * Starts what can start side by side; Connect waits for Kafka only.
 * @param {StackOptions} options
 * @param {{ stop(): Promise<void> }[]} started grows by every service that is ready
 */
async function startServices(options, started) {
  const { dir, outlive = false, jvm = smallJvm, plugins = [], log = () => {}, signal, onSpawn = () => {} } = options;
  const cache = cacheOf(options);
  const failure = new AbortController();
  const shared = { dir, outlive, log, signal: signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]) };
  /**
   * @template {{ stop(): Promise<void> }} Service
   * @param {import("./state.mjs").ServiceName} name
   * @param {(own: typeof shared & { onSpawn: (record: import("./process.mjs").ProcessRecord) => void }) => Promise<Service>} start
   */
  const start = async (name, start) => {
    try {
      const service = await start({ ...shared, onSpawn: (record) => onSpawn(name, record) });
      started.push(service);
      log(`${name} is ready`);
      return service;
    } catch (error) {
      failure.abort(error); // the others need not go on getting ready
      throw error;
    }
  };
  const startPipeline = async () => {
    const kafka = await start("kafka", (own) => startKafka({ ...own, ...cache, jvm }));
    const connect = await start("connect", (own) => startConnect({ ...own, ...cache, jvm, plugins, brokers: kafka.brokers }));
    return { kafka, connect };
  };
  const postgres = start("postgres", startPostgres);
  const registry = start("registry", (own) => startRegistry({ ...own, ...cache }));
  const pipeline = startPipeline();
  await Promise.allSettled([postgres, registry, pipeline]); // the slow ones too: what they started must be known before it is stopped
  failure.signal.throwIfAborted();
  return { postgres: await postgres, registry: await registry, ...(await pipeline) };
}

/** @param {StackOptions} options */
function cacheOf({ cacheDir }) {
  return cacheDir === undefined ? {} : { cacheDir };
}

const initSql = join(import.meta.dirname, "..", "..", "docker", "postgres", "init.sql");

/**
 * @param {string} connectUrl
 * @param {readonly import("./connectors.mjs").Connector[]} connectors
 * @param {import("./postgres.mjs").Database} database
 * @param {AbortSignal | undefined} signal
 */
async function deployAll(connectUrl, connectors, database, signal) {
  await Promise.all(connectors.map((connector) => deployConnector(connectUrl, connector, { signal })));
  const slots = connectors.map(({ config }) => config["slot.name"]);
  // A connector that runs may still be taking its snapshot; only one that streams holds its slot.
  await waitUntil({
    what: "streaming from PostgreSQL",
    deadlineMs: 90_000,
    signal,
    check: () =>
      withDatabase(database, async (client) => {
        const { rowCount } = await client.query("select from pg_replication_slots where active and slot_name = any($1)", [slots]);
        return rowCount === slots.length;
      }),
  });
}
