// Orders, their events in an outbox, and shipments that are made of the events.
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pg from "pg";
import pino from "pino";
import { addresses } from "./addresses.js";
import { inTransaction } from "./in-transaction.js";
import { handleOrderEvents, writeEvent } from "./order-events.js";

const { brokers, registryUrl, connectionString } = addresses();
const logger = pino();
const database = new pg.Pool({ connectionString });
database.on("error", (error) => logger.error(error, "a connection to PostgreSQL was lost"));

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId: "outbox-shipments",
  topics: ["outbox.event.order"],
  registry: { url: registryUrl },
  logger,
});

/** By order. A service keeps them, and the ids of the events that it has applied, in its database. @type {Map<number, object>} */
const shipments = new Map();
/** @type {Set<string>} */
const applied = new Set();

/** An event may come twice: its id says so. @param {string} id @param {() => void} apply */
function once(id, apply) {
  if (!applied.has(id)) apply();
  applied.add(id);
}

consumer.on(
  "outbox.event.order",
  handleOrderEvents({
    OrderPlaced: ({ order, customer, total }, id) =>
      once(id, () => void shipments.set(order, { order, customer, total, state: "to be sent" })),
    OrderCancelled: ({ order, reason }, id) => once(id, () => void shipments.set(order, { order, state: "cancelled", reason })),
  }),
);

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
const orderBody = {
  type: "object",
  required: ["customer", "total"],
  properties: { customer: { type: "string" }, total: { type: "string", pattern: "^[0-9]{1,9}\\.[0-9]{2}$" } },
};
app.post("/orders", { schema: { body: orderBody } }, async (request, reply) => {
  const { customer, total } = /** @type {{ customer: string, total: string }} */ (request.body);
  const order = await inTransaction(database, async (client) => {
    const { rows } = await client.query("insert into outbox.orders (customer, total) values ($1, $2) returning id::int", [customer, total]);
    await writeEvent(client, "OrderPlaced", { order: rows[0].id, customer, total });
    return rows[0].id;
  });
  return reply.code(201).send({ order });
});
app.delete("/orders/:id", { schema: { params: { type: "object", properties: { id: { type: "integer" } } } } }, async (request, reply) => {
  const { id } = /** @type {{ id: number }} */ (request.params);
  const isThere = await inTransaction(database, async (client) => {
    const { rowCount } = await client.query("update outbox.orders set state = 'cancelled' where id = $1 and state = 'placed'", [id]);
    if (rowCount === 1) await writeEvent(client, "OrderCancelled", { order: id, reason: "the customer has asked for it" });
    return rowCount === 1;
  });
  return reply.code(isThere ? 204 : 404).send();
});
app.get("/shipments", () => [...shipments.values()]);
app.addHook("onClose", () => database.end());

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
