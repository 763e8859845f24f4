import { setTimeout as pass } from "node:timers/promises";
import { confluent, type ConfluentOptions, isConfluentDriverError } from "@cdckit/confluent";
import { createConsumer, type DriverSession, type KafkaDriver, silentLogger } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { ProbeSink } from "@cdckit/testkit";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { produceLines } from "../../scripts/stack/kafka.mjs";
import { describeWithConfluent } from "./confluent-native.ts";
import { plainDecoder } from "./plain-decoder.ts";
import { createTopics, uniqueName } from "./stack.ts";

await describeWithConfluent("the driver for Confluent's client on a real broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const fast = { brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100 } as const;

  async function topicOf(numPartitions: number): Promise<string> {
    const admin = client.admin();
    await admin.connect();
    const topic = uniqueName("confluent");
    await createTopics(admin, [{ topic, numPartitions }]);
    await admin.disconnect();
    return topic;
  }

  async function join(
    options: ConfluentOptions,
    topic: string,
    groupId = uniqueName("group"),
  ): Promise<{ sink: ProbeSink; session: DriverSession }> {
    const sink = new ProbeSink();
    const session = await confluent(options).connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
    return { sink, session };
  }

  async function startFailure(options: ConfluentOptions): Promise<unknown> {
    return join(options, "any").then(
      ({ session }) => session.close(5_000),
      (error: unknown) => (isConfluentDriverError(error) ? { code: error.code, message: error.message } : error),
    );
  }

  test.concurrent("what Kafka's own producer has compressed is read", async () => {
    const topic = await topicOf(1);
    const compressions = ["gzip", "snappy", "lz4", "zstd"] as const;
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    await Promise.all(
      compressions.map((compression) => produceLines(kafka, { topic, compression, lines: lines.map((line) => `${compression} ${line}`) })),
    );
    const { sink, session } = await join(fast, topic);
    await sink.until(({ records }) => records.length >= lines.length * compressions.length);
    const seen = sink.records.map(({ value }) => Buffer.from(value ?? []).toString());
    for (const compression of compressions) {
      expect(seen.filter((line) => line.startsWith(compression))).toEqual(lines.map((line) => `${compression} ${line}`));
    }
    await session.close(5_000);
  });

  test.concurrent("a partition that was paused for a slow handler goes on at once, and not at librdkafka's next turn", async () => {
    const topic = await topicOf(1);
    const lines = Array.from({ length: 200 }, () => "x".repeat(100_000));
    await produceLines(kafka, { topic, compression: "none", lines });
    const consumer = createConsumer({
      driver: confluent({ ...fast, maxBytesPerPartition: 200_000, maxQueuedBytes: 200_000 }),
      groupId: uniqueName("group"),
      topics: [topic],
      from: "earliest",
      decoder: plainDecoder,
      signals: false,
      logger: silentLogger,
    });
    let handled = 0;
    let firstAtMs = 0;
    consumer.on("*", async () => {
      firstAtMs ||= performance.now();
      await pass(2);
      if (++handled === lines.length) {
        void consumer.stop();
      }
    });
    await consumer.run();
    // It is paused some twenty times. Each pause took 0.7 to 1 s before the broker was asked something after it: 16 s and more in all.
    expect(performance.now() - firstAtMs).toBeLessThan(8_000);
  });

  test.concurrent.each([
    ["the driver for kafkajs has written is known to this one", kafkajs({ brokers: [kafka.brokers] }), confluent(fast)],
    ["this driver has written is known to the one for kafkajs", confluent(fast), kafkajs({ brokers: [kafka.brokers] })],
  ])("a topic's id in a commit that %s: a recreated topic is not skipped", async (_what, writer, reader) => {
    const topic = await topicOf(1);
    await produceLines(kafka, { topic, compression: "none", lines: ["0", "1", "2"] });
    const group = uniqueName("group");
    expect(await handled(writer, topic, group, 3)).toEqual([0, 1, 2]);
    const admin = client.admin();
    await admin.connect();
    const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    await admin.disconnect();
    const metadata = (committed?.partitions[0]?.metadata ?? "").replace(/topic=.{22}/, `topic=${"A".repeat(22)}`);
    expect(metadata).toContain("topic=AAAA");

    const other = uniqueName("group");
    const member = client.consumer({ groupId: other });
    await member.connect();
    await member.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise<void>((resolve) => void member.run({ autoCommit: false, eachMessage: async () => resolve() }));
    await member.commitOffsets([{ topic, partition: 0, offset: "1", metadata }]);
    await member.disconnect();
    await expect(handled(reader, topic, other, 1)).rejects.toMatchObject({ code: "topic-recreated" });
    await produceLines(kafka, { topic, compression: "none", lines: ["3"] });
    expect(await handled(reader, topic, group, 1)).toEqual([3]);
  });

  /** The offsets that a consumer handles until there are so many. */
  async function handled(driver: KafkaDriver, topic: string, groupId: string, count: number): Promise<readonly number[]> {
    const offsets: number[] = [];
    const consumer = createConsumer({ driver, groupId, topics: [topic], decoder: plainDecoder, signals: false, logger: silentLogger });
    consumer.on("*", ({ record: { offset } }) => {
      if (offsets.push(Number(offset)) === count) void consumer.stop();
    });
    await consumer.run();
    return offsets;
  }

  test.concurrent("empty bytes and missing ones are written as what they are", async () => {
    const topic = await topicOf(1);
    const { session } = await join(fast, topic);
    const empty = new Uint8Array(0);
    await session.send?.([
      { topic, key: empty, value: empty, headers: [["h", empty]] },
      { topic, key: null, value: null, headers: [] },
    ]);
    await session.close(5_000);
    const consumer = client.consumer({ groupId: uniqueName("kafkajs") });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const read = await new Promise<unknown[]>((resolve) => {
      const messages: unknown[] = [];
      void consumer.run({
        eachMessage: async ({ message: { key, value, headers } }) => {
          messages.push([key?.length ?? null, value?.length ?? null, (headers?.["h"] as Buffer | undefined)?.length ?? null]);
          if (messages.length === 2) {
            resolve(messages);
          }
        },
      });
    });
    await consumer.disconnect();
    expect(read).toEqual([
      [0, 0, 0],
      [null, null, null],
    ]);
  });

  test.concurrent("createConsumer reads, commits and stops with it", async () => {
    const topic = await topicOf(3);
    const groupId = uniqueName("group");
    const producer = client.producer();
    await producer.connect();
    const messages = Array.from({ length: 300 }, (_, id) => ({
      key: `${id % 7}`,
      value: JSON.stringify({
        before: null,
        after: { id },
        source: { version: "3", connector: "postgresql", table: "t", db: "d" },
        op: "c",
        ts_ms: 1,
      }),
    }));
    await producer.send({ topic, messages });
    await producer.disconnect();
    const seen: number[] = [];
    const consumer = createConsumer({
      driver: confluent(fast),
      groupId,
      topics: [topic],
      from: "earliest",
      logger: silentLogger,
      signals: false,
    });
    const isAll = new Promise<void>((resolve) => {
      consumer.on("*", (event) => {
        seen.push((event as unknown as { readonly after: { readonly id: number } }).after.id);
        if (seen.length === messages.length) {
          resolve();
        }
      });
    });
    const run = consumer.run();
    await Promise.race([isAll, run]);
    await consumer.stop();
    await run;
    expect(seen.sort((a, b) => a - b)).toEqual(messages.map((_, id) => id));
    const admin = client.admin();
    await admin.connect();
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    await admin.disconnect();
    expect(offsets?.partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)).toBe(messages.length);
  });

  // The broker reads what a member sends behind its request to join only when all members have joined, in the next generation.
  test.concurrent("a commit that a rebalance overtakes is refused, and costs the member no partition", async () => {
    const topic = await topicOf(4);
    const groupId = uniqueName("group");
    const producer = client.producer();
    await producer.connect();
    const write = (count: number): Promise<unknown> =>
      producer.send({
        topic,
        messages: Array.from({ length: count * 4 }, (_, i) => ({ partition: i % 4, value: `${i}` })),
      });
    await write(2_000);
    const early = await join(fast, topic, groupId);
    await early.sink.until(({ held }) => held.length === 4);
    const slow = await join({ ...fast, heartbeatIntervalMs: 2_500 }, topic, groupId);
    await slow.sink.until(({ held }) => held.length === 2);
    await early.sink.until(({ held, records }) => held.length === 2 && records.length >= 4_000);
    // The early member asks to join at once, and waits until the slow one has heard of the rebalance.
    const late = await join(fast, topic, groupId);
    const refusals: string[] = [];
    for (let offset = 1n; offset < 2_000n && late.sink.held.length === 0; offset++) {
      const offsets = early.sink.held.map((assignment) => ({ assignment, offset }));
      await early.session.commit(offsets).catch((error: unknown) => refusals.push(String(error)));
    }
    await late.sink.until(({ held }) => held.length > 0);
    expect(refusals.filter((line) => line.includes("generation id is not valid"))).not.toEqual([]);
    expect(early.sink.revocations.filter(({ how }) => how === "lost")).toEqual([]);
    // Nobody has lost a partition that nobody else has got.
    const members = [early, slow, late];
    await write(1);
    const isRead = (partition: number): boolean =>
      members.some(({ sink }) => sink.records.some((record) => record.partition === partition && record.offset === 2_000n));
    while (![0, 1, 2, 3].every(isRead)) {
      await Promise.race(members.map(({ sink }) => sink.nextCall()));
    }
    await producer.disconnect();
    await Promise.all(members.map(({ session }) => session.close(5_000)));
  });

  // Last, and one after the other: a client that cannot connect holds a thread of libuv for a while.
  test("a start without a broker says which address refuses, within seconds", async () => {
    expect(await startFailure({ brokers: ["127.0.0.1:1"] })).toMatchObject({
      code: "brokers-unreachable",
      message: expect.stringMatching(/127\.0\.0\.1:1.*Connection refused/) as string,
    });
  });

  test("a token that librdkafka cannot get for the login is the reason, and not brokers that are away", async () => {
    const properties = {
      "sasl.mechanisms": "OAUTHBEARER",
      "enable.sasl.oauthbearer.unsecure.jwt": true,
      "sasl.oauthbearer.config": "nonsense=secret",
    };
    const failure = await startFailure({ brokers: [kafka.brokers], properties });
    expect(failure).toMatchObject({
      code: "authentication-failed",
      message: expect.stringContaining("got no token for the login by OAUTHBEARER") as string,
    });
    expect(JSON.stringify(failure)).not.toContain("secret");
  });

  test("TLS on a plain listener is told from brokers that cannot be reached", async () => {
    expect(await startFailure({ brokers: [kafka.brokers], ssl: true })).toMatchObject({ code: "protocol-mismatch" });
  });
});
