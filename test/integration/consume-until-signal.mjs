/**
 * A service as users write one: it consumes until it is told to stop, and says what it handled.
 * Arguments: brokers, topic, group.
 */
import process from "node:process";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";

const [brokers = "", topic = "", groupId = ""] = process.argv.slice(2);
const consumer = createConsumer({
  driver: kafkajs({ brokers: [brokers], maxWaitMs: 100, sessionTimeoutMs: 3_000, heartbeatIntervalMs: 500 }),
  groupId,
  topics: [topic],
});
consumer.on("*", async (event) => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  process.stdout.write(`${event.record.offset}\n`);
});
await consumer.run();
process.stdout.write("stopped\n");
