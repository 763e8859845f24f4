import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { createConsumer, type DriverSession, type DriverSink, type Logger, type PartitionAssignment, silentLogger } from "@cdckit/consumer";
import { isPlatformaticDriverError, platformatic, type PlatformaticOptions } from "@cdckit/platformatic";
import { ProbeSink } from "@cdckit/testkit";
import type * as one from "@platformatic/kafka";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { platformaticClients, withoutTwo } from "./platformatic-clients.ts";
import { missingForKafka, password, type SecuredKafka, startSecuredKafka, tokenOf, username } from "./secured-kafka.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** Between the parts of a line that Java prints. */
const separator = "\u0001";

interface Member {
  readonly sink: ProbeSink;
  readonly session: DriverSession;
}

async function joined(options: PlatformaticOptions, topic: string, groupId = uniqueName("group")): Promise<Member> {
  const sink = new ProbeSink();
  const session = await platformatic(options).connect({ groupId, topics: [topic], from: "earliest", logger: silentLogger }, sink);
  return { sink, session };
}

/** A member of a group of its own, whose log lines and waits are kept as texts. */
async function watched(options: PlatformaticOptions, topic: string) {
  const said: string[] = [];
  const write = (fields: object, message: string): void => void said.push(`${message} ${inspect(fields, { depth: 10 })}`);
  const logger: Logger = { debug: write, info: write, warn: write, error: write };
  const waiting: DriverSink["waiting"] = (wait) => {
    write(wait, "wait");
    return { failed: (cause) => write({ cause }, "wait failed"), end: () => {} };
  };
  const sink = Object.assign(new ProbeSink(), { waiting });
  const session = await platformatic(options).connect({ groupId: uniqueName("group"), topics: [topic], from: "earliest", logger }, sink);
  return { sink, session, said };
}

async function startFailure(options: PlatformaticOptions): Promise<unknown> {
  return joined(options, "rows").then(
    ({ session }) => session.close(5_000),
    (error: unknown) => (isPlatformaticDriverError(error) ? { code: error.code, message: error.message } : error),
  );
}

describe.skipIf(withoutTwo !== "")("@platformatic/kafka 2", { meta: { skipReason: withoutTwo } }, () => {
  test("is tested beside version 1", () => expect(platformaticClients.map(({ major }) => major)).toEqual([1, 2]));
});

for (const { major, ...client } of platformaticClients) {
  await describeWithKafka(`the driver for @platformatic/kafka ${major} on a real broker`, (kafka) => {
    const admin = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).admin();
    const fast = { brokers: [kafka.brokers], heartbeatIntervalMs: 100, sessionTimeoutMs: 6_000, maxWaitMs: 100, ...client } as const;
    const written = uniqueName("platformatic");
    const compressions = ["none", "gzip", "snappy", "lz4", "zstd"];
    let readByJava: readonly string[] = [];

    beforeAll(async () => {
      await admin.connect();
      await createTopics(
        admin,
        [...compressions, "transactions"].map((name) => ({ topic: `${written}-${name}` })),
      );
      const { stdout } = await runKafkaTool(kafka, join(import.meta.dirname, "WriteRecords.java"), [kafka.brokers, written], {
        deadlineMs: 110_000,
      });
      readByJava = stdout.split("\n");
    });
    afterAll(() => admin.disconnect());

    async function topicOf(numPartitions: number): Promise<string> {
      const topic = uniqueName("platformatic");
      await createTopics(admin, [{ topic, numPartitions }]);
      return topic;
    }

    /** What Java's consumer reads of a topic: offset, timestamp, key, value, headers. */
    function linesOfJava(topic: string): readonly string[] {
      const lines = readByJava.filter((line) => line.startsWith(`${topic}${separator}`));
      return lines.map((line) => line.split(separator).filter((_, part) => part !== 0 && part !== 3)).map((parts) => parts.join(separator));
    }

    async function linesOf(topic: string, options: PlatformaticOptions, end: number): Promise<readonly string[]> {
      const { sink, session } = await joined(options, topic);
      await sink.until(({ batches }) => (batches.at(-1)?.nextOffset ?? 0n) >= BigInt(end));
      await session.close(5_000);
      return sink.records.map(({ offset, timestamp, key, value, headers }) =>
        [offset, timestamp, textOf(key), textOf(value), ...headers.flatMap(([name, one]) => [name, textOf(one)])].join(separator),
      );
    }

    async function endOf(topic: string): Promise<number> {
      return Number((await admin.fetchTopicOffsets(topic))[0]?.high);
    }

    test.each(compressions)("reads what Kafka's own producer writes as Java's consumer reads it, %s", async (compression) => {
      const topic = `${written}-${compression}`;
      const java = linesOfJava(topic);
      expect(java).toHaveLength(300);
      expect(await linesOf(topic, fast, await endOf(topic))).toEqual(java);
    });

    test.each([1_000_000, 2_000, 700, 150])(
      "hands over no record of an aborted transaction, also if the marker comes in a later response: %i bytes a fetch",
      async (maxBytesPerPartition) => {
        const topic = `${written}-transactions`;
        const java = linesOfJava(topic);
        expect(java.length).toBeGreaterThan(20);
        expect(await linesOf(topic, { ...fast, maxBytesPerPartition }, await endOf(topic))).toEqual(java);
      },
    );

    test("a rebalance takes only the partitions that move, and the others are read meanwhile", async () => {
      const topic = await topicOf(4);
      const groupId = uniqueName("group");
      const first = await joined(fast, topic, groupId);
      await first.sink.until(({ held }) => held.length === 4);
      const kept: readonly PartitionAssignment[] = first.sink.held;
      const second = await joined(fast, topic, groupId);
      await Promise.all([first, second].map(({ sink }) => sink.until(({ held }) => held.length === 2)));
      expect(first.sink.held.every((assignment) => kept.includes(assignment))).toBe(true);
      expect(first.sink.revocations.flatMap(({ assignments, how }) => (how === "revoked" ? assignments : []))).toHaveLength(2);
      await Promise.all([first.session.close(5_000), second.session.close(5_000)]);
    });

    test("createConsumer reads, commits and stops with it", async () => {
      const topic = await topicOf(3);
      const groupId = uniqueName("group");
      const producer = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).producer();
      await producer.connect();
      const source = { version: "3", connector: "postgresql", table: "t", db: "d" };
      const messages = Array.from({ length: 300 }, (_, id) => ({
        key: `${id % 7}`,
        value: JSON.stringify({ before: null, after: { id }, source, op: "c", ts_ms: 1 }),
      }));
      await producer.send({ topic, messages });
      await producer.disconnect();
      const seen: number[] = [];
      const driver = platformatic(fast);
      const consumer = createConsumer({ driver, groupId, topics: [topic], from: "earliest", logger: silentLogger, signals: false });
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
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
      expect(offsets?.partitions.reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)).toBe(messages.length);
    });

    test("fetches that name topics, as before Kafka 3.1: a topic that is recreated while its partition is paused is read from its start", async () => {
      const topic = await topicOf(1);
      const producer = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING }).producer();
      await producer.connect();
      const write = (value: string, count: number) => producer.send({ topic, messages: Array.from({ length: count }, () => ({ value })) });
      await write("old", 4);
      const { fetchesByName, isFetching } = withFetchesByName((await (client.client?.() ?? import("@platformatic/kafka"))) as typeof one);
      const sink = new ProbeSink();
      const driver = platformatic({ ...fast, client: fetchesByName });
      const subscription = {
        groupId: uniqueName("group"),
        topics: [topic],
        from: "earliest",
        lostRange: "earliest",
        logger: silentLogger,
      } as const;
      const session = await driver.connect(subscription, sink);
      await sink.until(({ records }) => records.length === 4);
      session.pause(sink.held);
      await waitUntil({ what: "the end of the fetch", check: async () => !isFetching(), deadlineMs: 30_000, everyMs: 10 });
      await admin.deleteTopics({ topics: [topic] });
      await createTopics(admin, [{ topic }]);
      await write("new", 8);
      await producer.disconnect();
      session.resume(sink.held);
      await sink.until(({ records }) => records.some(({ value, offset }) => textOf(value) === "new" && offset === 7n));
      await session.close(5_000);
      expect(sink.records.flatMap(({ value, offset }) => (textOf(value) === "new" ? offset : []))).toEqual([
        0n,
        1n,
        2n,
        3n,
        4n,
        5n,
        6n,
        7n,
      ]);
      expect(sink.losses).toHaveLength(1);
    });

    test("a start without a broker says which address refuses, within seconds", async () => {
      expect(await startFailure({ brokers: ["127.0.0.1:1"], ...client })).toMatchObject({
        code: "brokers-unreachable",
        message: expect.stringMatching(/127\.0\.0\.1:1.*ECONNREFUSED/) as string,
      });
    });
  });
}

const skipReason = await missingForKafka();

describe.skipIf(skipReason !== "")("a secured broker", { meta: { skipReason } }, () => {
  let kafka: SecuredKafka;
  beforeAll(async () => {
    kafka = await startSecuredKafka({ "listener.name.login.scram-sha-256.connections.max.reauth.ms": "1000" });
    const admin = new Kafka({ brokers: [kafka.plain], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await createTopics(admin, [{ topic: "rows" }]);
    await admin.disconnect();
  });
  afterAll(() => kafka.stop());

  const caOf = (): string => readFileSync(kafka.files.ca, "utf8");
  const login = (mechanism: "plain" | "scram-sha-256" | "scram-sha-512") => ({ mechanism, username, password });

  for (const { major, ...client } of platformaticClients) {
    test.each<[string, () => PlatformaticOptions]>([
      ["PLAIN", () => ({ brokers: [kafka.sasl], sasl: login("plain") })],
      [
        "SCRAM, the password from a function",
        () => ({ brokers: [kafka.sasl], sasl: { ...login("scram-sha-256"), password: async () => password } }),
      ],
      ["TLS", () => ({ brokers: [kafka.tls], ssl: { ca: caOf(), checkServerIdentity: () => undefined } })],
      [
        "SCRAM within TLS",
        () => ({ brokers: [kafka.saslTls], sasl: login("scram-sha-512"), ssl: { ca: caOf(), checkServerIdentity: () => undefined } }),
      ],
      [
        "a certificate of the client",
        () => ({
          brokers: [kafka.mutualTls],
          ssl: {
            ca: caOf(),
            cert: readFileSync(kafka.files.cert, "utf8"),
            key: readFileSync(kafka.files.key, "utf8"),
            checkServerIdentity: () => undefined,
          },
        }),
      ],
    ])(`version ${major} gets in by %s`, async (_, options) => {
      const { sink, session } = await joined({ ...options(), ...client }, "rows");
      await sink.until(({ starts }) => starts.length === 1);
      await session.close(5_000);
    });

    test.each(["classic", "consumer"] as const)(
      `version ${major} replaces connections before their logins run out, and no request fails, %s groups`,
      async (groupProtocol) => {
        let logins = 0;
        let enough = (): void => {};
        const over = new Promise<void>((resolve) => (enough = resolve));
        const passwordOf = async (): Promise<string> => {
          if (++logins === 16) {
            enough();
          }
          return password;
        };
        const sasl = { ...login("scram-sha-256"), password: passwordOf };
        const options = { brokers: [kafka.sasl], sasl, groupProtocol, maxWaitMs: 1, heartbeatIntervalMs: 50, ...client };
        const { sink, session, said } = await watched(options, "rows");
        await Promise.race([over, sink.until(({ failures }) => failures.length > 0)]);
        await session.close(5_000);
        expect([said.filter((line) => !/the start offset|the group/.test(line)), sink.failures, sink.revocations]).toEqual([[], [], []]);
      },
    );

    test(`version ${major} goes on if a function for a password fails for a moment, and shows nothing of what it throws`, async () => {
      let calls = 0;
      const passwordOf = async (): Promise<string> => {
        calls++;
        if (calls === 2) {
          throw new Error("canary");
        }
        return password;
      };
      const { sink, session, said } = await watched(
        { brokers: [kafka.sasl], sasl: { ...login("plain"), password: passwordOf }, ...client },
        "rows",
      );
      await sink.until(({ starts, failures }) => starts.length + failures.length === 1);
      await session.close(5_000);
      expect([sink.failures, calls > 2]).toEqual([[], true]);
      expect(said.join("\n")).toContain("expected the function sasl.password to give a text, found Error thrown");
      expect(said.join("\n")).not.toContain("canary");
    });

    test.each<[string, () => PlatformaticOptions, string]>([
      [
        "a token that has expired",
        () => ({ brokers: [kafka.sasl], sasl: { mechanism: "oauthbearer", token: tokenOf(username, true) } }),
        "authentication-failed",
      ],
      ["a wrong password", () => ({ brokers: [kafka.sasl], sasl: { ...login("plain"), password: "canary" } }), "authentication-failed"],
      ["a mechanism that is not offered", () => ({ brokers: [kafka.sasl], sasl: login("scram-sha-512") }), "authentication-failed"],
      ["TLS at a plain port", () => ({ brokers: [kafka.plain], ssl: true }), "protocol-mismatch"],
      ["an authority that is not known", () => ({ brokers: [kafka.tls], ssl: true }), "authentication-failed"],
      ["no login at a port with logins", () => ({ brokers: [kafka.sasl] }), "authentication-failed"],
    ])(`version ${major} tells %s`, async (_, options, code) => {
      const failure = await startFailure({ ...options(), ...client });
      expect(failure).toMatchObject({ code });
      expect(JSON.stringify(failure)).not.toContain("canary");
    });
  }
});

/** The client without fetches that name topics by their ids. */
function withFetchesByName(client: typeof one) {
  let fetches = 0;
  const createAPI = (key: number, version: number, request: never, parse: never): object => {
    const api = client.createAPI(key, version, request, parse) as unknown as { async: (...values: unknown[]) => Promise<unknown> };
    const async = (...values: unknown[]): Promise<unknown> => {
      fetches++;
      return api.async(...values).finally(() => fetches--);
    };
    return { ...api, async };
  };
  const others = Object.entries(client).filter(([name]) => !/^fetchV1[3-9]$/.test(name));
  return { fetchesByName: { ...Object.fromEntries(others), createAPI }, isFetching: () => fetches > 0 };
}

function textOf(bytes: Uint8Array | null): string {
  return bytes === null ? "NULL" : Buffer.from(bytes).toString("utf8");
}
