import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { CdcEvent } from "@cdckit/decode";
import { type Consumer, type ConsumerOptions, createConsumer, silentLogger } from "@cdckit/consumer";
import { isKafkaJsDriverError, kafkajs } from "@cdckit/kafkajs";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, type ISocketFactory, Kafka, logLevel, type Message } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { produceLines, runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { plainDecoder } from "./plain-decoder.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

interface Seen {
  readonly key: string | null;
  readonly value: string | null;
  readonly event: CdcEvent;
}

function seenOf(event: CdcEvent): Seen {
  const { key, value } = event as unknown as { key: Uint8Array | null; value: Uint8Array | null };
  return { event, key: textOf(key), value: textOf(value) };
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString();
}

/** Connections that break until so many questions for a group's coordinator have failed. */
class BreakingNetwork {
  #left = 0;
  brokenLookups = 0;

  breakLookups(count: number): void {
    this.#left = count;
  }

  readonly socketFactory: ISocketFactory = ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket) as (bytes: Buffer, encoding?: BufferEncoding) => boolean;
    socket.write = ((bytes: Buffer, encoding?: BufferEncoding) => {
      const apiKey = Buffer.from(bytes as unknown as string, encoding).readInt16BE(4); // after the request's size
      if (this.#left > 0 && brokenRequests.includes(apiKey)) {
        if (apiKey === findCoordinator) {
          this.#left--;
          this.brokenLookups++;
        }
        socket.destroy(new Error("read ECONNRESET")); // without an error, kafkajs would not notice
        return false;
      }
      return write(bytes, encoding);
    }) as typeof socket.write;
    return socket;
  };
}

const findCoordinator = 10;
/** A member asks for the coordinator again after fetches and heartbeats have failed. */
const brokenRequests = [1, 12, findCoordinator];

await describeWithKafka("the kafkajs driver", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin: Admin = client.admin();
  const producer = client.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function topicWith(messages: readonly Message[], partitions = 1): Promise<string> {
    const topic = uniqueName("driver");
    await createTopics(admin, [{ topic, numPartitions: partitions }]);
    if (messages.length > 0) {
      await producer.send({ topic, messages: [...messages] });
    }
    return topic;
  }

  function consumerOf(topics: ConsumerOptions["topics"], groupId: string, more: Partial<ConsumerOptions> = {}): Consumer {
    const driver = kafkajs({ brokers: [kafka.brokers], sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200, maxWaitMs: 100 });
    return createConsumer({ driver, groupId, topics, decoder: plainDecoder, signals: false, ...more });
  }

  /** Runs until so many events were handled. */
  async function take(count: number, consumer: Consumer): Promise<Seen[]> {
    const seen: Seen[] = [];
    consumer.on("*", (event) => {
      seen.push(seenOf(event));
      if (seen.length === count) {
        void consumer.stop();
      }
    });
    await consumer.run();
    return seen;
  }

  /** As retention does; kafkajs' own request for it fails on this broker. */
  async function deleteRecords(topic: string, before: number): Promise<void> {
    const file = join(mkdtempSync(join(tmpdir(), "cdckit-test-")), "offsets.json");
    writeFileSync(file, JSON.stringify({ partitions: [{ topic, partition: 0, offset: before }], version: 1 }));
    const args = ["--bootstrap-server", kafka.brokers, "--offset-json-file", file];
    await runKafkaTool(kafka, "org.apache.kafka.tools.DeleteRecordsCommand", args);
    rmSync(dirname(file), { recursive: true });
  }

  async function committed(groupId: string, topic: string): Promise<string[]> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return (offsets?.partitions ?? []).sort((a, b) => a.partition - b.partition).map(({ offset }) => offset);
  }

  test("key, value, headers, timestamp and offset come as they were sent; null is not empty", async () => {
    const topic = await topicWith([
      { key: "k", value: "v", timestamp: "1700000000123", headers: { a: "1", b: Buffer.from([255]), many: ["x", "y"] } },
      { key: "k", value: null },
      { key: "", value: "" },
      { value: "no key" },
    ]);
    const seen = await take(4, consumerOf([topic], uniqueName("group")));
    expect(seen.map(({ key, value }) => [key, value])).toEqual([
      ["k", "v"],
      ["k", null],
      ["", ""],
      [null, "no key"],
    ]);
    expect(seen[0]?.event.record).toMatchObject({
      topic,
      partition: 0,
      offset: 0n,
      timestamp: 1_700_000_000_123n,
      headers: [
        ["a", Buffer.from("1")],
        ["b", Buffer.from([255])],
        ["many", Buffer.from("x")],
        ["many", Buffer.from("y")],
      ],
    });
    expect(seen[3]?.event.record.headers).toEqual([]);
  });

  test.each(["none", "gzip", "snappy", "lz4", "zstd"] as const)(
    "batches that Kafka's own producer compressed with %s are read",
    async (compression) => {
      const topic = await topicWith([]);
      // Long repeats, short repeats and noise, in batches of several blocks.
      const lines = Array.from({ length: 3_000 }, (_, i) => `${i}|${"row ".repeat(i % 40)}${(i * 2_654_435_761) % 4_294_967_296}`);
      await produceLines(kafka, {
        topic,
        lines,
        separator: "|",
        compression,
        properties: { "batch.size": "200000", "linger.ms": "100" },
      });
      const seen = await take(lines.length, consumerOf([topic], uniqueName("group")));
      expect(seen.map(({ key, value }) => `${key}|${value}`)).toEqual(lines);
    },
  );

  test("a consumer goes on where the last one of its group stopped", async () => {
    const messages = Array.from({ length: 50 }, (_, i) => ({ value: String(i) }));
    const topic = await topicWith(messages);
    const groupId = uniqueName("group");
    const first = await take(20, consumerOf([topic], groupId));
    expect(await committed(groupId, topic)).toEqual(["20"]);
    const second = await take(30, consumerOf([topic], groupId));
    expect([...first, ...second].map(({ value }) => value)).toEqual(messages.map(({ value }) => value));
    expect(await committed(groupId, topic)).toEqual(["50"]);
  });

  test("neither a start nor a stop waits until a broker without new records answers", async () => {
    const topic = await topicWith([{ value: "1" }]);
    const maxWaitMs = 15_000;
    const driver = kafkajs({ brokers: [kafka.brokers], maxWaitMs, heartbeatIntervalMs: maxWaitMs, sessionTimeoutMs: 60_000 });
    const consumer = createConsumer({ driver, groupId: uniqueName("group"), topics: [topic], decoder: plainDecoder, signals: false });
    const began = performance.now();
    expect(await take(1, consumer)).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(maxWaitMs);
  });

  test("a failing handler leaves its record and everything after it uncommitted", async () => {
    const topic = await topicWith(Array.from({ length: 10 }, (_, i) => ({ value: String(i) })));
    const groupId = uniqueName("group");
    const consumer = consumerOf([topic], groupId).on("*", (event) => {
      if (event.record.offset === 4n) {
        throw new Error("no");
      }
    });
    await expect(consumer.run()).rejects.toMatchObject({ code: "handler-failed", at: { topic, partition: 0, offset: 4n } });
    expect(await committed(groupId, topic)).toEqual(["4"]);
  });

  test("regular expressions find their topics, and no others", async () => {
    const prefix = uniqueName("shop");
    const topics = [`${prefix}.orders`, `${prefix}.customers`, `other-${prefix}`];
    await createTopics(
      admin,
      topics.map((topic) => ({ topic })),
    );
    const consumer = consumerOf([new RegExp(`^${prefix}\\.`, "g")], uniqueName("group"));
    for (const topic of topics) {
      await producer.send({ topic, messages: [{ value: topic }] });
    }
    const seen = await take(2, consumer);
    expect(new Set(seen.map(({ value }) => value))).toEqual(new Set([`${prefix}.customers`, `${prefix}.orders`]));
  });

  test("a topic that does not exist is named, and is not created", async () => {
    const topic = uniqueName("missing");
    const error: unknown = await consumerOf([topic], uniqueName("group"))
      .on("*", () => {})
      .run()
      .catch((caught: unknown) => caught);
    expect(isKafkaJsDriverError(error) && error.code).toBe("topic-missing");
    expect((error as Error).message).toContain(topic);
    expect(await admin.listTopics()).not.toContain(topic);
  });

  test("a committed offset that retention has overtaken is an error with the lost range, not a jump", async () => {
    const topic = await topicWith(Array.from({ length: 20 }, (_, i) => ({ value: String(i) })));
    const groupId = uniqueName("group");
    await take(5, consumerOf([topic], groupId));
    await deleteRecords(topic, 12);
    const error: unknown = await consumerOf([topic], groupId)
      .on("*", () => {})
      .run()
      .catch((caught: unknown) => caught);
    expect(isKafkaJsDriverError(error) && error.code).toBe("offset-out-of-range");
    expect((error as Error).message).toContain("from 5 to 11");
    expect(await committed(groupId, topic)).toEqual(["5"]);
  });

  test("an offset that retention overtakes while it is read is an error, and the group's offset stays", async () => {
    const count = 40;
    const topic = await topicWith(Array.from({ length: count }, (_, i) => ({ value: "x".repeat(2_000), key: String(i) })));
    const groupId = uniqueName("group");
    // Small fetches, so that most of the log is still to be fetched when it goes.
    const driver = kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100, maxBytesPerPartition: 4_000 });
    for (let i = 0; i < count; i++) {
      await producer.send({ topic, messages: [{ value: "y".repeat(2_000) }] });
    }
    const consumer = createConsumer({ driver, groupId, topics: [topic], decoder: plainDecoder, signals: false });
    let last = -1n;
    consumer.on("*", async (event) => {
      last = event.record.offset;
      if (last === BigInt(count + 3)) {
        await deleteRecords(topic, count + 30);
      }
    });
    const error: unknown = await consumer.run().catch((caught: unknown) => caught);
    expect(isKafkaJsDriverError(error) && error.code).toBe("offset-out-of-range");
    expect((error as Error).message).toContain(`from ${last + 1n} to ${count + 29} are gone`);
    expect(await committed(groupId, topic)).toEqual([String(last + 1n)]);
  });

  test("if the user says so, it goes on after what retention took, at the start and while it reads, and commits from there", async () => {
    const count = 40;
    const wide = (value: string): Message[] => Array.from({ length: count }, () => ({ value: value.repeat(2_000) }));
    const topic = await topicWith(wide("x"));
    const groupId = uniqueName("group");
    await take(5, consumerOf([topic], groupId));
    await deleteRecords(topic, 10);
    for (const message of wide("y")) {
      await producer.send({ topic, messages: [message] });
    }
    const driver = kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100, maxBytesPerPartition: 4_000 });
    const failure = { lostRange: "earliest" } as const;
    const consumer = createConsumer({ driver, groupId, topics: [topic], decoder: plainDecoder, signals: false, failure });
    const seen: number[] = [];
    consumer.on("*", async ({ record }) => {
      seen.push(Number(record.offset));
      if (seen.length === count) {
        await deleteRecords(topic, 2 * count - 5);
      }
      if (record.offset === BigInt(2 * count - 1)) {
        void consumer.stop();
      }
    });
    await consumer.run();
    const unread = Array.from({ length: 2 * count }, (_, offset) => offset).filter((offset) => offset >= 5 && !seen.includes(offset));
    expect(seen[0]).toBe(10);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(unread).toContain(2 * count - 6);
    expect(consumer.health().counts.lostOffsets).toBe(unread.length);
    expect(await committed(groupId, topic)).toEqual([String(2 * count)]);
  });

  test("a stop while nobody answers does not wait for kafkajs", async () => {
    const silent = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const driver = kafkajs({ brokers: [`127.0.0.1:${port}`] });
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false }).on("*", () => {});
    const running = consumer.run().catch((caught: unknown) => caught);
    await new Promise((resolve) => silent.once("connection", resolve));
    await consumer.stop();
    await running;
    expect(consumer.health().phase).toBe("stopped");
    await new Promise((resolve) => silent.close(resolve));
  });

  test.each(["at its start", "after it has joined"])(
    "a connection that breaks %s, while it asks who coordinates the group, costs time alone",
    async (when) => {
      const topic = await topicWith([{ value: "one" }]);
      const groupId = uniqueName("driver");
      const network = new BreakingNetwork();
      const ownClient = new Kafka({
        brokers: [kafka.brokers],
        logLevel: logLevel.NOTHING,
        socketFactory: network.socketFactory,
        retry: { initialRetryTime: 50, retries: 2 },
      });
      if (when === "at its start") {
        network.breakLookups(2);
      }
      const seen: (string | null)[] = [];
      const consumer = consumerOf([topic], groupId, {
        driver: kafkajs({ kafka: ownClient, sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200 }),
      });
      consumer.on("*", async (event) => {
        seen.push(seenOf(event).value);
        if (seen.length === 1 && network.brokenLookups === 0) {
          network.breakLookups(3);
        }
        if (seen.length === 1) {
          await producer.send({ topic, messages: [{ value: "two" }] });
        }
        if (seen.at(-1) === "two") {
          void consumer.stop();
        }
      });
      await consumer.run();
      expect(new Set(seen)).toEqual(new Set(["one", "two"]));
      expect(network.brokenLookups).toBe(when === "at its start" ? 2 : 3);
      expect(await committed(groupId, topic)).toEqual(["2"]);
    },
  );

  test("what is not done with a client of the application's own, the log says once", async () => {
    const topic = await topicWith([{ value: "one" }]);
    const said: string[] = [];
    const logger = { ...silentLogger, info: (_: object, text: string) => void said.push(text) };
    const own = kafkajs({ kafka: new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }) });
    const made = kafkajs({ brokers: [kafka.brokers] });
    for (const driver of [made, own]) {
      const sink = new ProbeSink();
      const session = await driver.connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger }, sink);
      await sink.until(({ records }) => records.length === 1);
      await session.close(5_000);
      expect(said.filter((text) => text.startsWith("the client is the application's own"))).toHaveLength(driver === own ? 1 : 0);
    }
  });

  test("members that join and leave share the partitions without a gap and without a duplicate", async () => {
    const partitions = 4;
    const total = 4_000;
    const topic = await topicWith(
      Array.from({ length: total }, (_, i) => ({ value: `${i}`, partition: i % partitions })),
      partitions,
    );
    const groupId = uniqueName("group");
    const seen: string[] = [];
    const byMember = [0, 0];
    const consumers = byMember.map(() => consumerOf([topic], groupId));
    let second: Promise<void> | undefined;
    for (const [member, consumer] of consumers.entries()) {
      consumer.on("*", async (event) => {
        byMember[member] = (byMember[member] ?? 0) + 1;
        seen.push(`${event.record.partition}:${event.record.offset}`);
        if (seen.length === 100) {
          second = consumers[1]?.run();
        }
        if (seen.length === total) {
          for (const other of consumers) {
            void other.stop();
          }
        }
        // Slow enough that the other member joins in the middle.
        await new Promise((resolve) => setTimeout(resolve, byMember[1] === 0 ? 2 : 0));
      });
    }
    await consumers[0]?.run();
    await second;
    expect(new Set(seen).size).toBe(total);
    expect(seen.length).toBe(total);
    expect(byMember[1]).toBeGreaterThan(0);
    expect(await committed(groupId, topic)).toEqual(Array.from({ length: partitions }, () => String(total / partitions)));
  });

  test("records of aborted transactions are not seen, and control records do not hold the commit back", async () => {
    const topic = await topicWith([]);
    const transactional = client.producer({
      transactionalId: uniqueName("tx"),
      maxInFlightRequests: 1,
      idempotent: true,
      // A transaction that has just ended may still be ending at the brokers.
      retry: { retries: 10 },
    });
    await transactional.connect();
    for (const [value, commit] of [
      ["kept", true],
      ["dropped", false],
      ["kept too", true],
    ] as const) {
      const transaction = await transactional.transaction();
      await transaction.send({ topic, messages: [{ value }] });
      await (commit ? transaction.commit() : transaction.abort());
    }
    await transactional.disconnect();
    const groupId = uniqueName("group");
    const seen = await take(2, consumerOf([topic], groupId));
    expect(seen.map(({ value }) => value)).toEqual(["kept", "kept too"]);
  });

  test("a partition that another producer has fenced is assigned again, and goes on: it would be read by nobody", async () => {
    const [writes, groupId] = [uniqueName("writes"), uniqueName("group")];
    const reads = await topicWith([{ value: "a" }, { value: "b" }]);
    await createTopics(admin, [{ topic: writes }]);
    const sink = new ProbeSink();
    const driver = kafkajs({ brokers: [kafka.brokers], heartbeatIntervalMs: 300, maxWaitMs: 100 });
    const session = await driver.connect({ groupId, topics: [reads], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ starts }) => starts.length === 1);
    const transact = async (offset: bigint): Promise<void> =>
      session.transact?.(
        [{ topic: writes, key: null, value: Buffer.from("v"), headers: [] }],
        sink.held.map((assignment) => ({ assignment, offset })),
      );
    for (const fences of [1, 2]) {
      await transact(BigInt(fences));
      expect([...sink.waits]).toEqual([]);
      const other = client.producer({ transactionalId: `${groupId}.${reads}.0`, idempotent: true, maxInFlightRequests: 1 });
      await other.connect();
      await (await other.transaction()).abort();
      await other.disconnect();
      await expect(transact(BigInt(fences) + 1n)).rejects.toMatchObject({ code: "fenced" });
      expect([...sink.waits]).toMatchObject([{ what: "a transaction", place: `${reads}[0]`, causes: [{ code: "fenced" }] }]);
      await sink.until(({ starts }) => starts.length === 1 + fences);
    }
    await transact(3n);
    expect([sink.revocations.map(({ how }) => how), sink.starts[2]?.offset, sink.failures]).toEqual([["revoked", "revoked"], 2n, []]);
    await session.close(5_000);
  });

  test("a member whose handlers are slower than its session stays in the group", async () => {
    const topic = await topicWith(Array.from({ length: 3 }, (_, i) => ({ value: String(i) })));
    const groupId = uniqueName("group");
    const driver = kafkajs({ brokers: [kafka.brokers], sessionTimeoutMs: 1_200, heartbeatIntervalMs: 200, maxWaitMs: 100 });
    const consumer = createConsumer({ driver, groupId, topics: [topic], decoder: plainDecoder, signals: false });
    const seen: bigint[] = [];
    consumer.on("*", async (event) => {
      seen.push(event.record.offset);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      if (seen.length === 3) {
        void consumer.stop();
      }
    });
    await consumer.run();
    expect(seen).toEqual([0n, 1n, 2n]);
    expect(await committed(groupId, topic)).toEqual(["3"]);
  });

  test.each([
    ["another member writes for the partition", 1],
    ["the old owner has committed after this one started", 0],
  ])("a transaction is refused for good where %s", async (_, before) => {
    const [reads, writes] = [await topicWith([{ value: "a" }, { value: "b" }]), await topicWith([])];
    const groupId = uniqueName("group");
    const sink = new ProbeSink();
    const driver = kafkajs({ brokers: [kafka.brokers], sessionTimeoutMs: 6_000, heartbeatIntervalMs: 200, maxWaitMs: 100 });
    const session = await driver.connect({ groupId, topics: [reads], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ records }) => records.length === 2);
    const transact = (value: string): Promise<unknown> =>
      session
        .transact?.(
          [{ topic: writes, key: null, value: Buffer.from(value), headers: [] }],
          sink.held.map((assignment) => ({ assignment, offset: 2n })),
        )
        .catch((error: unknown) => error) ?? Promise.resolve();
    for (let i = 0; i < before; i++) {
      expect(await transact("own")).toBe(undefined);
    }
    const other = client.producer({
      transactionalId: `${groupId}.${reads}.0`,
      maxInFlightRequests: 1,
      idempotent: true,
      retry: { retries: 10 },
    });
    await other.connect();
    const transaction = await other.transaction();
    await transaction.send({ topic: writes, messages: [{ value: "other" }] });
    await transaction.sendOffsets({ consumerGroupId: groupId, topics: [{ topic: reads, partitions: [{ partition: 0, offset: "1" }] }] });
    await transaction.commit();
    expect(await transact("zombie")).toMatchObject({ code: "fenced" });
    expect(await transact("zombie")).toMatchObject({ code: "fenced" });
    await Promise.all([session.close(5_000), other.disconnect()]);
    const seen = await take(before + 1, consumerOf([writes], uniqueName("group")));
    expect(seen.map(({ value }) => value)).toEqual([...(before === 1 ? ["own"] : []), "other"]);
  });

  test("a consumer is moved back while it runs, and a restart goes on from there", async () => {
    const topic = await topicWith(Array.from({ length: 6 }, (_, i) => ({ value: String(i) })));
    const groupId = uniqueName("group");
    const seen: (string | null)[] = [];
    const consumer = consumerOf([topic], groupId, { delivery: { concurrency: 4, order: "partition" } });
    const moved = new Promise<void>((resolve, reject) => {
      consumer.on("*", (event) => {
        seen.push(seenOf(event).value);
        if (seen.length === 6) {
          setImmediate(() => void consumer.seek({ topic, partition: 0, offset: 2 }).then(resolve, reject));
        } else if (seen.length === 8) {
          void consumer.stop();
        }
      });
    });
    await Promise.all([consumer.run(), moved]);
    expect(seen.slice(0, 8)).toEqual(["0", "1", "2", "3", "4", "5", "2", "3"]);
    const left = 10 - seen.length; // a stop handles what is in flight
    const rest = left === 0 ? [] : (await take(left, consumerOf([topic], groupId))).map(({ value }) => value);
    expect([...seen.slice(6), ...rest]).toEqual(["2", "3", "4", "5"]);
  });

  test("a consumer starts at a time, and skips a record that is named", async () => {
    const now = Date.now();
    const topic = await topicWith(
      Array.from({ length: 6 }, (_, i) => ({ value: String(i), timestamp: String(now - (6 - i) * 3_600_000) })),
    );
    const consumer = consumerOf([topic], uniqueName("group"), {
      from: { ago: "3.5h" },
      failure: { skip: [{ topic, partition: 0, offset: 4 }] },
    });
    expect((await take(2, consumer)).map(({ value }) => value)).toEqual(["3", "5"]);
    expect(consumer.health().counts.skipped).toBe(1);
  });

  test("Kafka's own tool sees the group's lag", async () => {
    const topic = await topicWith(Array.from({ length: 7 }, (_, i) => ({ value: String(i) })));
    const groupId = uniqueName("group");
    await take(3, consumerOf([topic], groupId));
    const args = ["--bootstrap-server", kafka.brokers, "--describe", "--group", groupId];
    const { stdout } = await runKafkaTool(kafka, "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", args);
    expect(stdout).toMatch(new RegExp(`${topic}\\s+0\\s+3\\s+7\\s+4\\b`));
  });
});

await describeWithKafka("a broker", (kafka) => {
  test("that answers, and advertises an address that cannot be reached from here, is told apart from one that is away", async () => {
    const [, port = ""] = kafka.brokers.split(":");
    const driver = kafkajs({
      brokers: [`localhost:${port}`],
      // The network of this machine has no route that fails at once: what the broker advertises leads to a port where nobody listens.
      connectTo: ({ host }) => ({ host: "127.0.0.1", port: host === "localhost" ? Number(port) : 1 }),
    });
    const consumer = createConsumer({
      driver,
      groupId: uniqueName("g"),
      topics: [/./],
      decoder: plainDecoder,
      signals: false,
      logger: false,
    });
    const error: unknown = await consumer
      .on("*", () => {})
      .run()
      .catch((caught: unknown) => caught);
    expect((error as Error).message).toContain(
      `[brokers-unreachable] brokers localhost:${port} tell clients to connect to ${kafka.brokers}, which fails here: connect ECONNREFUSED`,
    );
  });
});

test("brokers that cannot be reached are named, with what to look at", async () => {
  const driver = kafkajs({ brokers: ["127.0.0.1:1"] });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false }).on("*", () => {});
  const error: unknown = await consumer.run().catch((caught: unknown) => caught);
  expect(isKafkaJsDriverError(error) && error.code).toBe("brokers-unreachable");
  expect((error as Error).message).toBe(
    "[brokers-unreachable] cannot reach brokers 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. Is Kafka running, and is this address one of its advertised listeners?",
  );
});
