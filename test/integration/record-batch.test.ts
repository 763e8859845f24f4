import { join } from "node:path";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { createRecordSetReader, type RecordSet } from "@cdckit/record-batch";
import { CompressionTypes, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { fetchOnce, type FetchedOnce } from "./fetch-once.ts";
import { readThroughDriver } from "./read-through-driver.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** Between the parts of a line. */
const separator = "\u0001";

await describeWithKafka("what Kafka's own producer writes", (kafka) => {
  const prefix = uniqueName("record-batch");
  const compressions = ["none", "gzip", "snappy", "lz4", "zstd"];
  const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();

  let readByJava: readonly string[] = [];
  let printedByConsole: readonly string[] = [];

  beforeAll(async () => {
    await admin.connect();
    await createTopics(admin, [
      ...compressions.map((name) => ({ topic: `${prefix}-${name}` })),
      // The broker's time in place of the producer's.
      { topic: `${prefix}-transactions`, configEntries: [{ name: "message.timestamp.type", value: "LogAppendTime" }] },
    ]);
    const { stdout } = await runKafkaTool(kafka, join(import.meta.dirname, "WriteRecords.java"), [kafka.brokers, prefix], {
      deadlineMs: 110_000,
    });
    const lines = stdout.split("\n");
    const end = lines.indexOf("console");
    readByJava = lines.slice(0, end);
    printedByConsole = lines.slice(end + 1, -1); // the output ends with a line break
  });
  afterAll(() => admin.disconnect());

  for (const compression of compressions) {
    test(`is read as Kafka's own consumer reads it, ${compression}`, async () => {
      const topic = `${prefix}-${compression}`;
      const read = linesOf(await readAll(topic, 1_000_000));
      expect(read).toHaveLength(300);
      expect(read).toEqual(linesOfJava(topic));
    });
  }

  test("is read without the records of aborted transactions, however it is cut into responses", async () => {
    const topic = `${prefix}-transactions`;
    const java = linesOfJava(topic);
    expect(java.length).toBeGreaterThan(20);
    expect(java.map((line) => line.split(separator)[5])).toEqual(printedByConsole.map((value) => (value === "null" ? "NULL" : value)));
    for (const maxBytes of [1_000_000, 2_000, 700, 150]) {
      const { responses, sets } = await readAllWithResponses(topic, maxBytes);
      expect(linesOf(sets)).toEqual(java);
      // The case that a client gets wrong which waits for the marker before it drops anything: it comes in a later response.
      const unmarked = responses.filter(({ bytes, abortedTransactions }) => abortedTransactions.length > 0 && !hasControlBatch(bytes));
      expect(unmarked.length > 0).toBe(maxBytes < 1_000);
      expect(responses.length > 10).toBe(maxBytes < 1_000);
    }
  });

  // Each response begins where the last one ended, in the middle of transactions.
  for (const maxBytesPerPartition of [1_000_000, 2_000, 700, 150]) {
    test(`reaches a consumer of kafkajs' driver as it reaches Java's, in fetches of ${maxBytesPerPartition} bytes`, async () => {
      const topic = `${prefix}-transactions`;
      const driver = kafkajs({ brokers: [kafka.brokers], maxBytesPerPartition, maxWaitMs: 50 });
      const batches = await readThroughDriver(driver, topic);
      expect(linesOf(batches as readonly RecordSet[])).toEqual(linesOfJava(topic));
      expect(batches.length > 10).toBe(maxBytesPerPartition < 1_000);
    });
  }

  for (const compression of compressions) {
    test(`reaches a consumer of kafkajs' driver as it reaches Java's, ${compression}`, async () => {
      const topic = `${prefix}-${compression}`;
      const batches = await readThroughDriver(kafkajs({ brokers: [kafka.brokers], maxWaitMs: 50 }), topic);
      expect(linesOf(batches as readonly RecordSet[])).toEqual(linesOfJava(topic));
    });
  }

  test("reaches a consumer as one batch that becomes 1,000 times as much, if its driver says that it may", async () => {
    const topic = uniqueName("record-batch-black");
    await createTopics(admin, [{ topic, numPartitions: 1 }]);
    const producer = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    const row = { value: JSON.stringify({ picture: "A".repeat(1_000_000) }) };
    await producer.send({ topic, messages: Array<typeof row>(40).fill(row), compression: CompressionTypes.GZIP });
    await producer.disconnect();
    for (const driver of [kafkajs, platformatic]) {
      const options = { brokers: [kafka.brokers], maxWaitMs: 50 };
      await expect(readThroughDriver(driver(options), topic)).rejects.toMatchObject({
        code: "batch-unreadable",
        message: expect.stringContaining("maxDecompressedBytes") as string,
      });
      const batches = await readThroughDriver(driver({ ...options, maxDecompressedBytes: 50_000_000 }), topic);
      expect(batches.map(({ recordCount }) => recordCount)).toEqual([40]);
    }
  });

  for (const compression of compressions) {
    test(`is refused with one bit flipped, and what comes before it is read, ${compression}`, async () => {
      const topic = `${prefix}-${compression}`;
      const { bytes } = await fetchOnce(kafka.brokers, topic, 0n, 1_000_000);
      const starts = batchStarts(bytes);
      const [first = 0, second = 0] = starts.slice(-2);
      for (const at of [second + 21, second + 60, Math.floor((second + bytes.length) / 2), bytes.length - 1]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] as number) ^ 0x10;
        const reader = createRecordSetReader(fetchedFrom(topic, damaged));
        expect(reader.read()?.nextOffset).toBe(bytes.readBigInt64BE(second));
        expect(() => reader.read()).toThrow("[crc-mismatch]");
      }
      expect(first).toBeLessThan(second);
    });

    test(`goes on with the next response if its last batch is cut, ${compression}`, async () => {
      const topic = `${prefix}-${compression}`;
      const { bytes } = await fetchOnce(kafka.brokers, topic, 0n, 1_000_000);
      const second = batchStarts(bytes)[1] as number;
      for (const end of [second, second + 1, second + 12, second + 60, bytes.length - 1]) {
        const reader = createRecordSetReader(fetchedFrom(topic, bytes.subarray(0, end)));
        const set = reader.read();
        const complete = batchStarts(bytes).filter((start) => start + sizeAt(bytes, start) <= end);
        const last = complete.at(-1) as number;
        expect(set?.nextOffset).toBe(bytes.readBigInt64BE(last) + BigInt(bytes.readInt32BE(last + 23)) + 1n);
        expect(reader.read()).toBeNull();
      }
      expect(() => createRecordSetReader(fetchedFrom(topic, bytes.subarray(0, second - 1))).read()).toThrow("[incomplete-batch]");
    });
  }

  async function readAll(topic: string, maxBytes: number): Promise<readonly RecordSet[]> {
    return (await readAllWithResponses(topic, maxBytes)).sets;
  }

  /** Reads to the end of the log, response by response. */
  async function readAllWithResponses(
    topic: string,
    maxBytes: number,
  ): Promise<{ readonly responses: readonly FetchedOnce[]; readonly sets: readonly RecordSet[] }> {
    const sets: RecordSet[] = [];
    const responses: FetchedOnce[] = [];
    for (let fromOffset = 0n; ; ) {
      const response = await fetchOnce(kafka.brokers, topic, fromOffset, maxBytes);
      responses.push(response);
      const reader = createRecordSetReader({ topic, partition: 0, assignment: null, fromOffset, ...response });
      for (let set = reader.read(); set !== null; set = reader.read()) {
        sets.push(set);
      }
      const nextOffset = sets.at(-1)?.nextOffset ?? fromOffset;
      if (nextOffset === response.highWatermark) {
        return { responses, sets };
      }
      expect(nextOffset, "every response moves on").toBeGreaterThan(fromOffset);
      fromOffset = nextOffset;
    }
  }

  function linesOfJava(topic: string): readonly string[] {
    return readByJava.filter((line) => line.startsWith(`${topic}${separator}`));
  }
});

function fetchedFrom(topic: string, bytes: Buffer) {
  return { topic, partition: 0, assignment: null, bytes, fromOffset: 0n, abortedTransactions: [], highWatermark: null };
}

/** Where the batches begin, of which the last one may be cut: https://kafka.apache.org/documentation/#recordbatch */
function batchStarts(bytes: Buffer): readonly number[] {
  const starts: number[] = [];
  for (let at = 0; at + 12 <= bytes.length; at += sizeAt(bytes, at)) {
    starts.push(at);
  }
  return starts;
}

function sizeAt(bytes: Buffer, at: number): number {
  return 12 + bytes.readInt32BE(at + 8);
}

function hasControlBatch(bytes: Buffer): boolean {
  return batchStarts(bytes).some((at) => at + sizeAt(bytes, at) <= bytes.length && (bytes.readInt16BE(at + 21) & 0x20) !== 0);
}

function linesOf(sets: readonly RecordSet[]): readonly string[] {
  return sets.flatMap((set) => {
    const lines: string[] = [];
    for (const walk = set.walk(); walk.next(); ) {
      const { record } = walk;
      const headers = set.headersAt(record).flatMap(([name, value]) => [name, textOf(value)]);
      const place = [set.topic, set.offsetAt(record), set.timestampAt(record), set.lastLeaderEpoch ?? "NULL"];
      lines.push([...place, textOf(set.keyAt(record)), textOf(set.valueAt(record)), ...headers].join(separator));
    }
    return lines;
  });
}

function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "NULL" : Buffer.from(bytes).toString("utf8");
}
