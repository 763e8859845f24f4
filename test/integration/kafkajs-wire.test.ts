import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { createConsumer, type FetchedBatch, silentLogger } from "@cdckit/consumer";
import { isKafkaJsDriverError, kafkajs, type KafkaJsOptions } from "@cdckit/kafkajs";
import { crc32c, isRecordBatchError } from "@cdckit/record-batch";
import { ProbeSink } from "@cdckit/testkit";
import { type Admin, Kafka, logLevel, type Producer } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrokerProxy } from "./broker-proxy.ts";
import { kafkaJsClients } from "./kafkajs-clients.ts";
import { plainDecoder } from "./plain-decoder.ts";
import { readThroughDriver } from "./read-through-driver.ts";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, username } from "./secured-kafka.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** Changes what the broker answers. It keeps the lengths. */
class DamagingProxy extends BrokerProxy {
  readonly #damage: (response: Buffer) => void;
  isOn = true;

  /** `damage` gets each response whole, with its length before it: the broker sends the records of a response apart from its beginning. */
  constructor(brokerPort: number, damage: (response: Buffer) => void) {
    super(brokerPort);
    this.#damage = damage;
  }

  protected answering(client: Socket): (chunk: Buffer) => void {
    let rest: Buffer = Buffer.alloc(0);
    return (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const response = Buffer.from(rest.subarray(0, 4 + rest.readInt32BE(0)));
        rest = rest.subarray(response.length);
        if (this.isOn) {
          this.#damage(response);
        }
        client.write(response);
      }
    };
  }
}

await describeWithKafka("records that kafkajs' driver reads from the wire", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin: Admin = client.admin();
  const producer: Producer = client.producer();
  const brokerPort = Number(kafka.brokers.split(":")[1]);

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** A topic in which each value is a record batch. */
  async function topicOf(values: readonly string[]): Promise<string> {
    const topic = uniqueName("wire");
    await createTopics(admin, [{ topic }]);
    for (const value of values) {
      await producer.send({ topic, messages: [{ value }] });
    }
    return topic;
  }

  /** A topic with two partitions: these values, each a record batch, are in the first one, and a single one is in the other. */
  async function topicOfTwo(values: readonly string[]): Promise<string> {
    const topic = uniqueName("wire");
    await createTopics(admin, [{ topic, numPartitions: 2 }]);
    for (const value of values) {
      await producer.send({ topic, messages: [{ value, partition: 0 }] });
    }
    await producer.send({ topic, messages: [{ value: "the slow one", partition: 1 }] });
    return topic;
  }

  async function committed(groupId: string, topic: string): Promise<string | undefined> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return offsets?.partitions[0]?.offset;
  }

  async function committedIn(groupId: string, topic: string): Promise<readonly string[]> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return (offsets?.partitions ?? []).sort((a, b) => a.partition - b.partition).map(({ offset }) => offset);
  }

  /** Changes one byte of the record with this value: of its batch's attributes, if `of` says so. */
  function damaging(value: string, change: (chunk: Buffer, valueAt: number) => void): DamagingProxy {
    return new DamagingProxy(brokerPort, (chunk) => {
      const at = chunk.indexOf(value);
      if (at >= 0) {
        change(chunk, at);
      }
    });
  }

  const damages: readonly (readonly [string, string, (chunk: Buffer, valueAt: number) => void])[] = [
    ["a flipped bit", "crc-mismatch", (chunk, at) => chunk.writeUInt8(chunk.readUInt8(at) ^ 1, at)],
    // The header of the batch is 61 bytes, and 6 bytes of the record come before its value.
    ["an older message format", "unsupported-magic", (chunk, at) => chunk.writeInt8(7, at - 6 - 61 + 16)],
    ["a length that cannot be", "malformed-batch", (chunk, at) => chunk.writeInt32BE(3, at - 6 - 61 + 8)],
    ["a last offset that the log does not have", "crc-mismatch", (chunk, at) => chunk.writeInt32BE(0x7fff_ffff, at - 6 - 61 + 23)],
    ["a compression that does not exist", "crc-mismatch", (chunk, at) => chunk.writeInt16BE(6, at - 6 - 61 + 21)],
  ];
  test.each(
    kafkaJsClients.flatMap(([client, reach]) => damages.map(([what, code, change]) => [what, client, reach, code, change] as const)),
  )("of a damaged batch nothing is handed over, and nothing after it: %s, %s", async (_what, _client, reach, code, change) => {
    const topic = await topicOf(["first", "second", "the damaged one", "fourth"]);
    const proxy = damaging("the damaged one", change);
    const port = await proxy.listen();
    const groupId = uniqueName("group");
    const options: KafkaJsOptions = {
      ...reach({ brokers: [kafka.brokers] }, () => ({ host: "127.0.0.1", port })),
      maxWaitMs: 100,
    };
    const seen: unknown[] = [];
    const run = (): Promise<unknown> => {
      const consumer = createConsumer({
        driver: kafkajs(options),
        groupId,
        topics: [topic],
        from: "earliest",
        decoder: plainDecoder,
        signals: false,
      });
      consumer.on("*", (event) => {
        seen.push(event.record.offset);
        if (seen.length === 4) {
          void consumer.stop();
        }
      });
      return consumer.run().catch((error: unknown) => error);
    };
    const error = (await run()) as Error;
    expect(isKafkaJsDriverError(error) && error.code).toBe("batch-unreadable");
    expect(error.message).toContain(`the record batch at offset 2 of ${topic}[0]`);
    expect(isRecordBatchError(error.cause) && error.cause.code).toBe(code);
    expect(seen).toEqual([0n, 1n]);
    expect(await committed(groupId, topic)).toBe("2");
    proxy.isOn = false;
    expect(await run(), "once it is whole again").toBeUndefined();
    expect(seen).toEqual([0n, 1n, 2n, 3n]);
    proxy.close();
  });

  test.each<[string, (chunk: Buffer, valueAt: number) => void]>([
    ["a flipped bit", (chunk, at) => chunk.writeUInt8(chunk.readUInt8(at) ^ 1, at)],
    ["a last offset that the log does not have", (chunk, at) => chunk.writeInt32BE(0x7fff_ffff, at - 6 - 61 + 23)],
  ])(
    "after a damaged batch nothing is fetched while another partition is handled, and the group stays where it is: %s",
    async (_, change) => {
      const topic = await topicOfTwo(["first", "the damaged one", "third"]);
      let responses = 0;
      const proxy = new DamagingProxy(brokerPort, (response) => {
        responses += ["the damaged one", "a later one"].some((value) => response.includes(value)) ? 1 : 0;
        const at = response.indexOf("the damaged one");
        if (at >= 0) {
          change(response, at);
        }
      });
      const port = await proxy.listen();
      const groupId = uniqueName("group");
      await admin.setOffsets({ groupId, topic, partitions: [0, 1].map((partition) => ({ partition, offset: "0" })) });
      const driver = kafkajs({ brokers: [kafka.brokers], maxWaitMs: 50, connectTo: () => ({ host: "127.0.0.1", port }) });
      const open: (() => void)[] = [];
      const sink = new ProbeSink();
      sink.onBatch = () => new Promise((resolve) => open.push(resolve));
      const session = await driver.connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
      await sink.until(() => sink.batches.length === 2); // before the damaged one, and the other partition's
      // kafkajs' loop does not wait for handlers: it fetches on while they work.
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await committedIn(groupId, topic), "while the first batch is handled").toEqual(["0", "0"]);
      open[sink.batches.findIndex(({ partition }) => partition === 0)]?.();
      await sink.until(() => sink.failures.length === 1);
      expect(sink.failures).toEqual([expect.objectContaining({ code: "batch-unreadable" })]);
      const before = responses;
      for (const partition of [0, 1]) {
        await producer.send({ topic, messages: [{ value: "a later one", partition }] });
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      // One fetch may have been under way, and one that was sent ahead of kafkajs.
      expect(responses - before).toBeLessThanOrEqual(2);
      expect(await committedIn(groupId, topic), "after the failure").toEqual(["0", "0"]);
      open.forEach((finish) => finish());
      await session.close(5_000);
      expect(await committedIn(groupId, topic)).toEqual(["0", "0"]);
      expect(sink.records.map(({ value }) => Buffer.from(value ?? []).toString()).sort()).toEqual(["first", "the slow one"]);
      proxy.close();
    },
  );

  test.each(kafkaJsClients)("a fetch that holds a batch without records and nothing else is passed: %s", async (_, reach) => {
    const topic = await topicOf(["first", "gone", "last"]);
    // As the cleaner leaves a batch of which compaction has removed all records. What is left of them is too short for another batch.
    const proxy = damaging("gone", (chunk, at) => {
      const batch = chunk.subarray(at - 6 - 61, at - 6);
      batch.writeInt32BE(61 - 12, 8);
      batch.writeInt32BE(0, 57); // records
      batch.writeUInt32BE(crc32c(batch, 21, 61), 17);
    });
    const port = await proxy.listen();
    const client = reach({ brokers: [kafka.brokers] }, () => ({ host: "127.0.0.1", port }));
    const batches = await readThroughDriver(kafkajs({ ...client, maxBytesPerPartition: 1, maxWaitMs: 50 }), topic);
    expect(valuesOf(batches)).toEqual(["first", "last"]);
    proxy.close();
  });

  test("a record that is longer than a fetch may be comes whole", async () => {
    const topic = await topicOf(["small", "x".repeat(900_000), "last"]);
    const batches = await readThroughDriver(
      kafkajs({ brokers: [kafka.brokers], maxBytesPerPartition: 1_000, maxBytes: 2_000, maxWaitMs: 50 }),
      topic,
    );
    expect(valuesOf(batches).map((value) => value.length)).toEqual([5, 900_000, 4]);
  });

  test("a broker that answers no Kafka is an error of its connection, and the member goes on when it does again", async () => {
    const topic = await topicOf(["one", "two"]);
    let broken = 0;
    const proxy = new DamagingProxy(brokerPort, (response) => {
      if (response.includes("two") && broken < 2) {
        broken++;
        response.writeInt32BE(2 ** 31 - 1, 0); // its length
      }
    });
    const port = await proxy.listen();
    const driver = kafkajs({ brokers: [kafka.brokers], maxWaitMs: 50, connectTo: () => ({ host: "127.0.0.1", port }) });
    expect(valuesOf(await readThroughDriver(driver, topic))).toEqual(["one", "two"]);
    expect(broken).toBe(2);
    proxy.close();
  });
});

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("with TLS and a login", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;
  const values = Array.from({ length: 300 }, (_, at) => `${at} ${"x".repeat(2_000)}`);

  beforeAll(async () => {
    kafka = await startSecuredKafka({
      "listener.name.login.sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
      "listener.name.login.oauthbearer.sasl.jaas.config":
        'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
    });
    const client = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING });
    const [admin, producer] = [client.admin(), client.producer()];
    await Promise.all([admin.connect(), producer.connect()]);
    await createTopics(admin, [{ topic: "secured" }]);
    await producer.send({ topic: "secured", messages: values.map((value) => ({ value })) });
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });
  afterAll(() => kafka.stop());

  test.each<["sasl" | "tls" | "saslTls" | "mutualTls"]>([["sasl"], ["tls"], ["saslTls"], ["mutualTls"]])("%s", async (listener) => {
    const { files, client } = kafka;
    const ssl = {
      ca: [readFileSync(files.ca, "utf8")],
      ...(listener === "mutualTls" ? { cert: client.cert, key: client.key } : {}),
    };
    const driver = kafkajs({
      brokers: [kafka[listener]],
      maxWaitMs: 100,
      maxBytesPerPartition: 100_000,
      ...(listener === "sasl" ? {} : { ssl }),
      ...(listener === "sasl" ? { sasl: Object.freeze({ mechanism: "plain" as const, username, password }) } : {}),
      ...(listener === "saslTls" ? { sasl: Object.freeze({ mechanism: "scram-sha-512" as const, username, password }) } : {}),
    });
    const batches = await readThroughDriver(driver, "secured");
    expect(valuesOf(batches)).toEqual(values);
    expect(
      batches.every((batch) => "lastLeaderEpoch" in batch),
      "from the wire",
    ).toBe(true);
  });

  test("a function for a token may fail for a moment, and nothing of what it throws is shown", async () => {
    let calls = 0;
    const oauthBearerProvider = async (): Promise<{ value: string }> => {
      if ([2, 4].includes(++calls)) {
        throw new Error("canary");
      }
      return { value: unsecuredToken() };
    };
    const said: string[] = [];
    const write = (fields: object, message: string): void => void said.push(`${message} ${inspect(fields, { depth: 10 })}`);
    const driver = kafkajs({ brokers: [kafka.sasl], maxWaitMs: 100, sasl: { mechanism: "oauthbearer", oauthBearerProvider } });
    const logger = { debug: write, info: write, warn: write, error: write };
    expect(valuesOf(await readThroughDriver(driver, "secured", logger))).toEqual(values);
    expect(calls).toBeGreaterThan(4);
    expect(said.join("\n")).toContain("expected the function sasl.oauthBearerProvider to give { value }, a text, found Error thrown");
    expect(said.join("\n")).not.toContain("canary");
  });
});

/** A token that nobody has signed: https://kafka.apache.org/documentation/#security_sasl_oauthbearer */
function unsecuredToken(): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const parts = [{ alg: "none" }, { sub: username, iat: seconds, exp: seconds + 3_600 }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")}.`;
}

function valuesOf(batches: readonly FetchedBatch[]): readonly string[] {
  return batches.flatMap((batch) => {
    const values: string[] = [];
    for (const walk = batch.walk(); walk.next(); ) {
      values.push(Buffer.from(batch.valueAt(walk.record) ?? []).toString("utf8"));
    }
    return values;
  });
}
