// A page that shows the rows of a table, and each change as it happens.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fastifyCdc } from "@cdckit/fastify";
import { createConsumer, kafkajs } from "cdckit";
import fastify, { LogController } from "fastify";
import pino from "pino";
import { addresses } from "./addresses.js";
import { createViewers } from "./viewers.js";

const { brokers, registryUrl } = addresses();
const logger = pino();

/** @typedef {{ id: string, customer: string, city: string, state: string }} Parcel */

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId: `live-dashboard-${randomUUID()}`, // of its own: each instance shows every change, and its rows begin empty
  topics: ["av.shop.parcels"],
  registry: { url: registryUrl },
  decoder: { values: { int64: "string" } }, // the page gets rows as JSON, which rounds integers beyond 2^53, or has no bigint
  logger,
});

/** The rows as they are now, by id. @type {Map<string, Parcel>} */
const parcels = new Map();
const viewers = createViewers();

/** @type {import("cdckit").TableHandlers<Parcel, { id: string }>} */
const handlers = {
  read: (event) => put(event),
  create: (event) => put(event),
  update: (event) => put(event),
  delete: ({ key, before, source }) => {
    if (key === null) return;
    parcels.delete(key.id);
    viewers.send("change", { op: "delete", id: key.id, before, after: null, committedAt: source.tsMs });
  },
  truncate: () => {
    parcels.clear();
    viewers.send("rows", []);
  },
};
consumer.on("shop.parcels", handlers);

/** @param {{ op: string, before: Parcel | null, after: Parcel, source: { tsMs: number | null } }} event */
function put({ op, before, after, source }) {
  parcels.set(after.id, after);
  viewers.send("change", { op, id: after.id, before, after, committedAt: source.tsMs });
}

const page = readFileSync(new URL("page/index.html", import.meta.url));
const script = readFileSync(new URL("page/dashboard.js", import.meta.url));

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ loggerInstance: logger, logController, forceCloseConnections: true });
app.get("/", (_, reply) =>
  reply
    .headers({ "content-type": "text/html; charset=utf-8", "content-security-policy": "default-src 'self'; style-src 'unsafe-inline'" })
    .send(page),
);
app.get("/dashboard.js", (_, reply) => reply.type("text/javascript; charset=utf-8").send(script));
app.get("/events", (_, reply) => {
  reply.hijack();
  viewers.add(reply.raw, "rows", [...parcels.values()]);
});
app.addHook("preClose", async () => viewers.close());

// Runs the consumer until SIGTERM or Ctrl-C, and answers /healthz and /readyz.
await app.register(fastifyCdc, { consumer, onEnd: (error) => void (process.exitCode = error === null ? 0 : 1) });
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) });
