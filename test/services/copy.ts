// A copy of a table in PostgreSQL: each change is applied once, whoever is killed when.
import { postgres } from "@cdckit/postgres";
import { createConsumer, kafkajs } from "cdckit";
import { environment, required, say } from "./environment.js";

const { brokers, registryUrl, topic, groupId } = environment();

const consumer = createConsumer({
  driver: kafkajs({ brokers, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 1_000 }),
  groupId,
  topics: [topic],
  registry: { url: registryUrl },
});
consumer.to(postgres({ connectionString: required("DATABASE_URL"), schema: "services_copy", create: true }), {
  batch: { maxEvents: 500, maxMs: 100 },
});

say("starting");
try {
  await consumer.run();
  say("stopped");
} catch (error) {
  say("halted", { error: (error as Error).message });
  process.exitCode = 1;
}
