/** A broker that keeps a member in its group and answers none of its fetches. */
import { setTimeout as pass } from "node:timers/promises";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { startProxiedKafka } from "./proxied-kafka.ts";

/** What health() gave as its reasons while no fetch was answered; it was well before, and is again. */
export async function fallIntoBlackHole(): Promise<string> {
  const { kafka, proxy, stop } = await startProxiedKafka();
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const [producer, admin] = [client.producer({ idempotent: true, maxInFlightRequests: 1 }), client.admin()];
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
    // The driver connects anew by itself, in vain: a restart could do no more, and is not asked for.
    await until(consumer, ({ ready, reasons }) => !ready && reasons.some((reason) => reason.includes("records to read")));
    const reasons = consumer.health().reasons.join();
    proxy.heal();
    await until(consumer, ({ ready, counts }) => ready && counts.handled >= 2);
    return reasons;
  } finally {
    await consumer.stop();
    await running;
    await Promise.all([producer.disconnect(), admin.disconnect()]);
    await stop();
  }
}

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
