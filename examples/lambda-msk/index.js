// Calls the function on your machine, as Lambda's event source mapping does with ReportBatchItemFailures.
import fastify, { LogController } from "fastify";
import { Kafka, logLevel } from "kafkajs";
import pino from "pino";
import { addresses } from "./addresses.js";

const { brokers, registryUrl } = addresses();
process.env["SCHEMA_REGISTRY_URL"] ??= registryUrl;
const { handler } = await import("./function.js");
const logger = pino();
const timeoutMs = 10_000;
const pauseMs = Number(process.env["RETRY_PAUSE_MS"] ?? 500);

const kafka = new Kafka({ brokers, clientId: "lambda-msk", logLevel: logLevel.NOTHING });
const groupId = "lambda-msk";
const topic = "av.shop.payments";
const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 500 });
let isReady = false;
let isLive = true;
consumer.on(consumer.events.GROUP_JOIN, () => void (isReady = true));
consumer.on(consumer.events.CRASH, ({ payload }) => {
  isReady = false;
  isLive = payload.restart;
  logger.error({ err: payload.error, restart: payload.restart }, "the consumer has failed");
  if (!payload.restart) {
    process.exitCode = 1;
    void app.close();
  }
});

/** A broker that has just started does not know the group's coordinator yet, and kafkajs calls that final. */
async function untilGroupIsKnown() {
  const admin = kafka.admin();
  await admin.connect();
  for (let attempt = 1; ; attempt++) {
    try {
      await admin.fetchOffsets({ groupId, topics: [topic] });
      return await admin.disconnect();
    } catch (error) {
      if (attempt === 10) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

/** The records of a fetched batch as Lambda writes them. @param {import("kafkajs").Batch} batch */
function eventOf({ topic, partition, messages }) {
  const records = messages.map(({ offset, timestamp, key, value, headers = {} }) => ({
    topic,
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    timestampType: "CREATE_TIME",
    ...(key === null ? {} : { key: key.toString("base64") }),
    ...(value === null ? {} : { value: value.toString("base64") }),
    headers: Object.entries(headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((bytes) => ({ [name]: [...Buffer.from(bytes)] })),
    ),
  }));
  return { eventSource: "SelfManagedKafka", bootstrapServers: brokers.join(","), records: { [`${topic}-${partition}`]: records } };
}

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
app.get("/healthz", (_, reply) => reply.code(isLive ? 200 : 503).send({ live: isLive }));
app.get("/readyz", (_, reply) => reply.code(isReady ? 200 : 503).send({ ready: isReady }));
app.addHook("onClose", () => consumer.disconnect()); // it ends the batch first, and commits
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void app.close()); // not once: npm passes a Ctrl-C on a second time

await untilGroupIsKnown().catch((error) => {
  const help = "Start the stack (npm run stack:up, or npm run example, which does it), or set KAFKA_BROKERS";
  logger.fatal(`Kafka at ${brokers.join(",")} cannot be read: ${error.message}. ${help}`);
  process.exit(1);
});
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
await consumer.run({
  eachBatchAutoResolve: false, // what is not resolved is fetched again
  eachBatch: async ({ batch, resolveOffset, commitOffsetsIfNecessary, pause }) => {
    const event = eventOf(batch);
    const endMs = Date.now() + timeoutMs;
    const { batchItemFailures } = await handler(JSON.parse(JSON.stringify(event)), { getRemainingTimeInMillis: () => endMs - Date.now() });
    logger.info({ records: batch.messages.length, batchItemFailures }, "the function has answered");
    const failed = batchItemFailures[0]?.itemIdentifier.offset;
    const handled = batch.messages.filter(({ offset }) => failed === undefined || Number(offset) < failed).at(-1);
    if (handled !== undefined) resolveOffset(handled.offset);
    await commitOffsetsIfNecessary();
    if (failed !== undefined) setTimeout(pause(), pauseMs); // then its partition goes on with that record
  },
});

await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
