import type { OutgoingRecord } from "@cdckit/consumer";
import { Partitioners, type PartitionMetadata, type ProducerBatch, type RecordMetadata } from "kafkajs";
import { expect, test } from "vitest";
import { Partitions } from "./partitions.ts";
import { writeRecords } from "./write-records.ts";

/**
 * What a producer of kafkajs is given, request by request. `leaders`: of the partitions of each topic; kafkajs asks its partitioner at each attempt.
 * `fail`: what the attempt fails with.
 */
function setUp(leaders: number[], fail: (partition: number) => Error | null = () => null) {
  const requests: (readonly string[])[] = [];
  const partitions = new Partitions(Partitioners.DefaultPartitioner);
  const choose = partitions.partitioner();
  let open = 0;
  const attempts: (() => void)[] = [];
  const attempt = ({ topicMessages = [] }: ProducerBatch): RecordMetadata[] => {
    const texts: string[] = [];
    const written = topicMessages.flatMap(({ topic, messages }) => {
      const partitionMetadata: PartitionMetadata[] = leaders.map((leader, partitionId) => ({
        partitionErrorCode: 0,
        partitionId,
        leader,
        replicas: [],
        isr: [],
      }));
      const chosen = messages.map((message) => choose({ topic, partitionMetadata, message }));
      texts.push(...messages.map(({ value }, i) => `${topic === "t" ? "" : topic}${chosen[i]} ${String(value).slice(0, 3).trim()}`));
      const known = [...new Set(chosen)].filter((partition) => partition < leaders.length);
      return known.map((partition) => ({ topicName: topic, partition, errorCode: 0 }));
    });
    requests.push(texts);
    return written;
  };
  const sendBatch = async (batch: ProducerBatch): Promise<RecordMetadata[]> => {
    open++;
    try {
      const written = attempt(batch);
      await new Promise((resolve) => setImmediate(resolve));
      const failure = written.map(({ partition }) => fail(partition)).find((error) => error !== null);
      if (failure !== undefined) {
        throw failure;
      }
      const next = attempts.shift();
      next?.(); // the answer was that a leader has moved
      return next === undefined ? written : attempt(batch);
    } finally {
      open--;
    }
  };
  const write = (...records: readonly OutgoingRecord[]): Promise<void> => writeRecords({ sendBatch }, partitions, records);
  /** kafkajs tries its next request once more, when these lead. */
  const moveAmid = (moved: readonly number[]): void => void attempts.push(() => void leaders.splice(0, leaders.length, ...moved));
  return { write, requests, moveAmid, openRequests: () => open };
}

function record(value: string, more: Partial<OutgoingRecord> = {}): OutgoingRecord {
  return { topic: "t", key: null, value: Buffer.from(value), headers: [], ...more };
}

test("each request has the records of one partition, in order, as long as kafkajs has not written to the topic", async () => {
  const { write, requests } = setUp([1, 2, 1]);
  await write(...["a", "b", "c", "d", "e"].map((value, i) => record(value, { partition: i % 2 })));
  expect(requests).toEqual([
    ["0 a", "0 c", "0 e"],
    ["1 b", "1 d"],
  ]);
});

test("partitions of one leader and topic are written together, and never with those of another leader or topic", async () => {
  const { write, requests } = setUp([1, 2, 1]);
  const one = (value: string, partition: number, topic = "t") => record(value, { partition, topic });
  await write(one("x", 0), one("y", 0, "u"));
  await write(one("a", 0), one("b", 1), one("c", 2, "u"), one("d", 2), one("e", 0), one("f", 1, "u"));
  expect(requests.slice(2)).toEqual([["0 a", "0 e", "2 d"], ["1 b"], ["u2 c"], ["u1 f"]]);
});

test("partitions that are written together have room in one batch, and one that needs several is written in order", async () => {
  const { write, requests } = setUp([1, 1, 1]);
  const large = (value: string, partition: number, kibibytes: number) => record(value.padEnd(kibibytes * 1_024), { partition });
  await write(large("x", 0, 1));
  await write(large("a", 0, 300), large("b", 1, 300), large("c", 2, 100), large("d", 0, 300), large("e", 1, 100));
  expect(requests.slice(1)).toEqual([["0 a", "2 c"], ["0 d"], ["1 b", "1 e"]]);
});

test("partitions whose leader has moved away from the others are written again alone, before what follows them, and then with their new one", async () => {
  const { write, requests, moveAmid } = setUp([1, 1, 1]);
  const all = (...values: readonly string[]) => values.flatMap((value) => [0, 1, 2].map((partition) => record(value, { partition })));
  await write(record("x", { partition: 0 }));
  moveAmid([1, 2, 2]);
  await write(...all("a".padEnd(400_000 / 3), "b".padEnd(400_000)));
  expect(requests.slice(1)).toEqual([["0 a", "1 a", "2 a"], ["0 a"], ["1 a"], ["2 a"], ["0 b"], ["1 b"], ["2 b"]]);
  await write(...all("c"));
  expect(requests.slice(-2)).toEqual([["0 c"], ["1 c", "2 c"]]);
});

test("the first record of a topic is written alone, and the others by what kafkajs knows then: one key is one partition", async () => {
  const { write, requests } = setUp([1, 2, 1, 2]);
  const keys = ["k1", "k2", "k3", "k1", "k2", "k3"];
  await write(...keys.map((key, i) => record(String(i), { key: Buffer.from(key) })));
  expect(requests[0]).toHaveLength(1);
  const partitions = new Map(requests.flat().map((text) => [text.slice(2), text.slice(0, 1)]));
  expect(partitions.size).toBe(6);
  expect(["3", "4", "5"].map((i) => partitions.get(i))).toEqual(["0", "1", "2"].map((i) => partitions.get(i)));
  expect(requests.every((texts) => new Set(texts.map((text) => text.slice(0, 1))).size === 1)).toBe(true);
});

test("records that name a partition are written before a later one that gets the same: the first of a topic that is written alone passes none", async () => {
  const { write, requests } = setUp([1]);
  await write(record("a", { partition: 0 }), record("b"), record("c", { partition: 0 }), record("d"));
  expect(requests.flat()).toEqual(["0 a", "0 b", "0 c", "0 d"]);
});

test("a record without a key goes to a partition that has a leader, and stays there when kafkajs asks again", async () => {
  const partitions = new Partitions(Partitioners.DefaultPartitioner);
  const choose = partitions.partitioner();
  const led = (...leaders: readonly number[]): PartitionMetadata[] =>
    leaders.map((leader, partitionId) => ({ partitionErrorCode: 0, partitionId, leader, replicas: [], isr: [] }));
  const messages = Array.from({ length: 8 }, () => ({ value: "v" }));
  const first = messages.map((message) => choose({ topic: "t", partitionMetadata: led(1, -1, 3), message }));
  expect(new Set(first)).toEqual(new Set([0, 2]));
  expect(messages.map((message) => choose({ topic: "t", partitionMetadata: led(-1, 2, 3), message }))).toEqual(first);
});

test("what is too large for one batch is written in several, in order, and nothing is written if there is nothing", async () => {
  const { write, requests } = setUp([1]);
  const sizes = [200, 200, 200, 900, 1].map((kibibytes) => kibibytes * 1_024);
  await write(...sizes.map((size, i) => record(String(i).padEnd(size), { partition: 0 })));
  expect(requests).toEqual([["0 0", "0 1"], ["0 2"], ["0 3"], ["0 4"]]);
  await write();
  expect(requests).toHaveLength(4);
});

test("a partition that kafkajs does not know is an error: it leaves its records out", async () => {
  const { write } = setUp([1, 1]);
  await expect(write(record("a", { partition: 0 }), record("b", { partition: 2 }))).rejects.toThrow("kafkajs knows no partition t[2]");
});

test("when it fails, nothing is being written any more: the transaction is aborted next", async () => {
  const failure = new Error("no leader");
  const { write, openRequests, requests } = setUp([1, 2], (partition) => (partition === 0 ? failure : null));
  await expect(
    write(record("a", { partition: 0 }), ...["b", "c".padEnd(600_000)].map((value) => record(value, { partition: 1 }))),
  ).rejects.toBe(failure);
  expect([openRequests(), requests.length]).toEqual([0, 3]);
});
