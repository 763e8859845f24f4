import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startConnect } from "./connect.mjs";
import { defaultTables, deployConnector, fillIn, readConnectors, topicsOf } from "./connectors.mjs";
import { ensureJars } from "./jars.mjs";
import { smallJvm, startKafka } from "./kafka.mjs";
import { startPostgres, withDatabase } from "./postgres.mjs";
import { startRegistry } from "./registry.mjs";
import { requireJava } from "./requirements.mjs";
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
export async function startStack({
  dir,
  cacheDir,
  tables = defaultTables,
  prepare = async () => {},
  outlive = false,
  jvm = smallJvm,
  log = () => {},
  signal,
  onSpawn = () => {},
}) {
  requireJava();
  const cache = cacheDir === undefined ? {} : { cacheDir };
  for (const set of [kafkaJars, debeziumJars, registryJars]) {
    await ensureJars(set, { ...cache, log });
  }
  mkdirSync(dir, { recursive: true });
  const failure = new AbortController();
  const stopEarly = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
  /** @type {{ stop(): Promise<void> }[]} */
  const started = [];
  const stop = async () => {
    for (const service of started.toReversed()) await service.stop();
  };
  /**
   * @template {{ stop(): Promise<void> }} Service
   * @param {import("./state.mjs").ServiceName} name
   * @param {(options: { dir: string, outlive: boolean, log: import("./jars.mjs").Log, signal: AbortSignal, onSpawn: (record: import("./process.mjs").ProcessRecord) => void }) => Promise<Service>} start
   */
  const start = async (name, start) => {
    try {
      const service = await start({ dir, outlive, log, signal: stopEarly, onSpawn: (record) => onSpawn(name, record) });
      started.push(service);
      log(`${name} is ready`);
      return service;
    } catch (error) {
      failure.abort(); // the others need not go on getting ready
      throw error;
    }
  };
  try {
    const [postgres, { kafka, connect }, registry] = await settled(
      start("postgres", startPostgres),
      start("kafka", (options) => startKafka({ ...options, ...cache, jvm })).then(async (kafka) => {
        const connect = await start("connect", (options) => startConnect({ ...options, ...cache, jvm, brokers: kafka.brokers }));
        return { kafka, connect };
      }),
      start("registry", (options) => startRegistry({ ...options, ...cache })),
    );
    await withDatabase(postgres.database, (client) => client.query(readFileSync(initSql, "utf8")));
    await prepare({ postgres: postgres.database, registryUrl: registry.url });
    const connectors = readConnectors().map((connector) =>
      fillIn(connector, connectorValues(postgres.database, registry.converterUrl, tables)),
    );
    const topics = connectors.flatMap(topicsOf);
    await createTopics(kafka.brokers, topics);
    await deployAll(connect.url, connectors, postgres.database, signal);
    log("the three connectors stream");
    const addresses = {
      brokers: kafka.brokers,
      registryUrl: registry.url,
      converterUrl: registry.converterUrl,
      connectUrl: connect.url,
      postgres: postgres.database,
      connectors: connectors.map(({ name }) => name),
      topics,
    };
    return { addresses, folders: postgres.folders, classPath: kafka.classPath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const initSql = join(import.meta.dirname, "..", "..", "docker", "postgres", "init.sql");

/**
 * Like Promise.all, but waits for the slow ones before it throws: what they started must be known before it is stopped.
 * @template A, B, C
 * @param {Promise<A>} a
 * @param {Promise<B>} b
 * @param {Promise<C>} c
 * @returns {Promise<[A, B, C]>}
 */
async function settled(a, b, c) {
  await Promise.allSettled([a, b, c]);
  return Promise.all([a, b, c]);
}

/**
 * @param {import("./postgres.mjs").Database} database
 * @param {string} registryUrl
 * @param {string} tables
 * @returns {import("./connectors.mjs").ConnectorValues}
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
