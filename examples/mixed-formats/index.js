// One handler for orders that come in four formats. What it cannot take becomes a dead letter, and the others go on.
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses } from "./addresses.js";

const { brokers, registryUrl } = addresses();
const maxQuantity = Number(process.env["MAX_QUANTITY"] ?? 100);
const logger = pino();

/** @typedef {{ id: number, customer: string, quantity: number, price: string, placed_at: string }} Order */

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId: "mixed-formats",
  topics: ["js.shop.orders", "jn.shop.orders", "av.shop.orders", "pb.shop.orders"],
  registry: { url: registryUrl },
  decoder: { topics: { "jn.shop.orders": { columns: typesOfPlainJson() } } },
  failure: { poison: "dead-letter", deadLetterTopic: "mixed-formats.dead-letters", createDeadLetterTopic: true },
  logger,
});

/** The orders that were taken, by the encoding that they came in. @type {Record<string, Order[]>} */
const taken = {};

/** @type {import("cdckit").TableHandlers<Order>} */
const orders = {
  read: (event) => take(event, event.after),
  create: (event) => take(event, event.after),
  update: (event) => take(event, event.after),
  delete: ({ encoding, key }) => logger.info({ encoding, key }, "order gone"),
};
consumer.on("shop.orders", orders);

/** @param {import("cdckit").CdcEvent} event @param {Order} order */
function take({ encoding, framing, record }, order) {
  if (order.quantity > maxQuantity) {
    throw new RangeError(`order ${order.id} is of more than ${maxQuantity}`); // no retry helps: it becomes a dead letter at once
  }
  (taken[encoding] ??= []).push(order);
  logger.info({ topic: record.topic, encoding, framing, order }, "order");
}

/** JSON without a schema cannot say that `placed_at` is a time and `price` a decimal; `cdc-bench hints` writes this. */
function typesOfPlainJson() {
  return {
    price: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
    placed_at: "io.debezium.time.MicroTimestamp",
  };
}

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
app.get("/orders", () => ({ taken, deadLettered: consumer.health().counts.deadLettered }));

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
