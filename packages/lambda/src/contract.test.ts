import { createConsumer } from "@cdckit/consumer";
import type { CdcEvent, KafkaRecord } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording, memory, MemoryBroker } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createLambdaHandler, type KafkaEvent, type KafkaEventRecord } from "./index.ts";

/** A record as Lambda writes it: its documentation leaves out what is null. */
function eventRecordOf({ topic, partition, offset, timestamp, key, value, headers }: KafkaRecord): KafkaEventRecord {
  return {
    topic,
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    ...(key === null ? {} : { key: Buffer.from(key).toString("base64") }),
    ...(value === null ? {} : { value: Buffer.from(value).toString("base64") }),
    headers: headers.map(([name, bytes]) => ({ [name]: bytes === null ? null : [...bytes] })),
  };
}

/** The event as it comes: what crosses is JSON. */
function kafkaEventOf(records: readonly KafkaRecord[]): KafkaEvent {
  const partitions: Record<string, KafkaEventRecord[]> = {};
  for (const record of records) {
    (partitions[`${record.topic}-${record.partition}`] ??= []).push(eventRecordOf(record));
  }
  return JSON.parse(JSON.stringify({ eventSource: "aws:kafka", records: partitions })) as KafkaEvent;
}

const slots = ["create", "update", "delete", "read", "truncate", "row", "tombstone"] as const;

/** Registers handlers that overlap, and returns what each of them takes. */
function register(target: { on(pattern: string, handlers: never): unknown }, topic: string): string[] {
  const taken: string[] = [];
  const take = (who: string) => (event: CdcEvent) =>
    void taken.push(`${who} ${event.record.topic}[${event.record.partition}]@${event.record.offset} ${JSON.stringify(event)}`);
  const all = (who: string) => Object.fromEntries(slots.map((slot) => [slot, take(`${who} ${slot}`)]));
  target.on("alltypes", all("one part") as never);
  target.on("inv.alltypes", { create: take("two parts create") } as never);
  target.on("composite_pk", { update: take("composite_pk update") } as never);
  target.on(topic, { delete: take("topic delete"), tombstone: take("topic tombstone") } as never);
  target.on("*", { create: take("any create"), row: take("any row") } as never);
  target.on("heartbeat", take("heartbeat") as never);
  target.on("tombstone", take("tombstones of no table") as never);
  target.on("*", take("the rest") as never);
  return taken;
}

describe("a handler for Lambda takes what a consumer takes, in its order and with its values, of", () => {
  for (const { name, file, schemasFile } of bundledRecordings()) {
    test(name, async () => {
      const records = (await loadRecording(file)).slice(0, 300);
      const topic = records[0]?.topic ?? "";
      const registry = fromBundle(schemasFile);

      const broker = new MemoryBroker({ [topic]: 1 + Math.max(...records.map(({ partition }) => partition)) });
      broker.append(topic, ...records);
      const consumer = createConsumer({
        driver: memory({ broker }),
        groupId: "peer",
        topics: [topic],
        registry,
        logger: false,
        signals: false,
      });
      const consumed = register(consumer, topic);
      const run = consumer.run();
      await expect.poll(() => consumer.health().counts.records, { timeout: 60_000 }).toBe(records.length);
      await consumer.stop();
      await run;

      const handler = createLambdaHandler({ registry, logger: false });
      const handled = register(handler, topic);
      expect(await handler(kafkaEventOf(records))).toEqual({ batchItemFailures: [] });
      expect(handled.toSorted()).toEqual(consumed.toSorted());
      expect(handled.length).toBeGreaterThan(0);
    });
  }
});
