/**
 * Consumes by @confluentinc/kafka-javascript until it halts. Says which offsets it handles, and why it has halted.
 * Arguments: brokers, topic, group.
 */
import process from "node:process";
import { confluent } from "@cdckit/confluent";
import { createConsumer, silentLogger } from "@cdckit/consumer";

const [brokers = "", topic = "", groupId = ""] = process.argv.slice(2);
const tuning = { maxWaitMs: 100, heartbeatIntervalMs: 300, sessionTimeoutMs: 120_000, rebalanceTimeoutMs: 120_000 };
const driver = confluent({ brokers: brokers.split(","), ...tuning });
const consumer = createConsumer({ driver, groupId, topics: [topic], logger: silentLogger });
consumer.on("*", ({ record }) => void process.stdout.write(`${record.offset}\n`));
await consumer.run().catch((error) => process.stdout.write(`${error.message}\n`));
