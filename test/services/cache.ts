// A cache of rows by their key: sixteen keys at a time, retries, and dead letters for rows that it cannot take.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";
import type { Order, Tables } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();
const cache = new Map<number, Order>();
const firstAttempts = new Set<number>();

const consumer = createConsumer<Tables>({
  driver: kafkajs({ brokers }),
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
  delivery: { concurrency: 16 },
  failure: {
    poison: "dead-letter",
    deadLetterTopic: required("DEAD_LETTER_TOPIC"),
    retry: { attempts: 3, initialDelayMs: 20 },
    breaker: false,
  },
});

async function put(order: Order): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve)); // a cache elsewhere would answer later, too
  if (order.note === "flaky" && !firstAttempts.has(order.id)) {
    firstAttempts.add(order.id);
    throw new Error("the cache is busy"); // the second attempt goes well
  }
  if (order.note === "poison") {
    throw new TypeError("this row cannot be cached");
  }
  cache.set(order.id, order);
}

consumer.on("services.orders", {
  create: ({ after }) => put(after),
  read: ({ after }) => put(after),
  update: ({ after }) => put(after),
  delete: ({ key }) => void cache.delete(key?.id ?? -1),
  tombstone: () => {},
});

const server = createServer((request, response) => {
  const order = cache.get(Number(request.url?.slice(1)));
  response.writeHead(order === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(order ?? {}));
});
server.listen(0, "127.0.0.1", () => say("listening", { port: (server.address() as AddressInfo).port }));

try {
  await consumer.run();
  const { retries, deadLettered } = consumer.health().counts;
  say("stopped", { retries, deadLettered });
} catch (error) {
  say("halted", { error: (error as Error).message });
  process.exitCode = 1;
}
server.close();
server.closeAllConnections();
