// A Fastify server: its health, its readiness, and the changes of a table as server-sent events.
import type { ServerResponse } from "node:http";
import { createConsumer, kafkajs } from "cdckit";
import fastify from "fastify";
import { environment, say } from "./environment.js";

const { brokers, registryUrl, topic, groupId } = environment();
const maxWaitingBytes = 1_000_000;

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId, // one for each instance, because each instance shows every change
  topics: [topic],
  from: { ago: "1m" }, // "latest" would miss what is written before the end of the log is known
  registry: { url: registryUrl },
  startup: "wait",
});
const viewers = new Set<ServerResponse>();

consumer.on("services.orders", {
  batch: (events) => {
    const text = events.map((event) => `event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    for (const viewer of viewers) {
      if (viewer.writableLength > maxWaitingBytes) {
        viewer.destroy(); // it does not keep up
      } else {
        viewer.write(text);
      }
    }
  },
});

const app = fastify({ forceCloseConnections: true });

app.get("/live", (_, reply) => {
  const health = consumer.health();
  return reply.code(health.live ? 200 : 503).send(health);
});

app.get("/ready", (_, reply) => {
  const health = consumer.health();
  return reply.code(health.ready ? 200 : 503).send(health);
});

app.get("/events", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  reply.raw.write(": connected\n\n");
  viewers.add(reply.raw);
  request.raw.once("close", () => viewers.delete(reply.raw));
});

say("listening", { url: await app.listen({ host: "127.0.0.1", port: 0 }) });
try {
  await consumer.run();
  say("stopped");
} catch (error) {
  say("halted", { error: String(error) });
  process.exitCode = 1;
}
await app.close();
