import { placeOf } from "@cdckit/driver";
import { expect, test } from "vitest";
import type { Cluster } from "./cluster.ts";
import { RecordSender } from "./record-sender.ts";

interface ProduceOptions {
  readonly sequences: { getWithDefault(key: string, otherwise: number): number };
}

test("a record without a key goes to a partition that has a leader, and not every producer begins with the same one", async () => {
  const partitions = [-1, 1, 2, -1].map((leaderId, partitionIndex) => ({ partitionIndex, leaderId }));
  const cluster = { metadata: async () => ({ topics: [{ name: "t", errorCode: 0, partitions }] }) } as unknown as Cluster; // as much as is called
  const record = { topic: "t", key: null, value: Buffer.from("v"), headers: [] };
  const begins = await Promise.all(
    Array.from(
      { length: 64 },
      async () => (await new RecordSender(cluster, { producerId: 1n, producerEpoch: 0 }).place([record]))[0]?.partition,
    ),
  );
  expect(new Set(begins)).toEqual(new Set([1, 2]));
});

test("after the last sequence number comes the first one: a number beyond 32 bits cannot be written, and looks like a lost connection", async () => {
  const begins: number[] = [];
  const ask = async (_at: unknown, _purpose: unknown, _name: unknown, values: readonly unknown[]) => {
    begins.push((values[3] as ProduceOptions).sequences.getWithDefault("t:0", -1)); // as the client asks for it
    return { responses: [{ name: "t", partitionResponses: [{ index: 0, errorCode: 0 }] }] };
  };
  const metadata = async () => ({ topics: [{ name: "t", errorCode: 0, partitions: [{ partitionIndex: 0, leaderId: 1 }] }] });
  const cluster = { ask, metadata, node: () => ({ host: "broker", port: 1 }) } as unknown as Cluster; // as much as is called
  const last = 2 ** 31 - 1;
  const sender = new RecordSender(cluster, { producerId: 1n, producerEpoch: 0 }, new Map([[placeOf("t", 0), last - 1]]));
  const record = { topic: "t", partition: 0, key: null, value: Buffer.from("v"), headers: [] };
  for (const count of [1, 3, 1]) {
    await sender.write(await sender.place(Array.from({ length: count }, () => record)), new AbortController().signal);
  }
  expect(begins).toEqual([last - 1, last, 2]);
});
