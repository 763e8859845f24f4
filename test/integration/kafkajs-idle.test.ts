import { createHook } from "node:async_hooks";
import { setTimeout as pass } from "node:timers/promises";
import { createConsumer } from "@cdckit/consumer";
import { type KafkaJsOptions, kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const idleMs = 1_000;

/** How often a timer of this process, made after the start, ran in a time in which nothing else happened. */
async function timersRunDuring(start: () => Promise<void>): Promise<number> {
  const timers = new Set<number>();
  let runs = 0;
  const hook = createHook({
    init: (id, type) => {
      if (type === "Timeout") {
        timers.add(id);
      }
    },
    before: (id) => {
      runs += timers.has(id) ? 1 : 0;
    },
  }).enable();
  try {
    await start();
    runs = 0;
    await pass(idleMs);
    return runs;
  } finally {
    hook.disable();
  }
}

await describeWithKafka("an idle consumer on the kafkajs driver", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  async function timersOf(options: KafkaJsOptions): Promise<number> {
    const topic = uniqueName("idle");
    const admin = client.admin();
    await admin.connect();
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    await admin.disconnect(); // it would wake the process, too
    const consumer = createConsumer({ driver: kafkajs(options), groupId: topic, topics: [topic], from: "earliest", signals: false });
    consumer.on("*", () => {});
    let running = Promise.resolve() as Promise<unknown>;
    try {
      return await timersRunDuring(async () => {
        running = consumer.run();
        running.catch(() => {}); // awaited below
        while (!consumer.health().ready) {
          await pass(20);
        }
        await pass(idleMs); // until the connections that only a start needs are closed
      });
    } finally {
      await consumer.stop();
      await running;
    }
  }

  const ofApplication: KafkaJsOptions = { kafka: client };
  test.each([
    ["of the driver", { brokers: [kafka.brokers] }],
    ["of the application", ofApplication],
  ])("with a client %s leaves the process asleep", async (_, options) => {
    expect(await timersOf(options)).toBeLessThan(30);
  });

  test("changes nothing in the application's own connections, which kafkajs wakes all the time", async () => {
    const admin = client.admin();
    expect(await timersRunDuring(async () => admin.connect())).toBeGreaterThan(100);
    await admin.disconnect();
  });
});
