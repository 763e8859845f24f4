import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createConsumer } from "@cdckit/consumer";
import type { CdcEvent } from "@cdckit/decode";
import { kafkajs } from "@cdckit/kafkajs";
import { Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runKafkaTool } from "../../scripts/stack/kafka.mjs";
import { expectValidResult } from "../integration/result-schema.ts";
import { describeWithKafka, uniqueName, withStack } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const table = "sales.salesorderdetail";
const rows = 500;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Ends with its result, or after `interruptWhen` has been seen on stderr by Ctrl-C. */
async function produce(args: readonly string[], interruptWhen?: RegExp): Promise<Ended> {
  return cdcBench(["produce", ...args], interruptWhen);
}

async function cdcBench(args: readonly string[], interruptWhen?: RegExp): Promise<Ended> {
  const child = spawn(process.execPath, [binary, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err.push(text);
    if (interruptWhen?.test(err.join("")) === true) {
      child.kill("SIGINT");
      interruptWhen = undefined;
    }
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout: out.join(""), stderr: err.join("") };
}

await describeWithKafka("cdc-bench produce on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();

  beforeAll(() => admin.connect());
  afterAll(() => admin.disconnect());

  const to = (prefix: string, ...args: readonly string[]): readonly string[] => ["--brokers", kafka.brokers, "--prefix", prefix, ...args];

  async function recordsIn(topic: string): Promise<number> {
    const offsets = await admin.fetchTopicOffsets(topic);
    return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  }

  test("Kafka's own consumer reads the same records of every compression", async () => {
    const prefix = uniqueName("squeezed");
    const hasZstd = Number(process.versions.node.split(".")[0]) >= 23 || /^22\.(1[5-9]|[2-9]\d)\./.test(process.versions.node);
    const names = ["none", "gzip", "snappy", "lz4", ...(hasZstd ? ["zstd"] : [])];
    const { code, stdout, stderr } = await produce(
      to(prefix, "--formats", "json", "--compression", names.join(","), "--rows", String(rows), "--create-topics", "--json"),
    );
    expect(code, stderr).toBe(0);
    const { topics } = JSON.parse(stdout) as {
      readonly topics: readonly { readonly topic: string; readonly wireBytes: number; readonly payloadBytes: number }[];
    };
    expect(topics.map(({ topic }) => topic)).toEqual(names.map((name) => `${prefix}-json-${name}.${table}`));
    const read: string[] = [];
    for (const { topic } of topics) {
      const args = [
        "--bootstrap-server",
        kafka.brokers,
        "--topic",
        topic,
        "--from-beginning",
        "--max-messages",
        String(rows),
        "--timeout-ms",
        "30000",
      ];
      const { stdout: lines } = await runKafkaTool(kafka, "org.apache.kafka.tools.consumer.ConsoleConsumer", [
        ...args,
        "--property",
        "print.key=true",
      ]);
      // A line a record, its key in front; the tool adds lines of its own. The connector's name follows the topic's.
      const records = lines.split("\n").filter((line) => line.startsWith('{"id":'));
      read.push(records.join("\n").replaceAll(/"name":"[^"]*"/g, ""));
    }
    expect(read[0]?.split("\n")).toHaveLength(rows);
    expect(new Set(read).size).toBe(1);
    for (const { wireBytes, payloadBytes } of topics.slice(1)) {
      expect(wireBytes).toBeLessThan(payloadBytes / 2);
    }
    expectValidResult(stdout);

    const run = await cdcBench([
      "run",
      "--brokers",
      kafka.brokers,
      "--topics",
      `${topics[0]?.topic},${topics[1]?.topic}`,
      "--commit",
      "--json",
    ]);
    expect(run.code, run.stderr).toBe(0);
    const { runs } = JSON.parse(run.stdout) as { readonly runs: readonly { readonly stages: Readonly<Record<string, number>> }[] };
    expect(runs[0]?.stages["decompressMs"]).toBe(0); // none
    expect(runs[1]?.stages["decompressMs"]).toBeGreaterThan(0); // gzip
    expect(runs.every(({ stages }) => (stages["commitMs"] ?? 0) > 0)).toBe(true);
  });

  test("a rate is kept by times that were set before, and the records have them", async () => {
    const prefix = uniqueName("paced");
    const { code, stdout, stderr } = await produce(
      to(prefix, "--formats", "json", "--rate", "400/s", "--duration", "1500ms", "--create-topics", "--partitions", "3", "--json"),
    );
    expect(code, stderr).toBe(0);
    const result = JSON.parse(stdout) as {
      readonly outcome: string;
      readonly startedAt: string;
      readonly elapsedMs: number;
      readonly lateness: { readonly count: number; readonly p50Ms: number };
    };
    expect(result).toMatchObject({ outcome: "rows-written", dueRecords: 600, lateness: { count: 600 }, dueToAck: { count: 600 } });
    expect(result.elapsedMs).toBeGreaterThan(1_490);
    const topic = `${prefix}-json.${table}`;
    expect(await recordsIn(topic)).toBe(600);
    const times: number[] = [];
    const consumer = client.consumer({ groupId: uniqueName("times"), maxWaitTimeInMs: 100 });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer
        .run({
          eachMessage: async ({ message }) => {
            times.push(Number(message.timestamp));
            if (times.length === 600) {
              resolve();
            }
          },
        })
        .catch(reject);
    });
    await consumer.disconnect();
    times.sort((a, b) => a - b);
    // 2.5 ms from each to the next, whenever they were sent: milliseconds are rounded down.
    const first = times[0] ?? 0;
    expect(times.every((time, i) => Math.abs(time - first - i * 2.5) <= 1.5)).toBe(true);
  });

  test("Ctrl-C gives what was acknowledged, marked, with exit code 130", async () => {
    const prefix = uniqueName("stopped");
    const { code, stdout } = await produce(
      to(prefix, "--formats", "json", "--rate", "200/s", "--duration", "10m", "--create-topics", "--json"),
      /writing 1 topic/,
    );
    expect(code).toBe(130);
    const { aborted, topics } = JSON.parse(stdout) as {
      readonly aborted: boolean;
      readonly topics: readonly { readonly topic: string; readonly records: number }[];
    };
    expect(aborted).toBe(true);
    expect(topics[0]?.records).toBeGreaterThan(0);
    expect(await recordsIn(topics[0]?.topic ?? "")).toBe(topics[0]?.records);
  });

  test("a missing topic, a format without its registry, and a missed threshold end with their exit codes", async () => {
    const prefix = uniqueName("refused");
    const [missing, unregistered, slow] = await Promise.all([
      produce(to(prefix, "--formats", "json", "--rows", "10")),
      produce(to(prefix, "--formats", "avro", "--rows", "10")),
      produce(to(`${prefix}-slow`, "--formats", "json", "--rows", "10", "--create-topics", "--threshold", "rate>=900m")),
    ]);
    expect(missing).toMatchObject({ code: 4, stdout: "" });
    expect(missing.stderr).toContain("--create-topics");
    expect(unregistered.code).toBe(2);
    expect(unregistered.stderr).toContain("--registry");
    expect(slow.code).toBe(99);
    expect(slow.stdout).toContain("MISSED");
  });

  test("a registry that is away leaves no topics that nobody fills", async () => {
    const prefix = uniqueName("unregistered");
    const ended = await produce(to(prefix, "--registry", "http://127.0.0.1:1", "--rows", "10", "--create-topics"));
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("the registry at http://127.0.0.1:1") });
    expect((await admin.listTopics()).filter((topic) => topic.startsWith(prefix))).toEqual([]);
  });
});

const stack = await withStack();

describe.skipIf(stack.skip !== false)("cdc-bench produce with a registry", () => {
  test("each format is read back as the same events", async () => {
    const { kafka: brokers, registry } = addressesOf();
    const prefix = uniqueName("formats");
    const { code, stderr } = await produce([
      "--brokers",
      brokers,
      "--registry",
      registry,
      "--prefix",
      prefix,
      "--rows",
      String(rows),
      "--create-topics",
    ]);
    expect(code, stderr).toBe(0);
    const read = async (format: string): Promise<readonly unknown[]> =>
      (await eventsOf(`${prefix}-${format}.${table}`, brokers, registry)).map(comparable);
    const [withSchema, avro, protobuf, plain, jsonSchema] = await Promise.all(
      ["json-with-schema", "confluent-avro", "confluent-protobuf", "json", "confluent-json-schema"].map(read),
    );
    expect(withSchema).toHaveLength(rows);
    expect(avro).toEqual(withSchema);
    const withoutDates = (events: readonly unknown[] | undefined): unknown =>
      JSON.parse(JSON.stringify(events, (name, value: unknown) => (name === "modifieddate" ? undefined : value)));
    expect(withoutDates(protobuf)).toEqual(withoutDates(withSchema));
    // Plain JSON and JSON Schema carry decimals as base64; keys, operations and numbers are the same.
    const withoutTypes = (events: readonly unknown[] | undefined): unknown =>
      JSON.parse(
        JSON.stringify(events, (name, value: unknown) =>
          ["modifieddate", "unitprice", "unitpricediscount", "linetotal"].includes(name) ? undefined : value,
        ),
      );
    expect(withoutTypes(plain)).toEqual(withoutTypes(withSchema));
    expect(withoutTypes(jsonSchema)).toEqual(withoutTypes(withSchema));

    // With its defaults, Confluent's converter writes decimals as text where its schema says number.
    const topic = `${prefix}-confluent-json-schema.${table}`;
    const run = await cdcBench(["run", "--brokers", brokers, "--registry", registry, "--topics", topic, "--validate", "--json"]);
    expect(run.code, run.stderr).toBe(5);
    const { runs } = expectValidResult(run.stdout) as {
      readonly runs: readonly { readonly errors: readonly { readonly code: string }[]; readonly stages: { readonly validateMs: number } }[];
    };
    expect(runs[0]?.errors.map(({ code }) => code)).toEqual(["value-invalid"]);
    expect(runs[0]?.stages.validateMs).toBeGreaterThan(0);
  });

  function addressesOf(): { readonly kafka: string; readonly registry: string } {
    if (stack.skip !== false) {
      throw new Error("not reached: the suite is skipped");
    }
    return { kafka: stack.part.brokers, registry: stack.part.registryUrl };
  }
});

async function eventsOf(topic: string, brokers: string, registry: string): Promise<readonly CdcEvent[]> {
  const events: CdcEvent[] = [];
  const consumer = createConsumer({
    driver: kafkajs({ brokers: [brokers], maxWaitMs: 100 }),
    groupId: uniqueName("read"),
    topics: [topic],
    from: "earliest",
    registry: { url: registry },
    signals: false,
    logger: false,
  });
  consumer.on("*", (event) => {
    events.push(event.detach());
    if (events.length === rows) {
      void consumer.stop();
    }
  });
  await consumer.run();
  return events;
}

function comparable(event: CdcEvent): unknown {
  const { kind, key } = event;
  return kind === "change" ? { kind, key, op: event.op, before: event.before, after: event.after } : { kind, key };
}
