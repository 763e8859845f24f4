// A loop in place of handlers: what is done is committed, and leaving the loop stops the consumer.
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";
import type { Tables } from "./orders.js";

const { brokers, registryUrl, topic, groupId } = environment();
const lastId = Number(required("LAST_ID"));

const consumer = createConsumer<Tables>({
  driver: kafkajs({ brokers }),
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
});

for await (const { event, done } of consumer.stream()) {
  if (event.kind === "change" && event.op === "create") {
    say("created", { id: event.after.id, customer: event.after.customer });
  }
  done();
  if (event.kind === "change" && event.op === "create" && event.after.id === lastId) {
    break;
  }
}
say("stopped", { phase: consumer.health().phase });
