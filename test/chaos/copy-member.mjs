/** A service as users write one that keeps a copy of tables in PostgreSQL: `node copy-member.mjs '{"brokers":...}'`. */
import process from "node:process";
import { inspect } from "node:util";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { postgres } from "@cdckit/postgres";

const { brokers, registryUrl, topics, groupId, sinks, ...options } = JSON.parse(process.argv[2] ?? "{}");
const consumer = createConsumer({
  logger: false,
  driver: kafkajs({
    brokers: [brokers],
    maxWaitMs: 100,
    sessionTimeoutMs: 3_000,
    heartbeatIntervalMs: 300,
    rebalanceTimeoutMs: 5_000,
    maxBytesPerPartition: 16_384,
    partitionsConsumedConcurrently: 4,
  }),
  groupId,
  topics,
  ...(registryUrl === undefined ? {} : { registry: { url: registryUrl } }),
  shutdownTimeoutMs: 5_000,
  ...options,
});
for (const { batch, ...sink } of sinks) {
  consumer.to(postgres(sink), { batch });
}
try {
  await consumer.run();
} catch (error) {
  process.stderr.write(`${inspect(error)}\n`); // with its causes
  process.exitCode = 1;
}
