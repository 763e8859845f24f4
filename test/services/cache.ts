// A table's rows in memory, behind HTTP: 16 records at a time, retries, and a dead-letter topic.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";
import type { Order, OrderKey } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();
const rows = new Map<number, Order>();

const consumer = createConsumer({
  driver: kafkajs({ brokers }),
  groupId, // a new group for each start, because the cache starts empty
  topics: [topic],
  registry: { url: registryUrl },
  delivery: { concurrency: 16 },
  failure: {
    retry: { attempts: 4, initialDelayMs: 50, maxDelayMs: 2_000 },
    poison: "dead-letter",
    deadLetterTopic: required("DEAD_LETTER_TOPIC"),
  },
});

const asked = new Set<number>();

/** A check elsewhere, which is busy the first time that it is asked about a flaky order, and cannot take a poisoned one at all. */
async function check({ id, note }: Order): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  if (note === "poison") {
    throw new TypeError("this order cannot be checked");
  }
  if (note === "flaky" && !asked.has(id)) {
    asked.add(id);
    throw new Error("the check is busy");
  }
}

async function put(row: Order | null): Promise<void> {
  if (row !== null) {
    await check(row);
    rows.set(row.id, row);
  }
}

consumer.on<Order, OrderKey>("services.orders", {
  read: ({ after }) => put(after),
  create: ({ after }) => put(after),
  update: (event) => put(event.applyTo(rows.get(event.after.id) ?? null)),
  delete: ({ key }) => {
    if (key !== null) {
      rows.delete(key.id);
    }
  },
});

const server = createServer((request, response) => {
  const row = rows.get(Number(request.url?.slice(1)));
  response.statusCode = row === undefined ? 404 : 200;
  response.end(JSON.stringify(row ?? null, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)));
});
server.listen(0, "127.0.0.1", () => say("listening", { port: (server.address() as AddressInfo).port }));

try {
  await consumer.run();
  const { retries, deadLettered } = consumer.health().counts;
  say("stopped", { retries, deadLettered });
} catch (error) {
  say("halted", { error: String(error) });
  process.exitCode = 1;
}
server.close();
server.closeAllConnections();
