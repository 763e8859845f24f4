import { setTimeout as pass } from "node:timers/promises";
import { type Consumer, createConsumer, type Health } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ProxiedKafka, startProxiedKafka } from "../chaos/proxied-kafka.ts";
import type { TcpProxy } from "../chaos/tcp-proxy.ts";
import { createTopics } from "./stack.ts";

const requestTimeoutMs = 3_000;
const stuckAfterMs = 4_000;
/** One for each test. */
const topics = ["swallowed", "copied", "refused", "poison-kafkajs", "poison-platformatic"] as const;
const deadLetterTopic = "dead";
type Topic = (typeof topics)[number];

async function until(consumer: Consumer, withinMs: number, isSo: (health: Health) => boolean): Promise<number> {
  const startedMs = performance.now();
  for (; !isSo(consumer.health()); await pass(50)) {
    if (performance.now() - startedMs > withinMs) {
      throw new Error(
        `it did not come to that within ${withinMs} ms; health says: ${consumer.health().reasons.join("; ") || "all is well"}`,
      );
    }
  }
  return performance.now() - startedMs;
}

// Beside each other, each with a proxy of its own: they wait for most of their time.
describe.concurrent("a consumer behind a proxy", () => {
  let broker: ProxiedKafka;
  let client: Kafka;
  let write: (topic: Topic) => Promise<unknown>;
  let end: () => Promise<unknown>;

  beforeAll(async () => {
    broker = await startProxiedKafka(topics.length);
    client = new Kafka({ brokers: [broker.kafka.brokers], logLevel: logLevel.NOTHING });
    const [producer, admin] = [client.producer({ idempotent: true, maxInFlightRequests: 1 }), client.admin()];
    await Promise.all([producer.connect(), admin.connect()]);
    await createTopics(
      admin,
      [...topics, deadLetterTopic].map((topic) => ({ topic })),
    );
    write = (topic) => producer.send({ topic, messages: [{ key: "1", value: '{"id":1}' }] });
    end = () => Promise.all([producer.disconnect(), admin.disconnect()]);
  });
  afterAll(async () => {
    await end();
    await broker.stop();
  });

  function proxyOf(topic: Topic): TcpProxy {
    return broker.proxies[topics.indexOf(topic)] as TcpProxy; // there are as many
  }

  /** `ownsConnections`: false for a client of the application's, whose connections the driver must leave alone. */
  function consumerOf(topic: Topic, ownsConnections = true): Consumer {
    const where = { brokers: [`127.0.0.1:${proxyOf(topic).port}`], requestTimeout: requestTimeoutMs };
    const client = ownsConnections ? where : { kafka: new Kafka({ ...where, logLevel: logLevel.NOTHING }) };
    return createConsumer({
      driver: kafkajs({ ...client, maxWaitMs: 100, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500 }),
      groupId: `of-${topic}`,
      topics: [topic],
      signals: false,
      shutdownTimeoutMs: 3_000,
      health: { stuckAfterMs, lagIntervalMs: 500 },
    });
  }

  test("is at work again soon when its connections swallow what is sent on them and new ones work, and counts it", async ({ task }) => {
    const proxy = proxyOf("swallowed");
    const consumer = consumerOf("swallowed").on("*", () => {});
    const running = consumer.run();
    running.catch(() => {}); // awaited below
    try {
      await write("swallowed");
      await until(consumer, 30_000, ({ ready, counts }) => ready && counts.handled === 1);
      proxy.swallowOld();
      await write("swallowed");
      const tookMs = await until(consumer, requestTimeoutMs + 15_000, ({ counts }) => counts.handled >= 2);
      task.meta.summary = `at work again ${Math.round(tookMs)} ms after the connections died, with a request timeout of ${requestTimeoutMs} ms`;
      expect(consumer.health().counts.reconnects).toBeGreaterThan(0);
      await until(consumer, 15_000, ({ live, ready, reasons }) => live && ready && reasons.length === 0);
    } finally {
      await consumer.stop();
    }
    await running;
  });

  test("stays where it is when nobody replaces them: kafkajs does not by itself", async () => {
    const proxy = proxyOf("copied");
    const consumer = consumerOf("copied", false).on("*", () => {});
    const running = consumer.run();
    running.catch(() => {}); // awaited below
    try {
      await write("copied");
      await until(consumer, 30_000, ({ ready, counts }) => ready && counts.handled === 1);
      proxy.swallowOld();
      await write("copied");
      await expect(until(consumer, 4 * requestTimeoutMs, ({ counts }) => counts.handled >= 2)).rejects.toThrow("did not come to that");
      expect(consumer.health()).toMatchObject({ ready: false, counts: { reconnects: 0 } });
      proxy.heal();
      await until(consumer, 60_000, ({ counts }) => counts.handled >= 2);
    } finally {
      await consumer.stop();
    }
    await running;
  });

  test("names the brokers that are gone, the cause and since when, is not ready meanwhile, and goes on when they are back", async () => {
    const lines: string[] = [];
    const proxy = proxyOf("refused");
    const consumer = consumerOf("refused").on("*", () => {});
    const running = consumer.run();
    running.catch(() => {}); // awaited below
    try {
      await write("refused");
      await until(consumer, 30_000, ({ ready, counts }) => ready && counts.handled === 1);
      const cutAtMs = Date.now();
      proxy.cut();
      await until(consumer, 5_000, ({ waits }) => waits.some(({ host }) => host === `127.0.0.1:${proxy.port}`));
      const [wait] = consumer.health().waits.filter(({ what }) => what === "the connection to the brokers");
      expect(wait?.since).toBeGreaterThanOrEqual(cutAtMs - 100);
      expect(wait?.cause).toMatch(/ECONN|closed the connection/);
      await until(consumer, 30_000, ({ ready }) => !ready);
      // It stays one wait, whatever kafkajs does in between, and no restart would mend it.
      for (const enough = performance.now() + 15_000; performance.now() < enough; await pass(200)) {
        const { waits, ready, reasons } = consumer.health();
        lines.push(...reasons);
        const { since = 0 } = waits.find(({ what }) => what === "the connection to the brokers") ?? {};
        expect(Math.abs(since - (wait?.since ?? 0))).toBeLessThan(20); // it is counted back from now
        expect(ready).toBe(false);
      }
      expect(lines.some((line) => line.includes(`127.0.0.1:${proxy.port}`) && line.includes("is waited for since"))).toBe(true);
      proxy.heal();
      await write("refused");
      await until(consumer, 30_000, ({ ready, counts, reasons }) => ready && counts.handled >= 2 && reasons.length === 0);
    } finally {
      proxy.heal();
      await consumer.stop();
    }
    await running;
  });

  test.each(["kafkajs", "platformatic"] as const)(
    "%s: a dead letter waits for brokers that are away, names them and why, and uses up none of its attempts",
    async (name) => {
      const topic: Topic = `poison-${name}`;
      const proxy = proxyOf(topic);
      const where = { brokers: [`127.0.0.1:${proxy.port}`], maxWaitMs: 100, sessionTimeoutMs: 30_000 };
      const consumer = createConsumer({
        driver: name === "kafkajs" ? kafkajs(where) : platformatic(where),
        groupId: `of-${topic}`,
        topics: [topic],
        signals: false,
        shutdownTimeoutMs: 3_000,
        failure: { poison: "dead-letter", deadLetterTopic, retry: { attempts: 1, initialDelayMs: 50, maxDelayMs: 50 } },
      }).on("*", () => {
        proxy.cut();
        throw new TypeError("the record is to blame");
      });
      const running = consumer.run();
      running.catch(() => {}); // awaited below
      try {
        await write(topic);
        await until(consumer, 30_000, ({ waits }) => waits.some(({ what, failures }) => what.includes(deadLetterTopic) && failures > 0));
        expect(consumer.health().waits.find(({ what }) => what.includes(deadLetterTopic))?.cause).toMatch(
          /writing to dead failed: .*onnection/,
        );
        proxy.heal();
        await until(consumer, 60_000, ({ counts }) => counts.deadLettered === 1);
      } finally {
        proxy.heal();
        await consumer.stop();
      }
      await running;
    },
  );
});
