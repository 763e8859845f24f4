import type { OutgoingRecord } from "@cdckit/consumer";
import { Partitioners, type RecordMetadata } from "kafkajs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OwnProducer } from "./own-producer.ts";
import { Partitions } from "./partitions.ts";
import { Writer } from "./writer.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const record: OutgoingRecord = { topic: "t", partition: 0, key: null, value: Buffer.from("v"), headers: [] };

test("a producer that does not connect is given up after a minute, the next write has another, and nothing is written when it connects after all", async () => {
  const calls: string[] = [];
  let connects = (): void => {};
  const connections: (() => Promise<void>)[] = [() => new Promise((resolve) => (connects = resolve)), () => Promise.resolve()];
  let made = 0;
  const makeProducer = (): OwnProducer => {
    const name = String(++made);
    const producer = {
      connect: connections.shift(),
      sendBatch: async (): Promise<RecordMetadata[]> => {
        calls.push(`${name} writes`);
        return [{ topicName: "t", partition: 0, errorCode: 0 }];
      },
      disconnect: async () => void calls.push(`${name} disconnects`),
    } as unknown as OwnProducer["producer"]; // as much as is called
    return { producer, partitions: new Partitions(Partitioners.DefaultPartitioner), destroySockets: () => {} };
  };
  const writer = new Writer(makeProducer, new AbortController().signal);
  const first = writer.send([record]).catch((error: unknown) => (error as Error).message);
  const second = writer.send([record]);
  await vi.advanceTimersByTimeAsync(62_000);
  expect(await first).toMatch("no answer within 60000 ms");
  await second;
  connects();
  await vi.advanceTimersByTimeAsync(0);
  expect(calls).toEqual(["2 writes", "1 disconnects"]);
  await writer.close(1_000);
  expect(calls.at(-1)).toBe("2 disconnects");
});
