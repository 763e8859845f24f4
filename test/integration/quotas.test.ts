import { confluent } from "@cdckit/confluent";
import { createConsumer, type KafkaDriver } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { beforeAll, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { skipReason as withoutConfluent } from "./confluent-native.ts";
import { platformaticClients } from "./platformatic-clients.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

interface ClientOptions {
  readonly brokers: string[];
  readonly clientId: string;
}

const drivers: readonly (readonly [string, (options: ClientOptions) => KafkaDriver])[] = [
  ["kafkajs", kafkajs],
  ...platformaticClients.map(
    ({ major, ...client }) => [`platformatic ${major}`, (options: ClientOptions) => platformatic({ ...options, ...client })] as const,
  ),
  ...(withoutConfluent === null ? [["confluent", confluent] as const] : []),
];

await describeWithKafka("a client whose quota is used up", (kafka) => {
  const [topic, clientId] = [uniqueName("quotas"), uniqueName("throttled")];

  beforeAll(async () => {
    const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer()];
    await admin.connect();
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await admin.disconnect();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: JSON.stringify({ id: 1, text: "x".repeat(200_000) }) }] });
    await producer.disconnect();
    const ofClient = ["--entity-type", "clients", "--entity-name", clientId, "--add-config", "consumer_byte_rate=1000"];
    await runKafkaTool(kafka, "kafka.admin.ConfigCommand", ["--bootstrap-server", kafka.brokers, "--alter", ...ofClient]);
  });

  // The broker names a pause of minutes, once: nothing more is heard of it until that is over.
  test.for(drivers)("is said to be so by health() within seconds, %s", async ([name, make]) => {
    const driver = make({ brokers: [kafka.brokers], clientId });
    const consumer = createConsumer({
      driver,
      groupId: uniqueName(name),
      topics: [topic],
      signals: false,
      logger: false,
      shutdownTimeoutMs: 1_000,
    });
    const running = consumer.on("*", () => {}).run();
    await expect
      .poll(() => consumer.health().reasons.join("; "), { timeout: 20_000 })
      .toContain(`the quota of the client is used up: its broker sends nothing of ${topic}[0]`);
    await consumer.stop();
    await running;
  });
});
