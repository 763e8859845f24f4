import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly places: readonly string[];
  readonly stderr: string;
}

const recordsPerPartition = 10;
const largeRecords = 30_000;
const firstTimestampMs = 1_700_000_000_000;

await describeWithKafka("cdc-bench inspect on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
  let topic: string;

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
    topic = await filledTopic();
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** `watch` sees the places, as partition@offset, while the program runs, and `hear` what it says. */
  async function inspect(
    args: readonly string[],
    watch: (child: ChildProcess, places: () => readonly string[]) => void = () => {},
    hear: (child: ChildProcess, stderr: string) => void = () => {},
  ): Promise<Ended> {
    const child = spawn(process.execPath, [binary, "inspect", "--brokers", kafka.brokers, "--json", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    const places = (): readonly string[] => {
      const lines = stdout.split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as { partition: number; offset: number }).map((at) => `${at.partition}@${at.offset}`);
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      watch(child, places);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      hear(child, stderr);
    });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, places: places().toSorted(), stderr };
  }

  /** Two partitions of ten records, a second apart. */
  async function filledTopic(by = producer): Promise<string> {
    const name = uniqueName("inspect");
    await createTopics(admin, [{ topic: name, numPartitions: 2 }]);
    const messages = [0, 1].flatMap((partition) => Array.from({ length: recordsPerPartition }, (_, i) => message(partition, i)));
    await by.send({ topic: name, messages });
    return name;
  }

  function message(partition: number, i: number): { partition: number; key: string; value: string; timestamp: string } {
    return { partition, key: `{"id":${i}}`, value: `{"id":${i},"state":"s${i % 2}"}`, timestamp: String(firstTimestampMs + i * 1_000) };
  }

  test.each([
    ["the last records of each partition", ["--from", "-2"], ["0@8", "0@9", "1@8", "1@9"]],
    ["an offset of a partition", ["--from", "7", "--partition", "1"], ["1@7", "1@8", "1@9"]],
    ["a time", ["--from", new Date(firstTimestampMs + 7_500).toISOString()], ["0@8", "0@9", "1@8", "1@9"]],
    ["more records than there are", ["--from", "-500", "--where", "state=s1", "--partition", "0"], ["0@1", "0@3", "0@5", "0@7", "0@9"]],
    ["the start, with a key", ["--from-beginning", "--key", '{"id":3}'], ["0@3", "1@3"]],
  ])("begins at %s", async (_name, args, places) => {
    expect(await inspect(["--topics", topic, ...args])).toMatchObject({ code: 0, places });
  });

  test("follows several topics until Ctrl-C, from where it was told to begin", async () => {
    const [first, second] = [await filledTopic(), await filledTopic()];
    let isProduced = false;
    const ended = await inspect(["--topics", `${first},${second}`, "--from", "-1", "--follow", "--partition", "1"], (child, places) => {
      if (places().length === 2 && !isProduced) {
        isProduced = true;
        void producer.sendBatch({
          topicMessages: [first, second].map((name) => ({ topic: name, messages: [message(0, 10), message(1, 10)] })),
        });
      }
      if (places().length === 4) {
        child.kill("SIGINT");
      }
    });
    expect(ended).toMatchObject({ code: 130, places: ["1@10", "1@10", "1@9", "1@9"] });
    expect(ended.stderr).not.toContain("not all of it");
  });

  /** So many bytes that the program holds a part of them at most. */
  async function largeTopic(): Promise<string> {
    const name = uniqueName("inspect-large");
    await createTopics(admin, [{ topic: name, numPartitions: 1 }]);
    const value = JSON.stringify({ text: "x".repeat(1_000) });
    for (let sent = 0; sent < largeRecords; sent += 500) {
      await producer.send({ topic: name, messages: Array.from({ length: 500 }, () => ({ value })) });
    }
    return name;
  }

  /** Calls `meanwhile` when the program has begun to print, and lets it print on afterwards. */
  function inspectHeld(topic: string, meanwhile: (groupPrefix: string) => Promise<void>): Promise<Ended> {
    let isHeld = false;
    return inspect(["--topics", topic], (child) => {
      if (!isHeld) {
        isHeld = true;
        child.stdout?.pause();
        void meanwhile(`cdc-bench-${child.pid}-`).finally(() => child.stdout?.resume());
      }
    });
  }

  /** Another member joins the group and leaves it. */
  async function rebalance(groupPrefix: string, topic: string): Promise<void> {
    const { groups } = await admin.listGroups();
    const consumer = client.consumer({ groupId: groups.find(({ groupId }) => groupId.startsWith(groupPrefix))?.groupId ?? "" });
    const joined = new Promise<void>((resolve) => consumer.on(consumer.events.GROUP_JOIN, () => resolve()));
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ autoCommit: false, eachMessage: async () => {} });
    await joined;
    await consumer.disconnect();
  }

  test("shows each record once if its group is rebalanced meanwhile", { timeout: 90_000 }, async () => {
    const topic = await largeTopic();
    const { code, places, stderr } = await inspectHeld(topic, (groupPrefix) => rebalance(groupPrefix, topic));
    expect(code, stderr).toBe(0);
    expect([places.length, new Set(places).size]).toEqual([largeRecords, largeRecords]);
  });

  test("ends with exit code 4 if records do not come any more before the end of the topic", { timeout: 90_000 }, async () => {
    const topic = await largeTopic();
    const { code, places, stderr } = await inspectHeld(topic, () => admin.deleteTopics({ topics: [topic] }));
    expect(places.length).toBeLessThan(largeRecords);
    const summary = `${places.length.toLocaleString("en-US")} records: `;
    expect(stderr).toMatch(new RegExp(`^${summary}[^]+${topic} gave nothing for 10 s, [\\d,]+ offsets in front of the end`, "m"));
    expect(stderr).toContain(`The driver waits: there is no topic ${topic} any more.`);
    expect(code).toBe(4);
  });

  test("says that a topic was deleted which it follows", { timeout: 90_000 }, async () => {
    const own = client.producer(); // kafkajs' goes on to ask for every topic that it wrote to, and fails when one is deleted
    await own.connect();
    const topic = await filledTopic(own);
    await own.disconnect();
    let isDeleted = false;
    const { code, stderr } = await inspect(
      ["--topics", topic, "--from", "-1", "--follow"],
      (_child, places) => {
        if (places().length === 2 && !isDeleted) {
          isDeleted = true;
          void admin.deleteTopics({ topics: [topic] });
        }
      },
      (child, said) => {
        if (!child.killed && said.includes(`the driver waits: there is no topic ${topic} any more`)) {
          child.kill("SIGINT"); // once: what it says at its end comes here, too, and a second one would end it at once
        }
      },
    );
    expect(code, stderr).toBe(130);
  });

  test("ends with a sentence if there is nothing to begin at", async () => {
    expect(await inspect(["--topics", topic, "--from", "99"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${topic}[0] has no offset 99`) as string,
    });
    expect(await inspect(["--topics", topic, "--partition", "5"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${topic} has no partition 5`) as string,
    });
    expect(await inspect(["--topics", topic, "--from", "1h"])).toMatchObject({ code: 4, places: [] });
  });
});
