import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsumer, redriveOf } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, describe, expect, test, vi } from "vitest";
import { type RunningKafka, startKafka } from "../../scripts/stack/kafka.mjs";
import { missingForKafka } from "./secured-kafka.ts";
import { createTopics } from "./stack.ts";

const dayMs = 86_400_000;
const records = 5;
const weekOfRetention = [{ name: "retention.ms", value: String(7 * dayMs) }];

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("dead letters of records that are older than the retention", { meta: { skipReason } }, () => {
  const dir = mkdtempSync(join(tmpdir(), "cdckit-retention-"));
  let kafka: RunningKafka | undefined;

  afterAll(async () => {
    await kafka?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test("outlive the dead-letter topic's retention, and a redrive has the record's own timestamp", async () => {
    // It looks for expired records twice a second; Kafka's own default is every five minutes.
    kafka = await startKafka({ dir, config: { "log.retention.check.interval.ms": 500, "log.initial.task.delay.ms": 500 } });
    const { brokers } = kafka;
    const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer({ idempotent: true, maxInFlightRequests: 1 })];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [
      { topic: "orders", numPartitions: 1 },
      { topic: "orders.dead", numPartitions: 1, configEntries: weekOfRetention },
      { topic: "control", numPartitions: 1, configEntries: weekOfRetention },
    ]);
    const timestamp = String(Date.now() - 8 * dayMs);
    const messages = Array.from({ length: records }, (_, id) => ({ key: `{"id":${id}}`, value: `{"id":${id}}`, timestamp }));
    await producer.send({ topic: "orders", messages });

    const consumer = createConsumer({
      driver: kafkajs({ brokers: [brokers], maxWaitMs: 100 }),
      groupId: "billing",
      topics: ["orders"],
      failure: { poison: "dead-letter", deadLetterTopic: "orders.dead", breaker: false, retry: { attempts: 1 } },
      signals: false,
    });
    consumer.on("*", () => {
      throw new TypeError("a bug in the handler");
    });
    const running = consumer.run();
    await vi.waitFor(() => expect(consumer.health().counts.deadLettered).toBe(records), { timeout: 30_000, interval: 50 });
    await consumer.stop();
    await running;

    // When the broker has deleted records of that age from a topic with the same retention, the letters would be gone as well.
    await producer.send({ topic: "control", messages });
    await vi.waitFor(async () => expect((await admin.fetchTopicOffsets("control"))[0]?.low).toBe(String(records)), {
      timeout: 60_000,
      interval: 200,
    });
    expect((await admin.fetchTopicOffsets("orders.dead"))[0]).toMatchObject({ low: "0", high: String(records) });

    const redriven: (bigint | undefined)[] = [];
    const reader = client.consumer({ groupId: "reader", maxWaitTimeInMs: 100 });
    await reader.connect();
    await reader.subscribe({ topics: ["orders.dead"], fromBeginning: true });
    await reader.run({
      eachMessage: async ({ topic, partition, message }) => {
        const { key, value, offset, timestamp: ownTime } = message;
        const headers = Object.entries(message.headers ?? {}).map(([name, bytes]) => [name, bytes as Buffer] as const);
        const letter = { topic, partition, offset: BigInt(offset), timestamp: BigInt(ownTime), key, value, headers };
        redriven.push(redriveOf(letter)?.timestamp);
      },
    });
    await vi.waitFor(() => expect(redriven).toEqual(Array.from({ length: records }, () => BigInt(timestamp))), {
      timeout: 30_000,
      interval: 50,
    });
    await Promise.all([reader.disconnect(), producer.disconnect(), admin.disconnect()]);
  });
});
