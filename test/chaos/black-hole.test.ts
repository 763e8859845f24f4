import { setTimeout as pass } from "node:timers/promises";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { withKafka } from "../integration/stack.ts";
import { startProxiedKafka } from "./proxied-kafka.ts";

const found = await withKafka(); // says why, where there is no Java; the broker of this test is one of its own, behind a proxy
const skipReason = found.skip === false ? null : found.skip;

test.skipIf(skipReason !== null)(
  "a broker that answers everything but fetches turns health() red, with the reason, until it answers again",
  { timeout: 120_000, meta: skipReason === null ? {} : { skipReason } },
  async () => {
    const { kafka, proxy, stop } = await startProxiedKafka();
    const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    const [producer, admin] = [client.producer(), client.admin()];
    await Promise.all([producer.connect(), admin.connect()]);
    await admin.createTopics({ topics: [{ topic: "rows" }], waitForLeaders: true });
    const write = (): Promise<unknown> => producer.send({ topic: "rows", messages: [{ value: '{"id":1}' }] });
    const consumer = createConsumer({
      driver: kafkajs({ brokers: [`127.0.0.1:${proxy.port}`], maxWaitMs: 100, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500 }),
      groupId: "watched",
      topics: ["rows"],
      signals: false,
      shutdownTimeoutMs: 2_000,
      health: { stuckAfterMs: 5_000, lagIntervalMs: 500 },
    });
    consumer.on("*", () => {});
    const running = consumer.run().catch(() => {});
    try {
      await write();
      await until(consumer, ({ counts, ready }) => ready && counts.handled === 1);
      proxy.swallowFetches();
      await pass(1_000); // the fetch under way is still answered
      await write();
      await until(consumer, ({ live }) => !live);
      expect(consumer.health().reasons.join()).toMatch(/rows\[0\] has [12] records to read, and nothing has moved for \d+ s/);
      proxy.heal();
      await until(consumer, ({ live, counts }) => live && counts.handled >= 2);
    } finally {
      await consumer.stop();
      await running;
      await Promise.all([producer.disconnect(), admin.disconnect()]);
      await stop();
    }
  },
);

async function until(consumer: Consumer, isSo: (health: ReturnType<Consumer["health"]>) => boolean): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!isSo(consumer.health())) {
    if (performance.now() > giveUpAt) {
      throw new Error(
        `it did not come to that within a minute: ${JSON.stringify(consumer.health(), (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))}`,
      );
    }
    await pass(100);
  }
}
