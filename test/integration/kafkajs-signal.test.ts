import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const script = fileURLToPath(new URL("./consume-until-signal.mjs", import.meta.url));
// The service runs what users run.
const isBuilt = existsSync(new URL("../../packages/kafkajs/dist/index.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly handled: readonly number[];
  readonly saidStopped: boolean;
  readonly stderr: string;
}

await describeWithKafka("a service on the kafkajs driver", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  const producer = client.producer({ createPartitioner: () => () => 0 });

  beforeAll(async () => {
    await Promise.all([admin.connect(), producer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  });

  /** Starts the service, and sends the signals when it has handled so many records. */
  function serve(topic: string, groupId: string, after: number, signals: readonly NodeJS.Signals[]): Promise<Ended> {
    const child = spawn(process.execPath, [script, kafka.brokers, topic, groupId], { stdio: ["ignore", "pipe", "pipe"] });
    const lines: string[] = [];
    const stderr: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      if (lines.length === after) {
        for (const signal of signals) {
          child.kill(signal);
        }
      }
    });
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString()));
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => {
        const handled = lines.filter((line) => line !== "stopped").map(Number);
        resolve({ code, signal, handled, saidStopped: lines.at(-1) === "stopped", stderr: stderr.join("") });
      });
    });
  }

  async function topicWith(count: number): Promise<string> {
    const topic = uniqueName("signal");
    await createTopics(admin, [{ topic }]);
    const messages = Array.from({ length: count }, (_, i) => ({ value: JSON.stringify({ id: i }) }));
    await producer.send({ topic, messages });
    return topic;
  }

  async function committed(groupId: string, topic: string): Promise<number> {
    const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
    return Number(offsets?.partitions[0]?.offset);
  }

  test.skipIf(!isBuilt).each(["SIGTERM", "SIGINT"] as const)(
    "%s: what was handled is committed, and the process ends by itself with 0",
    async (signal) => {
      const topic = await topicWith(2_000);
      const groupId = uniqueName("group");
      const first = await serve(topic, groupId, 150, [signal]);
      expect(first.stderr).toBe("");
      expect([first.code, first.signal, first.saidStopped]).toEqual([0, null, true]);
      expect(first.handled.length).toBeGreaterThanOrEqual(150);
      expect(first.handled.length).toBeLessThan(2_000);
      expect(await committed(groupId, topic)).toBe((first.handled.at(-1) ?? 0) + 1);
      const second = await serve(topic, groupId, 50, [signal]);
      expect(second.handled[0]).toBe((first.handled.at(-1) ?? 0) + 1);
    },
  );

  test.skipIf(!isBuilt)("SIGKILL: nothing is lost, and what comes twice was not committed", async () => {
    const topic = await topicWith(3_000);
    const groupId = uniqueName("group");
    const first = await serve(topic, groupId, 300, ["SIGKILL"]);
    expect(first.signal).toBe("SIGKILL");
    // A group that nobody has committed for starts at the beginning.
    const start = Math.max(0, await committed(groupId, topic));
    expect(start).toBeLessThanOrEqual((first.handled.at(-1) ?? 0) + 1);
    const second = await serve(topic, groupId, 3_000 - start, ["SIGTERM"]);
    expect(second.handled).toEqual(Array.from({ length: 3_000 - start }, (_, i) => start + i));
  });
});
