// Typed handlers: the types of rows and keys are those of the zod validators that they pass before a handler sees them.
import { createConsumer, kafkajs } from "cdckit";
import { environment, say } from "./environment.js";
import { Order, OrderKey } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();

const consumer = createConsumer({ driver: kafkajs({ brokers }), groupId, topics: [topic], registry: { url: registryUrl } });

consumer.on(
  "services.orders",
  {
    read: ({ after }) => say("read", { id: after.id, customer: after.customer }),
    create: ({ key, after }) => say("created", { id: key.id, price: after.price, placed: after.placed_at }),
    update: ({ key, before, after }) => say("updated", { id: key.id, from: before?.quantity ?? null, to: after.quantity }),
    delete: ({ key }) => say("deleted", { id: key.id }),
  },
  { row: Order, key: OrderKey },
);

try {
  await consumer.run();
  say("stopped");
} catch (error) {
  say("halted", { error: String(error) });
  process.exitCode = 1;
}
