// Search in the books of a table. The index is in this process, and changes keep it up to date.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses } from "./addresses.js";
import { openIndex } from "./index-file.js";
import { indexSink } from "./index-sink.js";

const { brokers, registryUrl } = addresses();
const path = join(process.env["DATA_DIR"] ?? tmpdir(), "cdckit-search-index.json");
const saveEveryMs = 5_000;
const logger = pino();
const index = openIndex(path);
logger.info({ path, books: index.count() }, "index opened");

const consumer = createConsumer({
  driver: kafkajs({ brokers, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 1_000 }), // after a kill, the next start waits no longer
  groupId: `search-index-${index.id}`, // an index that begins empty has a new group, and reads from the start
  topics: ["av.shop.books"],
  registry: { url: registryUrl },
  decoder: { values: { int64: "string" } }, // the index is kept as JSON, which has no bigint
  logger,
});
consumer.to(indexSink(index, { path, logger }), { tables: ["shop.books"], batch: { maxEvents: 1_000, maxMs: 50 } });

const saving = setInterval(() => {
  index.save().catch((error) => logger.error(error, "the index was not saved"));
}, saveEveryMs);

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
const query = { type: "object", required: ["q"], properties: { q: { type: "string", maxLength: 200 } } };
app.get("/search", { schema: { querystring: query } }, (request) => {
  const { q } = /** @type {{ q: string }} */ (request.query);
  return { books: index.count(), found: index.search(q).slice(0, 20) };
});
app.addHook("onClose", async () => clearInterval(saving));

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
