// Deploys a connector with the outbox event router. It reads the database as the connectors of the stack do, and follows the outbox alone.
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { addresses } from "./addresses.js";

const { brokers, connectUrl, connectionString } = addresses();
const name = "outbox-example";
const deadline = AbortSignal.timeout(60_000);

/** @param {string} path @param {RequestInit} [init] */
async function connect(path, init) {
  const response = await fetch(`${connectUrl}${path}`, { headers: { "content-type": "application/json" }, signal: deadline, ...init });
  if (!response.ok) throw new Error(`Kafka Connect answers ${response.status}: ${await response.text()}`);
  return response.json();
}

const [other] = /** @type {string[]} */ (await connect("/connectors")).filter((one) => one !== name);
const known = /** @type {Record<string, string>} */ (await connect(`/connectors/${other}/config`));
const database = Object.fromEntries(Object.entries(known).filter(([key]) => key.startsWith("database.")));
const config = {
  ...database,
  "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
  "topic.prefix": "outbox",
  "table.include.list": "outbox.events",
  "plugin.name": "pgoutput",
  "slot.name": "outbox_example",
  "publication.name": "outbox_example",
  "publication.autocreate.mode": "filtered",
  "snapshot.mode": "no_data",
  "poll.interval.ms": "100",
  "tombstones.on.delete": "false",
  "topic.creation.default.replication.factor": "1",
  "topic.creation.default.partitions": "1",
  "key.converter": "org.apache.kafka.connect.storage.StringConverter",
  "value.converter": "org.apache.kafka.connect.json.JsonConverter",
  "value.converter.schemas.enable": "false",
  transforms: "outbox",
  "transforms.outbox.type": "io.debezium.transforms.outbox.EventRouter",
  "transforms.outbox.table.expand.json.payload": "true",
  // The type of an event is a header, beside its id.
  "transforms.outbox.table.fields.additional.placement": "type:header:eventType",
};
await connect(`/connectors/${name}/config`, { method: "PUT", body: JSON.stringify(config) });

// A consumer cannot read a topic that is not there yet, and the connector makes it with the first event.
const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
await admin.connect();
await admin.createTopics({ topics: [{ topic: "outbox.event.order", numPartitions: 1 }], waitForLeaders: true });
await admin.disconnect();

// What is written before the slot exists never becomes an event.
const client = new pg.Client({ connectionString });
await client.connect();
const isFollowed =
  "select from pg_replication_slots, pg_publication where slot_name = 'outbox_example' and active and pubname = 'outbox_example'";
while ((await client.query(isFollowed)).rowCount === 0) {
  deadline.throwIfAborted();
  const { tasks } = /** @type {{ tasks: { state: string, trace?: string }[] }} */ (await connect(`/connectors/${name}/status`));
  const failed = tasks.find(({ state }) => state === "FAILED");
  if (failed !== undefined) throw new Error(`the connector failed: ${failed.trace}`);
  await new Promise((resolve) => setTimeout(resolve, 200));
}
await client.end();
