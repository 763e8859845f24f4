// Replicates tables of one PostgreSQL database into another one. Kill it at any moment: each change is applied once all the same.
import { fastifyCdc } from "@cdckit/fastify";
import { postgres } from "@cdckit/postgres";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses, connectorName, schema, tables } from "./addresses.js";

const { brokers, registryUrl, replicaUrl } = addresses();
const logger = pino();

const consumer = createConsumer({
  driver: kafkajs({
    brokers,
    partitionsConsumedConcurrently: tables.length,
    sessionTimeoutMs: 10_000, // after kill -9, the partitions are free so soon
  }),
  groupId: "replicate-postgres",
  topics: tables.map((table) => `${connectorName}.${schema}.${table}`),
  registry: { url: registryUrl },
  health: { stuckAfterMs: 30_000 },
  logger,
});
const replica = postgres({
  connectionString: replicaUrl,
  schema: "replication", // of the checkpoints, which move in the transaction of the rows
  tableFor: ({ name }) => ({ schema, name }),
  create: true, // a table that tables.sql does not have
  widen: true, // columns that the source gets later, and types that become wider there
});
consumer.to(replica, { batch: { maxEvents: 1_000, maxMs: 200 } });

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
app.get("/lag", () => {
  const lags = consumer
    .health()
    .assigned.map(({ topic, lag }) => [topic.slice(connectorName.length + 1), lag === null ? null : Number(lag)]);
  return Object.fromEntries(lags);
});

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
