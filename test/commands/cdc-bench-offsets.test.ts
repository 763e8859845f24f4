import { spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { platformatic } from "@cdckit/platformatic";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Shown {
  readonly partitions: readonly {
    readonly partition: number;
    readonly committed: number | null;
    readonly lag: number | null;
    readonly next?: number;
  }[];
}

const recordsPerPartition = 10;
/** A device on which no byte finds room. */
const full = "/dev/full";
const firstTimestampMs = 1_700_000_000_000;

await describeWithKafka("cdc-bench offsets on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  async function offsets(...args: readonly string[]): Promise<Ended> {
    const child = spawn(process.execPath, [binary, "offsets", "--brokers", kafka.brokers, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => err.push(text));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout: out.join(""), stderr: err.join("") };
  }

  async function shown(...args: readonly string[]): Promise<Shown["partitions"]> {
    const { stdout } = await offsets(...args, "--json");
    return (JSON.parse(stdout) as Shown).partitions;
  }

  /** Two partitions of ten records, a second apart. */
  async function filledTopic(): Promise<string> {
    const topic = uniqueName("offsets");
    await createTopics(admin, [{ topic, numPartitions: 2 }]);
    const messages = [0, 1].flatMap((partition) =>
      Array.from({ length: recordsPerPartition }, (_, i) => ({
        partition,
        key: `{"id":${i}}`,
        value: `{"id":${i}}`,
        timestamp: String(firstTimestampMs + i * 1_000),
      })),
    );
    await producer.send({ topic, messages });
    return topic;
  }

  /** Runs a consumer of ours until it has handled so many records; what they were. */
  async function consume(groupId: string, topic: string, records: number): Promise<readonly string[]> {
    const seen: string[] = [];
    const consumer = createConsumer({
      driver: kafkajs({ brokers: [kafka.brokers], maxWaitMs: 100 }),
      groupId,
      topics: [topic],
      signals: false,
      logger: false,
    });
    consumer.on("*", (event) => {
      seen.push(`${event.record.partition}@${event.record.offset}`);
      if (seen.length === records) {
        void consumer.stop();
      }
    });
    await consumer.run();
    return seen.toSorted();
  }

  test("shows, plans without changing anything, and commits what a consumer then reads", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    await consume(group, topic, 2 * recordsPerPartition);
    expect(await shown("--group", group)).toMatchObject([
      { partition: 0, committed: 10, lag: 0 },
      { partition: 1, committed: 10, lag: 0 },
    ]);

    const dryRun = await offsets("--group", group, "--reset", "7", "--partition", "1");
    expect(dryRun).toMatchObject({ code: 0, stderr: "" });
    expect(dryRun.stdout).toMatch(/3 again/);
    expect(dryRun.stdout).toContain("Dry run: nothing was committed.");
    expect(await shown("--group", group)).toMatchObject([{ committed: 10 }, { committed: 10 }]);

    const executed = await offsets("--group", group, "--reset", "7", "--partition", "1", "--execute");
    expect(executed).toMatchObject({ code: 0, stderr: "" });
    expect(await shown("--group", group)).toMatchObject([{ committed: 10 }, { committed: 7, lag: 3 }]);
    expect(await consume(group, topic, 3)).toEqual(["1@7", "1@8", "1@9"]);
  });

  test("goes to the ends, and to a time", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    const at = new Date(firstTimestampMs + 4_500).toISOString();
    for (const [where, committed] of [
      ["earliest", 0],
      [at, 5],
      ["latest", 10],
      ["1h", 10],
    ] as const) {
      expect(await offsets("--group", group, "--topics", topic, "--reset", where, "--execute")).toMatchObject({ code: 0, stderr: "" });
      expect(await shown("--group", group)).toMatchObject([{ committed }, { committed }]);
    }
  });

  test.skipIf(!existsSync(full))("says that offsets were committed if its results cannot be written", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    const { code, stderr } = await offsets("--group", group, "--topics", topic, "--reset", "latest", "--execute", "-o", full);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Committed 2 of 2 partitions") as string });
    expect(stderr).toContain("ENOSPC");
    expect(await shown("--group", group)).toMatchObject([{ committed: 10 }, { committed: 10 }]);
  });

  test("names a commit beyond the end of the log, which has no lag", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 1, offset: "25" }] });
    expect(await shown("--group", group, "--partition", "1")).toMatchObject([{ committed: 25, lag: 0, beyondEnd: true }]);
    expect((await offsets("--group", group)).stdout).toContain(`${topic}[1]: the group has committed 25, and the log ends at 10.`);
  });

  test("refuses a group that is active, and names its members", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    const consumer = createConsumer({
      driver: kafkajs({ brokers: [kafka.brokers] }),
      groupId: group,
      topics: [topic],
      signals: false,
      logger: false,
    });
    const handled = new Promise<void>((resolve) => {
      consumer.on("*", () => resolve());
    });
    const running = consumer.run();
    await handled;
    const { code, stderr } = await offsets("--group", group, "--topics", topic, "--reset", "earliest", "--execute");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`group ${group} is active`) as string });
    await consumer.stop();
    await running;
    expect(await shown("--group", group)).not.toMatchObject([{ committed: 0 }, { committed: 0 }]);
  });

  test("refuses an active group of the consumer protocol, whose members it cannot see, and does not rebalance it", async () => {
    const [topic, group] = [await filledTopic(), uniqueName("group")];
    const consumer = createConsumer({
      driver: platformatic({ brokers: [kafka.brokers], groupProtocol: "consumer", maxWaitMs: 100 }),
      groupId: group,
      topics: [topic],
      signals: false,
      logger: false,
    });
    let handled = 0;
    const allHandled = new Promise<void>((resolve) => {
      consumer.on("*", () => (++handled === 2 * recordsPerPartition ? resolve() : undefined));
    });
    const running = consumer.run();
    await allHandled;
    const revocations: unknown[] = [];
    const note = (message: unknown): void => void revocations.push(message);
    subscribe("cdckit:consumer:revoked", note);
    const args = ["--group", group, "--topics", topic];
    expect((await offsets(...args)).stdout).toContain(`Group ${group}: members not known`);
    const { code, stderr } = await offsets(...args, "--reset", "5", "--execute");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`group ${group} is active`) as string });
    unsubscribe("cdckit:consumer:revoked", note);
    expect({ handled, revocations }).toEqual({ handled: 2 * recordsPerPartition, revocations: [] });
    await consumer.stop();
    await running;
    expect(await shown("--group", group)).toMatchObject([{ committed: 10 }, { committed: 10 }]);

    expect(await offsets(...args, "--reset", "5", "--execute")).toMatchObject({ code: 0, stderr: "" });
    expect(await shown("--group", group)).toMatchObject([{ committed: 5 }, { committed: 5 }]);
  });

  test.each([
    [["--group", "nobody-has-this"], 4, "has committed nothing"],
    [["--group", "g", "--execute"], 2, "--execute commits what --reset plans"],
    [["--group", "g", "--topics", "no-such-topic"], 4, "there is no topic no-such-topic"],
    [["--group", "g", "--reset", "soon"], 2, "It must be earliest, latest"],
    [[], 2, "--group"],
  ])("%j ends with %d and a sentence", async (args, code, said) => {
    const ended = await offsets(...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(said);
  });
});
