// A consumer of Debezium's messages as many services have it: kafkajs, a registry client for Avro, and JSON.parse.
import { SchemaRegistry } from "@kafkajs/confluent-schema-registry";
import { Kafka, logLevel } from "kafkajs";
import { topics } from "./seen.js";

/**
 * @param {{ brokers: string[], registryUrl: string, groupId: string, logger: import("pino").Logger, seen: import("./seen.js").SeenList }} options
 */
export function createBefore({ brokers, registryUrl, groupId, logger, seen }) {
  const consumer = new Kafka({ brokers, logLevel: logLevel.ERROR }).consumer({ groupId });
  const registry = new SchemaRegistry({ host: registryUrl });
  let isReady = false;
  consumer.on("consumer.group_join", () => void (isReady = true));
  consumer.on("consumer.crash", () => void (isReady = false));

  return {
    isReady: () => isReady,

    async start() {
      await consumer.connect();
      await consumer.subscribe({ topics, fromBeginning: true });
      await consumer.run({
        eachMessage: async ({ topic, message }) => {
          if (message.value === null) return; // the tombstone after a delete
          try {
            const value = topic.startsWith("av.") ? await registry.decode(message.value) : JSON.parse(message.value.toString());
            const { op, before, after } = value.payload ?? value; // with and without a schema
            const { id, amount, paid_at } = op === "d" ? before : after;
            const paidAt = op === "d" ? null : new Date(paid_at / 1_000).toISOString();
            seen.add({ topic, offset: message.offset, op, id: String(id), amount: op === "d" ? null : amount, paidAt });
          } catch (error) {
            const reason = error instanceof Error ? error.message : String(error);
            logger.error({ topic, offset: message.offset, reason }, "cannot read a record: skipped"); // or nothing behind it would ever come
            seen.add({ topic, offset: message.offset, error: reason });
          }
        },
      });
    },

    /** Commits what was read, and leaves the group. */
    stop: () => consumer.disconnect(),
  };
}
