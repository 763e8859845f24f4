// A copy of a table in PostgreSQL: rows and offsets move in one transaction.
import { postgres } from "@cdckit/postgres";
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";

const { brokers, registryUrl, topic, groupId } = environment();

const consumer = createConsumer({
  driver: kafkajs({ brokers, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 1_000 }), // a killed member is missed soon
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
});
const sink = postgres({ connectionString: required("DATABASE_URL"), schema: "services_copy", create: true, widen: true });
consumer.to(sink, { tables: ["services.orders"], batch: { maxEvents: 1_000, maxMs: 200 } });

try {
  await consumer.run();
  say("stopped");
} catch (error) {
  say("halted", { error: String(error) });
  process.exitCode = 1;
}
