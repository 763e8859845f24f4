// Search in the books of a table. The index is in this process, and changes keep it up to date.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses } from "./addresses.js";
import { openIndex } from "./index-file.js";

const { brokers, registryUrl } = addresses();
const path = join(process.env["DATA_DIR"] ?? tmpdir(), "cdckit-search-index.json");
const saveEveryMs = 5_000;
const logger = pino();
const index = openIndex(path);
logger.info({ path, books: index.count() }, "index opened");

/** @typedef {import("./index-file.js").Book} Book */

/**
 * A sink has checkpoints of its own: the consumer goes on from those of the file, wherever the group's commits are.
 * @type {import("cdckit").Sink}
 */
const sink = {
  name: "search-index",
  host: path,
  claim: async (_groupId, assignments) =>
    assignments.flatMap((assignment) => {
      const checkpoint = index.checkpointOf(assignment.topic, assignment.partition);
      return checkpoint === null ? [] : [{ assignment, offset: BigInt(checkpoint.offset), topicId: checkpoint.topicId }];
    }),
  apply: async ({ assignment: { topic, partition, topicId }, events, nextOffset }) => {
    const changes = events.flatMap((event) => (event.kind === "change" ? [changeOf(event)] : []));
    index.apply(changes, { topic, partition, offset: String(nextOffset), topicId: topicId ?? null });
    if (changes.length > 0) logger.info({ ids: changes.map(({ id }) => id) }, "indexed");
  },
  close: () => index.save(),
};

/** @param {import("cdckit").ChangeEvent} event */
function changeOf({ key, after }) {
  const { id } = /** @type {{ id: number }} */ (key);
  return { id, book: /** @type {Book | null} */ (after) };
}

const consumer = createConsumer({
  driver: kafkajs({ brokers, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 1_000 }), // after a kill, the next start waits no longer
  groupId: `search-index-${index.id}`, // an index that begins empty has a new group, and reads from the start
  topics: ["av.shop.books"],
  registry: { url: registryUrl },
  logger,
});
consumer.to(sink, { tables: ["shop.books"], batch: { maxEvents: 1_000, maxMs: 50 } });

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
