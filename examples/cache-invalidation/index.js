// Products, read from Redis if it has them and from PostgreSQL if not. A change of a row deletes its key.
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pg from "pg";
import pino from "pino";
import { addresses } from "./addresses.js";
import { openCache } from "./cache.js";

const { brokers, registryUrl, connectionString, redisUrl } = addresses();
const logger = pino();
const database = new pg.Pool({ connectionString });
database.on("error", (error) => logger.error(error, "a connection to PostgreSQL was lost"));
const cache = await openCache(redisUrl, (error) => logger.error(error, "Redis is away")).catch((error) => {
  logger.fatal(error.message);
  process.exit(1);
});

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId: "cache-invalidation", // one group for all instances, because they share the Redis
  topics: ["av.shop.products"],
  registry: { url: registryUrl },
  failure: { retry: { attempts: 50 } }, // Redis may be away for minutes: nothing is skipped, and meanwhile the cache is not asked
  logger,
});

consumer.on("shop.products", {
  columns: ["id"],
  batch: async (events) => {
    const keys = /** @type {({ id: number } | null)[]} */ (events.map(({ key }) => key));
    const ids = keys.flatMap((key) => (key === null ? [] : [String(key.id)]));
    await cache.delete(new Set(ids));
    logger.info({ ids }, "deleted");
  },
});

/** Changes that wait are changes that Redis does not know: until they are handled, reads go to the database. */
function isFresh() {
  const { ready, assigned } = consumer.health();
  return ready && assigned.length > 0 && assigned.every(({ lag }) => lag === 0n);
}

/** @param {string} id @returns {Promise<{ row: string | null, from: "cache" | "database" }>} */
async function readProduct(id) {
  const mayUseCache = isFresh();
  try {
    const cached = mayUseCache ? await cache.get(id) : null;
    if (cached !== null) return { row: cached, from: "cache" };
    const lastChange = await cache.lastChangeOf(id);
    const row = await readRow(id);
    if (row !== null && mayUseCache) await cache.set(id, row, lastChange);
    return { row, from: "database" };
  } catch (error) {
    logger.warn({ error: String(error) }, "read without the cache");
    return { row: await readRow(id), from: "database" };
  }
}

/** @param {string} id */
async function readRow(id) {
  // As texts, id and price keep each digit in JSON.
  const { rows } = await database.query("select id::text, name, price, stock from shop.products where id = $1", [id]);
  return rows.length === 0 ? null : JSON.stringify(rows[0]);
}

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
app.get(
  "/products/:id",
  { schema: { params: { type: "object", properties: { id: { type: "string", pattern: "^[0-9]{1,18}$" } } } } },
  async (request, reply) => {
    const { id } = /** @type {{ id: string }} */ (request.params);
    const { row, from } = await readProduct(id);
    return reply
      .code(row === null ? 404 : 200)
      .headers({ "content-type": "application/json", "x-read-from": from })
      .send(row ?? "null");
  },
);
// After the last handler has returned: it needs Redis.
app.addHook("onClose", () => Promise.all([database.end(), cache.close()]).then(() => {}));

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
