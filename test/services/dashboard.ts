// A Fastify service: health and readiness for the orchestrator, and changes as server-sent events for the browser.
import { createConsumer, kafkajs } from "cdckit";
import fastify from "fastify";
import { environment, say } from "./environment.js";
import type { Tables } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();

const consumer = createConsumer<Tables>({
  driver: kafkajs({ brokers }),
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
});

const { health, stop } = consumer;
const app = fastify();
const viewers = new Set<(text: string) => void>();

app.get("/live", (_, reply) => reply.code(health().live ? 200 : 503).send(health()));
app.get("/ready", (_, reply) => reply.code(health().ready ? 200 : 503).send(health()));
app.get("/events", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  reply.raw.write(": connected\n\n");
  const show = (text: string): void => void reply.raw.write(text);
  viewers.add(show);
  request.raw.once("close", () => viewers.delete(show));
});

consumer.on("services.orders", {
  batch: (events) => {
    for (const event of events) {
      const text = `event: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
      for (const show of viewers) {
        show(text);
      }
    }
  },
});

app.addHook("onClose", () => stop());
say("listening", { url: await app.listen({ host: "127.0.0.1", port: 0 }) });
try {
  await consumer.run(); // SIGTERM ends it
  say("stopped");
} catch (error) {
  say("halted", { error: (error as Error).message });
  process.exitCode = 1;
}
app.server.closeAllConnections(); // viewers stay for ever otherwise
await app.close();
