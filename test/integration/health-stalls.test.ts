import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Consumer, type ConsumerOptions, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { postgres } from "@cdckit/postgres";
import { createRegistry } from "@cdckit/registry";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, beforeAll, expect, test, type TestContext, vi } from "vitest";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { type RunningPostgres, startPostgres } from "../../scripts/stack/postgres.mjs";
import { TcpProxy } from "../chaos/tcp-proxy.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const withinMs = 5_000;
const stuckAfterMs = 8_000;

interface Scene {
  readonly topic: string;
  consumerOf(options?: Partial<ConsumerOptions>): Consumer;
  start(consumer: Consumer): void;
  write(id: number, value?: string | Buffer): Promise<unknown>;
}

await describeWithKafka(
  "health during a stall of real parts",
  (kafka) => {
    const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
    const admin = client.admin();
    const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
    const dir = mkdtempSync(join(tmpdir(), "cdckit-stalls-"));
    let server: RunningPostgres;

    beforeAll(async () => {
      server = await startPostgres({ dir });
      await Promise.all([admin.connect(), producer.connect()]);
    });

    afterAll(async () => {
      await Promise.all([admin.disconnect(), producer.disconnect()]);
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    /** A topic of the test's own, and what reads it until the test has ended. */
    async function setUp({ onTestFinished }: TestContext): Promise<Scene> {
      const topic = uniqueName("stalls");
      await createTopics(admin, [{ topic, numPartitions: 1 }]);
      return {
        topic,
        consumerOf: (options = {}) =>
          createConsumer({
            driver: kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100 }),
            groupId: uniqueName("stalls"),
            topics: [topic],
            signals: false,
            logger: false,
            health: { stuckAfterMs },
            ...options,
          }),
        start(consumer) {
          const run = consumer.run().catch(() => {});
          onTestFinished(async () => {
            await consumer.stop();
            await run;
          });
        },
        write: (id, value = JSON.stringify({ id })) => producer.send({ topic, messages: [{ key: JSON.stringify({ id }), value }] }),
      };
    }

    test.for(["cut", "swallow"] as const)(
      "a database behind a network that is %s is named within 5 s, until it answers",
      async (how, context) => {
        const { topic, consumerOf, start, write } = await setUp(context);
        const [free = 0] = await freePorts(1);
        const proxy = await TcpProxy.listen(free, server.database.port, { speaksKafka: false });
        const port = String(proxy.port);
        const pool = new pg.Pool({ ...server.database, host: "127.0.0.1", port: proxy.port, connectionTimeoutMillis: 60_000 });
        pool.on("error", () => {});
        const consumer = consumerOf();
        consumer.to(postgres({ pool: pool as never, create: true, tableFor: () => ({ name: topic.replaceAll(/\W/g, "_") }) }));
        await write(1);
        start(consumer);
        await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, reasons: [], counts: { handled: 1 } }), 60_000);
        proxy[how]();
        await write(2);
        await vi.waitFor(() => {
          const { live, ready, reasons, waits } = consumer.health();
          expect({ live, ready, reasons }).toMatchObject({
            live: true,
            ready: true,
            reasons: [expect.stringContaining(`the sink "postgres" (127.0.0.1:${port}/`)],
          }); // prettier-ignore
          expect(waits).toMatchObject([{ place: `${topic}[0]@1`, since: expect.any(Number) }]);
        }, withinMs);
        await vi.waitFor(() => expect(consumer.health()).toMatchObject({ live: true, ready: false }), stuckAfterMs + 2_000);
        proxy.heal();
        await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, waits: [], counts: { handled: 2 } }), 90_000);
        await consumer.stop();
        await Promise.all([pool.end(), proxy.close()]);
      },
    );

    test("a registry that accepts and never answers is named within 5 s, with its address and the schema", async (context) => {
      const { consumerOf, start, write } = await setUp(context);
      const silent = createServer(() => {}).listen(0, "127.0.0.1");
      await once(silent, "listening");
      const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      // The options of a registry are asked at the start; a source of schemas is asked when the first record needs one.
      const registry = createRegistry({ url });
      const consumer = consumerOf({ registry });
      consumer.on("*", () => {});
      start(consumer);
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ ready: true, reasons: [] }), 60_000);
      await write(1, Buffer.from([0, 0, 0, 0, 7, 2]));
      await vi.waitFor(() => expect(consumer.health().reasons.join()).toContain(`schema 7 (${url}) is waited for since`), withinMs + 1_000);
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ live: true, ready: false }), stuckAfterMs + 2_000);
      await consumer.stop();
      await registry.close();
      silent.closeAllConnections();
      silent.close();
    });

    test("a start that an open transaction holds up is named within 5 s, with the partition and the cause, until it ends", async (context) => {
      const { topic, consumerOf, start, write } = await setUp(context);
      const groupId = uniqueName("stalls");
      await write(1);
      const transactional = client.producer({ transactionalId: uniqueName("stalls"), maxInFlightRequests: 1, idempotent: true });
      await transactional.connect();
      const transaction = await transactional.transaction();
      await transaction.sendOffsets({ consumerGroupId: groupId, topics: [{ topic, partitions: [{ partition: 0, offset: "1" }] }] });
      const consumer = consumerOf({ groupId, driver: platformatic({ brokers: [kafka.brokers], maxWaitMs: 100 }) });
      // With a sink, the group's offsets are asked for after the join alone.
      consumer.to({ name: "copy", claim: async () => [], apply: async () => {}, close: async () => {} });
      start(consumer);
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ phase: "running", assigned: [{ topic, partition: 0 }] }), 60_000);
      const wait = {
        what: "the start offset",
        host: kafka.brokers,
        place: `${topic}[0]`,
        cause: expect.stringContaining("unstable offsets"),
      };
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ live: true, ready: true, waits: [wait] }), withinMs);
      await transaction.abort();
      await vi.waitFor(() => expect(consumer.health()).toMatchObject({ reasons: [], waits: [], counts: { handled: 1 } }), 30_000);
      await transactional.disconnect();
    });

    test("a dead-letter topic that does not exist is an error at the start, and is created if that is asked for", async (context) => {
      const { topic, consumerOf, start, write } = await setUp(context);
      const deadLetterTopic = `${topic}.dead`;
      const missing = consumerOf({ failure: { poison: "dead-letter", deadLetterTopic } });
      await expect(missing.on("*", () => {}).run()).rejects.toMatchObject({
        code: "topic-missing",
        message: expect.stringContaining(`${deadLetterTopic}, which failure.deadLetterTopic names`),
      });
      expect(await admin.listTopics()).not.toContain(deadLetterTopic);
      const createDeadLetterTopic = { partitions: 3, replicationFactor: 1 };
      const consumer = consumerOf({ failure: { poison: "dead-letter", deadLetterTopic, createDeadLetterTopic } });
      consumer.on("*", () => {});
      await write(1, "{no json");
      start(consumer);
      await vi.waitFor(() => expect(consumer.health().counts.deadLettered).toBe(1), 60_000);
      const offsets = await admin.fetchTopicOffsets(deadLetterTopic);
      expect(offsets).toHaveLength(3);
      expect(offsets.filter(({ high }) => high === "1")).toHaveLength(1);
    });
  },
  { concurrent: true },
);
