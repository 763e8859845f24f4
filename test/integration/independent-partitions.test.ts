import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pass } from "node:timers/promises";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const partitions = 4;
const perPartition = 20;
const heldOffset = 5n;

/** A registry that answers for schema 1, and for schema 2 only once it is let go. */
class HalfRegistry {
  readonly #server: Server;
  readonly #waiting: ServerResponse[] = [];
  #isOpen = false;

  private constructor() {
    const schema = JSON.stringify({ type: "record", name: "Row", fields: [{ name: "id", type: "long" }] });
    const answer = (response: ServerResponse): void => void response.end(JSON.stringify({ schema }));
    this.#server = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url === "/schemas/types") {
        response.end('["AVRO"]');
      } else if (this.#isOpen || !request.url?.startsWith("/schemas/ids/2")) {
        answer(response);
      } else {
        this.#waiting.push(response);
      }
    });
    this.open = () => {
      this.#isOpen = true;
      this.#waiting.forEach(answer);
    };
  }

  readonly open: () => void;

  static async listen(): Promise<HalfRegistry> {
    const registry = new HalfRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, "127.0.0.1", resolve));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A row in Confluent's framing. */
function framed(schemaId: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeInt32BE(schemaId, 1);
  bytes[5] = 2;
  return bytes;
}

async function until(what: string, isSo: () => boolean, consumer: Consumer): Promise<void> {
  for (const giveUpAt = performance.now() + 20_000; !isSo(); await pass(20)) {
    if (performance.now() > giveUpAt) {
      throw new Error(`within 20 s it did not come to this: ${what}; health says ${consumer.health().reasons.join("; ")}`);
    }
    expect(consumer.health()).toMatchObject({ live: true });
  }
}

await describeWithKafka("a record that waits holds up its own partition at the most", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const [admin, producer] = [
    client.admin(),
    client.producer({
      createPartitioner:
        () =>
        ({ message }) =>
          message.partition ?? 0,
    }),
  ];
  beforeAll(() => Promise.all([admin.connect(), producer.connect()]));
  afterAll(() => Promise.all([admin.disconnect(), producer.disconnect()]));

  // Beside each other, each with a topic and a group of its own: they wait for most of their time.
  describe.concurrent.each([
    { concurrency: 1, partitionsConsumedConcurrently: 1 },
    { concurrency: 16, partitionsConsumedConcurrently: 1 },
    { concurrency: 1, partitionsConsumedConcurrently: 4 },
  ])("at concurrency $concurrency, $partitionsConsumedConcurrently partitions side by side", (how) => {
    test.each(["a handler that is tried again", "a schema that the registry does not answer"])("%s", async (wait) => {
      const registry = await HalfRegistry.listen();
      const topic = uniqueName("independent");
      await createTopics(admin, [{ topic, numPartitions: partitions }]);
      const write = async (partition: number, count: number, from: number): Promise<void> => {
        const messages = Array.from({ length: count }, (_, i) => {
          const isNew = wait.includes("schema") && partition === 0 && BigInt(from + i) === heldOffset;
          return { partition, value: framed(isNew ? 2 : 1) };
        });
        await producer.send({ topic, messages });
      };
      for (let partition = 0; partition < partitions; partition++) {
        await write(partition, perPartition, 0);
      }
      let isWaiting = wait.includes("handler");
      const { concurrency, ...tuning } = how;
      const driver = kafkajs({ brokers: [kafka.brokers], ...tuning, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 500 });
      const consumer = createConsumer({
        driver,
        groupId: uniqueName("group"),
        topics: [topic],
        registry: { url: registry.url, timeoutMs: 120_000 },
        signals: false,
        delivery: { concurrency },
        failure: { retry: { attempts: 10_000, initialDelayMs: 50, maxDelayMs: 200 } },
        health: { stuckAfterMs: 2_000, lagIntervalMs: 200 },
      });
      const seen = Array.from({ length: partitions }, (): bigint[] => []);
      consumer.on("*", ({ record: { partition, offset } }) => {
        if (isWaiting && partition === 0 && offset === heldOffset) {
          throw Object.assign(new Error("not yet"), { code: "ECONNREFUSED" });
        }
        seen[partition]?.push(offset);
      });
      const running = consumer.run();
      running.catch(() => {}); // awaited below
      try {
        const others = (count: number) => () => seen.slice(1).every(({ length }) => length === count);
        await until("the others have handled what there was", others(perPartition), consumer);
        await until(
          "the watch has looked for long enough",
          (() => {
            const enough = performance.now() + 5_000;
            return () => performance.now() > enough;
          })(),
          consumer,
        );
        for (let partition = 0; partition < partitions; partition++) {
          await write(partition, 5, perPartition);
        }
        await until("the others have handled what came later", others(perPartition + 5), consumer);
        expect(seen[0]?.length).toBe(Number(heldOffset));
        isWaiting = false;
        registry.open();
        await until("all have", () => seen.every(({ length }) => length >= perPartition + 5), consumer);
      } finally {
        isWaiting = false;
        registry.close();
        await consumer.stop();
      }
      await running;
      const inOrder = Array.from({ length: perPartition + 5 }, (_, i) => BigInt(i));
      expect(seen).toEqual(Array.from({ length: partitions }, () => inOrder));
    });
  });
});
