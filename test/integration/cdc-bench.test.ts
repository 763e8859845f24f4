import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { KafkaRecord } from "@cdckit/decode";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { type IHeaders, Kafka, logLevel } from "kafkajs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectValidResult } from "./result-schema.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function cdcBench(args: readonly string[], whenStarted: (child: ChildProcess) => void = () => {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] } });
    const seen = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      seen.stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      seen.stderr += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...seen, code }));
    whenStarted(child);
  });
}

/** What of Confluent's API a consumer asks for, over the recorded schemas. */
function serveSchemas(file: string): Promise<Server> {
  const schemas = new Map<string, string>();
  for (const line of readFileSync(file, "utf8").trim().split("\n")) {
    const { id, schema } = JSON.parse(line) as { readonly id: number; readonly schema: string };
    schemas.set(String(id), schema);
  }
  const server = createServer((request, response) => {
    const schema = schemas.get(/\/schemas\/ids\/(\d+)/.exec(request.url ?? "")?.[1] ?? "");
    response.setHeader("content-type", "application/vnd.schemaregistry.v1+json");
    if (request.url === "/schemas/types") {
      response.end('["AVRO","JSON","PROTOBUF"]');
    } else if (schema === undefined) {
      response.writeHead(404).end('{"error_code":40403,"message":"Schema not found"}');
    } else {
      response.end(JSON.stringify({ schema }));
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

await describeWithKafka("cdc-bench on a broker", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
  const recorded = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
  let registry: Server;
  let avroTopic: string;
  let jsonTopic: string;
  let cluster: readonly string[];

  beforeAll(async () => {
    registry = await serveSchemas(recorded.schemasFile);
    cluster = ["--brokers", kafka.brokers, "--registry", `http://127.0.0.1:${(registry.address() as AddressInfo).port}`];
    await admin.connect();
    await producer.connect();
    avroTopic = await topicOf(await loadRecording(recorded.file), 1);
    jsonTopic = await topicOf(await loadRecording(bundledRecording("salesorderdetail/json").file), 3);
  });

  afterAll(async () => {
    await producer.disconnect();
    await admin.disconnect();
    registry.closeAllConnections();
    await new Promise((resolve) => registry.close(resolve));
  });

  async function topicOf(records: readonly KafkaRecord[], numPartitions: number): Promise<string> {
    const topic = uniqueName("tav.inv.composite_pk");
    await createTopics(admin, [{ topic, numPartitions, replicationFactor: 1 }]);
    await produce(topic, records);
    return topic;
  }

  async function produce(topic: string, records: readonly KafkaRecord[]): Promise<void> {
    const messages = records.map(({ key, value, headers }) => ({
      key: key as Buffer | null,
      value: value as Buffer | null,
      headers: Object.fromEntries(headers) as IHeaders,
    }));
    for (let i = 0; i < messages.length; i += 500) {
      await producer.send({ topic, messages: messages.slice(i, i + 500) });
    }
  }

  /** A second partition, and records in it alone. */
  async function addPartition(topic: string, records: readonly KafkaRecord[]): Promise<void> {
    await admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    await vi.waitFor(async () => expect(await admin.fetchTopicOffsets(topic)).toHaveLength(2), { timeout: 10_000 });
    const writer = client.producer({ allowAutoTopicCreation: false }); // the other one knows the first partition alone
    await writer.connect();
    await writer.send({ topic, messages: records.map(({ value }) => ({ partition: 1, value: value as Buffer | null })) });
    await writer.disconnect();
  }

  test("run reads every record of each topic to where it ended at the start, and leaves no group behind", async () => {
    let pid: number | undefined;
    const { code, stdout, stderr } = await cdcBench(["run", ...cluster, "--topics", `${avroTopic},${jsonTopic}`, "--json"], (child) => {
      pid = child.pid;
    });
    expect(code, stderr).toBe(0);
    expect(expectValidResult(stdout)).toMatchObject({
      aborted: false,
      runs: [
        { topics: [avroTopic], outcome: "end-reached", records: 9, events: 9, errorRecords: 0 },
        { topics: [jsonTopic], outcome: "end-reached", records: 2_000, events: 2_000, errorRecords: 0 },
      ],
    });
    const { groups } = await admin.listGroups();
    const left = groups.filter(({ groupId }) => groupId.startsWith(`cdc-bench-${pid}-`)); // other tests run commands on this broker, too
    expect(left).toEqual([]);
  });

  test("run -n stops exactly there", async () => {
    const { code, stdout } = await cdcBench(["run", ...cluster, "--topics", jsonTopic, "-n", "1234", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ runs: [{ records: 1_234, expectedRecords: 2_000 }] });
  });

  test("run --tail measures the age of what is written meanwhile", async () => {
    const records = (await loadRecording(bundledRecording("salesorderdetail/json").file)).slice(0, 50);
    let producing: NodeJS.Timeout | undefined;
    // Where `latest` is depends on when the group has joined, so the records are written until enough were seen.
    const { code, stdout, stderr } = await cdcBench(["run", ...cluster, "--topics", jsonTopic, "--tail", "-n", "20", "--json"], () => {
      producing = setInterval(() => void produce(jsonTopic, records), 200);
    });
    clearInterval(producing);
    expect(code, stderr).toBe(0);
    const report = expectValidResult(stdout) as unknown as { runs: { latency: { sinceRecord: { count: number; p99Ns: number } } }[] };
    expect(report).toMatchObject({ settings: { mode: "tail" }, runs: [{ records: 20, latency: { sinceRecord: { count: 20 } } }] });
    expect(report.runs[0]?.latency.sinceRecord.p99Ns).toBeGreaterThan(0);
  });

  test("run --tail reads partitions that a topic gets meanwhile", async () => {
    const records = (await loadRecording(bundledRecording("salesorderdetail/json").file)).slice(0, 500);
    const topic = await topicOf([], 1);
    let producing: NodeJS.Timeout | undefined;
    let adding: Promise<void> | undefined;
    const { code, stdout, stderr } = await cdcBench(
      ["run", ...cluster, "--topics", topic, "--tail", "-n", "500", "-d", "50s", "--json"],
      (child) => {
        producing = setInterval(() => void produce(topic, records.slice(0, 1)), 200);
        child.stderr?.on("data", (chunk: Buffer) => {
          if (producing !== undefined && /following .*, [1-9]\d* records/.test(chunk.toString())) {
            clearInterval(producing);
            producing = undefined;
            adding = addPartition(topic, records);
          }
        });
      },
    );
    clearInterval(producing);
    await adding;
    expect(code, stderr).toBe(0);
    expect(expectValidResult(stdout)).toMatchObject({ runs: [{ records: 500, outcome: "limit-reached" }] });
  });

  test("inspect prints the events of a topic as those of its recording", async () => {
    const fromTopic = await cdcBench(["inspect", ...cluster, "--topics", avroTopic, "--json"]);
    const fromFile = await cdcBench(["inspect", "--file", recorded.file, "--schemas", recorded.schemasFile, "--json"]);
    expect(fromTopic.code, fromTopic.stderr).toBe(0);
    const rows = ({ stdout }: Ended): readonly string[] => stdout.split("\n").map((line) => line.slice(line.indexOf('"op"')));
    const keysAndRows = (ended: Ended): readonly string[] => rows(ended).map((line) => line.replace(/"table":(null|\{[^}]*\}),/, ""));
    expect(keysAndRows(fromTopic)).toEqual(keysAndRows(fromFile));
  });

  test("inspect --limit lets go of the topic in the middle", async () => {
    const { code, stdout } = await cdcBench(["inspect", ...cluster, "--topics", jsonTopic, "--json", "--limit", "5"]);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(5);
  });

  test("a missing topic is named, with those there are, and ends with exit code 4", async () => {
    for (const command of ["run", "inspect"]) {
      const { code, stdout, stderr } = await cdcBench([command, ...cluster, "--topics", "no.such.topic"]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toContain("there is no topic no.such.topic. There are ");
    }
  });

  test("a registry that is down ends with exit code 3 and its address", async () => {
    const { code, stderr } = await cdcBench(["run", "--brokers", kafka.brokers, "--registry", "http://127.0.0.1:9", "--topics", avroTopic]);
    expect(code).toBe(3);
    expect(stderr).toContain("127.0.0.1:9");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test("run gives what it has measured if a later topic cannot be read, as where the registry refuses its schemas", async () => {
    const refusing = createServer(({ url }, response) => {
      response.writeHead(url === "/schemas/types" ? 200 : 401, { "content-type": "application/vnd.schemaregistry.v1+json" });
      response.end(url === "/schemas/types" ? '["AVRO"]' : '{"error_code":40101,"message":"Unauthorized"}');
    });
    await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    const topics = `${jsonTopic},${avroTopic}`;
    const { code, stdout, stderr } = await cdcBench(["run", "--brokers", kafka.brokers, "--registry", url, "--topics", topics, "--json"]);
    refusing.close();
    expect(code).toBe(3);
    expect(expectValidResult(stdout)).toMatchObject({ aborted: true, runs: [{ topics: [jsonTopic], outcome: "end-reached" }] });
    expect(stderr.split(`${avroTopic}[0]@0: `)).toHaveLength(2); // the place, once
  });

  test("doctor finds all well", async () => {
    const { code, stdout } = await cdcBench(["doctor", ...cluster, "--topics", `${avroTopic},${jsonTopic}`]);
    expect(code, stdout).toBe(0);
    expect(stdout).not.toContain("PROBLEM");
    expect(stdout).toContain(`${avroTopic}: 9 records are confluent + avro + debezium`);
  });

  test("all commands that read topics say what an open transaction holds back, and read up to it", async () => {
    const records = await loadRecording(bundledRecording("salesorderdetail/json").file);
    const topic = await topicOf(records.slice(0, 5), 1);
    const transactional = client.producer({ transactionalId: uniqueName("tx"), maxInFlightRequests: 1, idempotent: true });
    await transactional.connect();
    const transaction = await transactional.transaction();
    await transaction.send({ topic, messages: [{ value: "a" }, { value: "b" }, { value: "c" }] });
    await produce(topic, records.slice(5, 7)); // it is complete, and nobody reads it yet
    const note = `${topic}: an open transaction holds back 5 offsets of partition 0: `;
    const named = [...cluster, "--topics", topic];
    try {
      const doctor = await cdcBench(["doctor", ...named]);
      expect(doctor.code, doctor.stdout).toBe(0);
      expect(doctor.stdout).toContain(`${topic}: 1 partition, at most 5 records\nWARNING  topic         ${note}`);
      const comparing = ["compare", "--rounds", "1", "--no-peers"];
      const commands = [["run"], ["run", "--processes", "1"], ["inspect"], ["inspect", "--from", "-2"], ["types"], comparing];
      for (const command of commands) {
        const { code, stdout, stderr } = await cdcBench([...command, ...named]);
        expect(code, stderr).toBe(0);
        expect(stderr.split(note), command.join(" ")).toHaveLength(2); // once
        expect(stdout.includes(note), command.join(" ")).toBe(command[0] === "run" || command[0] === "compare"); // results are kept
      }
      const hints = await cdcBench(["hints", ...cluster, "--from", topic]);
      expect([hints.code, hints.stderr], hints.stderr).toEqual([4, expect.stringContaining(note)]); // its rows carry no schema
    } finally {
      await transaction.abort();
      await transactional.disconnect();
    }
    await vi.waitFor(async () => expect((await cdcBench(["inspect", ...named])).stderr).not.toContain("transaction"), 20_000);
  });
});
