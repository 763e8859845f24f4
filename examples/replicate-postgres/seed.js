// Makes the replica's database and tables, and deploys the connector that reads the source.
import { readFileSync } from "node:fs";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { addresses, connectorName, schema, tables, withDatabase } from "./addresses.js";

const { brokers, connectUrl, sourceUrl, replicaUrl } = addresses();
const deadline = AbortSignal.timeout(60_000);

await createReplica();
// One partition for a table: a truncate has no key, and must not overtake the rows before it, nor they it.
await createTopics(tables.map((table) => `${connectorName}.${schema}.${table}`));
await deploy();
await untilStreaming();

async function createReplica() {
  const ddl = readFileSync(new URL("tables.sql", import.meta.url), "utf8");
  try {
    await query(replicaUrl, ddl);
  } catch (error) {
    if (/** @type {{ code?: unknown }} */ (error).code !== "3D000") throw error; // what is missing is not the database
    const database = new URL(replicaUrl).pathname.slice(1);
    await query(withDatabase(replicaUrl, "postgres"), `create database ${pg.escapeIdentifier(database)}`);
    await query(replicaUrl, ddl);
  }
}

/** @param {string[]} topics */
async function createTopics(topics) {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createTopics({ topics: topics.map((topic) => ({ topic, numPartitions: 1 })), waitForLeaders: true });
  await admin.disconnect();
}

/** The connector of the stack knows how Kafka Connect reaches the database and the registry. */
async function deploy() {
  const other = "confluent-avro";
  const names = /** @type {string[]} */ (await connect("/connectors"));
  if (!names.includes(other)) {
    throw new Error(
      `Kafka Connect at ${connectUrl} has no connector ${other}, which says where the database and the registry are: npm run stack:up`,
    );
  }
  const known = /** @type {Record<string, string>} */ (await connect(`/connectors/${other}/config`));
  const shared = Object.entries(known).filter(([key]) => /^(database\.|(key|value)\.converter|(schema|field)\.name\.adjustment)/.test(key));
  const config = {
    ...Object.fromEntries(shared),
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": connectorName,
    "table.include.list": tables.map((table) => `${schema}.${table}`).join(","),
    "plugin.name": "pgoutput",
    "slot.name": connectorName,
    "publication.name": connectorName,
    "publication.autocreate.mode": "filtered",
    "snapshot.mode": "initial",
    "poll.interval.ms": "100",
    "topic.creation.default.replication.factor": "1",
    "topic.creation.default.partitions": "1",
    "skipped.operations": "none", // truncates are skipped by default
    "interval.handling.mode": "string", // months are no number of microseconds
    "tombstones.on.delete": "false", // for compacted topics
  };
  await connect(`/connectors/${connectorName}/config`, { method: "PUT", body: JSON.stringify(config) });
}

/** What is written before the slot exists is in the snapshot, and what comes later in the log. */
async function untilStreaming() {
  const isStreaming = `select from pg_replication_slots where slot_name = '${connectorName}' and active`;
  while ((await query(sourceUrl, isStreaming)).rowCount === 0) {
    deadline.throwIfAborted();
    const { tasks } = /** @type {{ tasks: { state: string, trace?: string }[] }} */ (await connect(`/connectors/${connectorName}/status`));
    const failed = tasks.find(({ state }) => state === "FAILED");
    if (failed !== undefined) throw new Error(`the connector failed: ${failed.trace}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @param {string} path @param {RequestInit} [init] */
async function connect(path, init) {
  const response = await fetch(`${connectUrl}${path}`, {
    headers: { "content-type": "application/json" },
    signal: deadline,
    ...init,
  }).catch((cause) => {
    throw new Error(`Kafka Connect does not answer at ${connectUrl}: start the stack (npm run stack:up), or set CONNECT_URL`, { cause });
  });
  if (!response.ok) throw new Error(`Kafka Connect answers ${response.status}: ${await response.text()}`);
  return response.json();
}

/** @param {string} url @param {string} sql */
async function query(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
