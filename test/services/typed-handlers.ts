// Typed handlers whose rows and keys are validated by zod before a handler sees them.
import { createConsumer, kafkajs } from "cdckit";
import { environment, say } from "./environment.js";
import { Order, OrderKey, type Tables } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();

const consumer = createConsumer<Tables>({
  driver: kafkajs({ brokers }),
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
});

consumer.on(
  "services.orders",
  {
    create: ({ after, key }) => say("created", { id: key.id, price: after.price, placed: after.placed_at }),
    read: ({ after }) => say("read", { id: after.id, customer: after.customer }),
    update: ({ before, after }) => say("updated", { id: after.id, from: before?.quantity ?? null, to: after.quantity }),
    delete: ({ key }) => say("deleted", { id: key.id }),
    tombstone: () => {},
  },
  { row: Order, key: OrderKey },
);

try {
  await consumer.run();
  say("stopped", { handled: consumer.health().counts.handled });
} catch (error) {
  say("halted", { error: (error as Error).message });
  process.exitCode = 1;
}
