import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { type IHeaders, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A record as it lies in a topic. */
interface Stored {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timestamp: string;
  readonly partition: number;
}

interface Row {
  readonly id: number;
  readonly version: number;
}

const keys = 24;
const versions = 5;
/** These fail from their second version on, as long as the handler is broken. */
const isPoison = ({ id, version }: Row): boolean => id % 3 === 0 && version === 2;

await describeWithKafka("cdc-bench redrive on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  // Otherwise a request that is tried again, because one partition of a new topic had no leader yet, writes to the others twice.
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** Versions of rows in turns, with bytes and headers that nothing may touch. */
  async function ordersWithVersions(): Promise<{ readonly topic: string; readonly dead: string }> {
    const [topic, dead] = [uniqueName("orders"), uniqueName("orders.dead")];
    const topics = [
      { topic, numPartitions: 3 },
      { topic: dead, numPartitions: 2 },
    ];
    await createTopics(admin, topics);
    for (let version = 1; version <= versions; version++) {
      const messages = Array.from({ length: keys }, (_, id) => ({
        key: `{"id": ${id}}`,
        value: `{ "id":${id}, "version":${version},  "__op":"u" }`,
        headers: { trace: Buffer.from([0, 255, id]), version: String(version) },
        timestamp: String(1_700_000_000_000 + version * 1_000 + id),
      }));
      await producer.send({ topic, messages });
    }
    return { topic, dead };
  }

  function consumerOf(groupId: string, topic: string, dead: string, poison: "dead-letter" | "park-key"): Consumer {
    return createConsumer({
      driver: kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100, heartbeatIntervalMs: 500, sessionTimeoutMs: 30_000 }),
      groupId,
      topics: [topic],
      failure: { poison, deadLetterTopic: dead, breaker: false },
      signals: false,
    });
  }

  /** Runs a consumer until so many records are handled or dead. */
  async function runUntil(consumer: Consumer, records: number): Promise<void> {
    const running = consumer.run();
    await vi.waitFor(() => expect(consumer.health().counts.records).toBeGreaterThanOrEqual(records), { timeout: 30_000, interval: 50 });
    await consumer.stop();
    await running;
  }

  /** Starts a redrive and kills it once its group looks like that. */
  async function killedRedrive(dead: string, group: string, isTime: (state: string, members: number) => boolean): Promise<void> {
    const child = spawn(process.execPath, [binary, "redrive", "--brokers", kafka.brokers, "--topic", dead, "--group", group], {
      env: { PATH: process.env["PATH"] },
      stdio: "ignore",
    });
    await vi.waitFor(
      async () => {
        const { groups } = await admin.describeGroups([group]);
        expect(isTime(groups[0]?.state ?? "", groups[0]?.members.length ?? 0)).toBe(true);
      },
      { timeout: 30_000, interval: 20 },
    );
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  function redrive(...args: readonly string[]): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [binary, "redrive", "--brokers", kafka.brokers, ...args], {
        env: { PATH: process.env["PATH"] },
      });
      const seen = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk: Buffer) => {
        seen.stdout += chunk.toString();
      });
      child.stderr.on("data", (chunk: Buffer) => {
        seen.stderr += chunk.toString();
      });
      child.on("error", reject);
      child.on("close", (code) => resolve({ ...seen, code }));
    });
  }

  /** Every record of a topic, each partition in its order. */
  async function read(topic: string): Promise<readonly Stored[]> {
    const offsets = await admin.fetchTopicOffsets(topic);
    const count = offsets.reduce((sum, { high }) => sum + Number(high), 0);
    const reader = client.consumer({ groupId: uniqueName("reader"), maxWaitTimeInMs: 100 });
    const records: Stored[] = [];
    await reader.connect();
    await reader.subscribe({ topics: [topic], fromBeginning: true });
    await reader.run({
      eachMessage: async ({ partition, message: { key, value, headers, timestamp } }) => {
        const [keyText, valueText] = [key?.toString("latin1") ?? "", value?.toString("latin1") ?? ""];
        records.push({ partition, key: keyText, value: valueText, headers: textsOf(headers ?? {}), timestamp });
      },
    });
    await vi.waitFor(() => expect(records.length).toBe(count), { timeout: 30_000, interval: 50 });
    await reader.disconnect();
    return records;
  }

  function textsOf(headers: IHeaders): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, (value as Buffer).toString("latin1")]));
  }

  async function failAndMend(poison: "dead-letter" | "park-key"): Promise<{
    readonly topic: string;
    readonly dead: string;
    readonly handled: readonly Row[];
    readonly expectedDead: number;
    mend(): Promise<void>;
  }> {
    const { topic, dead } = await ordersWithVersions();
    const handled: Row[] = [];
    const groupId = uniqueName("billing");
    const broken = consumerOf(groupId, topic, dead, poison);
    broken.on("*", (event) => {
      const row = event.kind === "change" ? (event.after as unknown as Row) : null;
      if (row === null || isPoison(row)) {
        throw new TypeError("a bug in the handler");
      }
      handled.push(row);
    });
    await runUntil(broken, keys * versions);
    const poisonKeys = Array.from({ length: keys }, (_, id) => id).filter((id) => isPoison({ id, version: 2 })).length;
    const expectedDead = poisonKeys * (poison === "park-key" ? versions - 1 : 1);
    return {
      topic,
      dead,
      handled,
      expectedDead,
      mend: async () => {
        const mended = consumerOf(groupId, topic, dead, poison);
        mended.on("*", (event) => {
          handled.push((event.kind === "change" ? event.after : null) as unknown as Row);
        });
        await runUntil(mended, expectedDead);
      },
    };
  }

  test("what was parked behind a failing record is handled in the order of each key, and the end state is right", async () => {
    const { topic, dead, handled, expectedDead, mend } = await failAndMend("park-key");
    const originals = await read(topic);
    const dry = await redrive("--topic", dead, "--dry-run", "--json");
    expect(dry.code, dry.stderr).toBe(0);
    expect(JSON.parse(dry.stdout)).toMatchObject({ dryRun: true, redriven: expectedDead });

    const some = await redrive("--topic", dead, "--limit", "7", "--json");
    expect(JSON.parse(some.stdout), some.stderr).toMatchObject({ redriven: 7 });
    const rest = await redrive("--topic", dead, "--json");
    expect(JSON.parse(rest.stdout), rest.stderr).toMatchObject({ redriven: expectedDead - 7, refused: 0, topics: [{ topic }] });
    const none = await redrive("--topic", dead);
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("has been through all of")]);

    await mend();
    for (let id = 0; id < keys; id++) {
      const seen = handled.filter((row) => row.id === id).map(({ version }) => version);
      expect(seen, `versions of ${id}`).toEqual([1, 2, 3, 4, 5]);
    }

    // Behind the originals lies each dead letter once more, byte for byte, in its partition.
    const again = (await read(topic)).filter(({ headers }) => "cdckit.redriven" in headers);
    const sorted = (records: readonly object[]): readonly string[] => records.map((record) => JSON.stringify(record)).sort();
    const isDead = ({ headers, key }: Stored): boolean => Number(headers["version"]) >= 2 && Number(/\d+/.exec(key)?.[0]) % 3 === 0;
    const expected = originals.filter(isDead).map((record) => ({ ...record, headers: { ...record.headers, "cdckit.redriven": "1" } }));
    expect(sorted(again)).toEqual(sorted(expected));
  });

  test("after redrives that were killed, the next one waits for their partitions, and brings all", async () => {
    const dead = uniqueName("orders.dead");
    const topic = uniqueName("orders");
    await createTopics(admin, [{ topic }, { topic: dead, numPartitions: 2 }]);
    const messages = Array.from({ length: 40 }, (_, id) => ({
      partition: id % 2,
      key: `${id}`,
      value: "x",
      headers: {
        "__connect.errors.topic": topic,
        "__connect.errors.partition": "0",
        "__connect.errors.offset": `${id}`,
        "__connect.errors.exception.message": "[malformed] no",
      },
    }));
    await producer.send({ topic: dead, messages });
    const group = uniqueName("redrive");
    // The member of the first is counted until its session runs out; that of the second waits for it to join, and gets partitions after its death.
    await killedRedrive(dead, group, (state, members) => members === 1 && (state === "Stable" || state === "CompletingRebalance"));
    await killedRedrive(dead, group, (_, members) => members === 2);
    const { code, stderr } = await redrive("--topic", dead, "--group", group, "--json");
    expect(code, stderr).toBe(0);
    const written = await read(topic);
    expect(new Set(written.map(({ key }) => key)).size).toBe(40);
  });

  test("goes on after dead letters that retention took since the last redrive, and says how many offsets are gone", async () => {
    const [topic, dead] = [uniqueName("orders"), uniqueName("orders.dead")];
    await createTopics(admin, [{ topic }, { topic: dead }]);
    const headers = {
      "__connect.errors.topic": topic,
      "__connect.errors.partition": "0",
      "__connect.errors.offset": "0",
      "__connect.errors.exception.message": "[malformed] no",
    };
    await producer.send({
      topic: dead,
      messages: Array.from({ length: 10 }, (_, id) => ({ partition: 0, key: `${id}`, value: "x", headers })),
    });
    const some = await redrive("--topic", dead, "--limit", "2", "--json");
    expect(JSON.parse(some.stdout), some.stderr).toMatchObject({ redriven: 2, gone: 0 });
    await admin.deleteTopicRecords({ topic: dead, partitions: [{ partition: 0, offset: "6" }] });
    const rest = await redrive("--topic", dead);
    expect([rest.code, rest.stdout], rest.stderr).toEqual([0, expect.stringContaining("4 offsets are gone")]);
    expect((await read(topic)).map(({ key }) => key)).toEqual(["0", "1", "6", "7", "8", "9"]);
  });

  test("a redrive that fails says what it has written before, and the same command goes on from there", async () => {
    const [topic, dead] = [uniqueName("orders"), uniqueName("orders.dead")];
    const configEntries = [{ name: "max.message.bytes", value: "100000" }];
    await createTopics(admin, [{ topic, configEntries }, { topic: dead }]);
    const headers = {
      "__connect.errors.topic": topic,
      "__connect.errors.partition": "0",
      "__connect.errors.offset": "0",
      "__connect.errors.exception.message": "[malformed] no",
    };
    const small = Array.from({ length: 600 }, (_, id) => ({ key: `${id}`, value: "x", headers }));
    await producer.send({ topic: dead, messages: [...small, { key: "large", value: "x".repeat(150_000), headers }] });
    const failed = await redrive("--topic", dead, "--json");
    expect([failed.code, failed.stderr], failed.stderr).toEqual([
      3,
      expect.stringContaining(`the dead letter at ${dead}[0]@600 was not written`),
    ]);
    expect(JSON.parse(failed.stdout)).toMatchObject({ aborted: true, redriven: 600, records: 600 });
    const written = (await read(topic)).length;
    const again = await redrive("--topic", dead);
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining(`${dead}[0]@600`)]);
    expect(await read(topic)).toHaveLength(written);
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: topic, configEntries: [{ name: "max.message.bytes", value: "1000000" }] }],
    });
    const rest = await redrive("--topic", dead, "--json");
    expect(JSON.parse(rest.stdout), rest.stderr).toMatchObject({ aborted: false, redriven: 1 });
    expect(new Set((await read(topic)).map(({ key }) => key)).size).toBe(601);
  });

  test("single dead letters come back once each, and one that fails every time is refused", async () => {
    const { topic, dead, handled, expectedDead, mend } = await failAndMend("dead-letter");
    expect((await redrive("--topic", dead, "--filter", "code=invalid-row")).code).toBe(4);
    const replayed = await redrive("--topic", dead, "--filter", "code=TypeError", "--filter", `topic=${topic}`);
    expect(replayed, replayed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`${expectedDead} to ${topic}`) });
    await mend();
    const places = handled.map(({ id, version }) => `${id}:${version}`);
    expect(new Set(places).size).toBe(keys * versions);
    expect(places.length).toBe(keys * versions);

    const refused = await redrive("--topic", dead, "--group", uniqueName("again"), "--max-redrives", "1", "--to", topic, "--json");
    expect(JSON.parse(refused.stdout)).toMatchObject({ redriven: expectedDead, refused: 0 });
    const [letter] = (await read(dead)).filter(({ headers }) => !("cdckit.redriven" in headers));
    const { key, value, headers } = letter as Stored;
    await producer.send({ topic: dead, messages: [{ key, value, headers: { ...headers, "cdckit.redriven": "1" } }] });
    const loop = await redrive("--topic", dead, "--max-redrives", "1", "--group", uniqueName("loop"));
    expect(loop, loop.stderr).toMatchObject({ code: 5, stdout: expect.stringContaining("1 refused and left") });
  });

  test("a topic without dead letters, and a wrong flag, are told apart", async () => {
    const { topic } = await ordersWithVersions();
    const none = await redrive("--topic", topic, "--group", uniqueName("none"));
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("has no dead letters")]);
    expect((await redrive("--topic", topic, "--filter", "offset=3")).code).toBe(2);
    expect((await redrive("--topic", uniqueName("missing"))).code).toBe(4);
  });
});
