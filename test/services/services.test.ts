/** Services as users of the README write them, compiled against what the packages publish, on real Debezium, Kafka, registry and PostgreSQL. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { KafkaEventRecord } from "@cdckit/lambda";
import type { CdcEvent } from "cdckit";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createTopics, withStack, uniqueName } from "../integration/stack.ts";
import { runService } from "./run-service.ts";

const root = join(import.meta.dirname, "../..");
const found = await withStack();
const isBuilt = ["cdckit", "postgres", "lambda"].every((name) => existsSync(join(root, "packages", name, "dist/index.js")));
const skipReason =
  found.skip !== false ? found.skip : isBuilt ? "" : "the packages are not built: run `npm test`, or `npm run build` first";

describe.skipIf(skipReason !== "")("a service", { meta: { skipReason } }, () => {
  const stack = found.skip === false ? found.part : { brokers: "127.0.0.1:1", registryUrl: "", postgres: {} as never };
  const client = new Kafka({ brokers: [stack.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  let database: pg.Client;

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", import.meta.dirname]);
    database = new pg.Client({ ...stack.postgres });
    await Promise.all([database.connect(), admin.connect()]);
  });

  afterAll(() => Promise.all([database?.end(), admin.disconnect()]));

  function envFor(prefix: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const topic = `${prefix}.services.orders`;
    return { KAFKA_BROKERS: stack.brokers, SCHEMA_REGISTRY_URL: stack.registryUrl, TOPIC: topic, GROUP_ID: uniqueName("service"), ...more };
  }

  async function insert(id: number, note: string | null = null): Promise<void> {
    await database.query("insert into services.orders values ($1, $2, 2, 10.25, $3, '2026-01-31 08:00:00.5')", [
      id,
      `customer ${id}`,
      note,
    ]);
  }

  test.each(["av", "js"])("with typed handlers and zod sees each change of %s as it is in the database", async (prefix) => {
    const id = prefix === "av" ? 100 : 101;
    await insert(id);
    await database.query("update services.orders set quantity = 3 where id = $1", [id]);
    await database.query("delete from services.orders where id = $1", [id]);
    const service = runService("typed-handlers", envFor(prefix));
    await service.hears(({ what, id: deleted }) => what === "deleted" && deleted === id);
    expect(service.said).toContainEqual({ what: "read", id: 1, customer: "first" });
    expect(service.said.filter((line) => line["id"] === id)).toEqual([
      { what: "created", id, price: "10.2500", placed: "2026-01-31T08:00:00.5" },
      { what: "updated", id, from: 2, to: 3 },
      { what: "deleted", id },
    ]);
    service.signal("SIGTERM");
    expect([await service.ended, service.said.at(-1)?.what]).toEqual([0, "stopped"]);
    expect(service.complaints()).not.toContain('"level":50'); // a broker that has just started may be worth a warning
  });

  test("that caches rows tries again, sets a row aside that it cannot take, and goes on", async () => {
    const dead = uniqueName("services.dead");
    await createTopics(admin, [{ topic: dead, numPartitions: 1 }]);
    for (let id = 200; id < 240; id++) {
      await insert(id, id === 210 ? "poison" : id % 7 === 0 ? "flaky" : null);
    }
    await database.query("delete from services.orders where id = 220");
    const service = runService("cache", envFor("av", { DEAD_LETTER_TOPIC: dead }));
    const { port } = await service.hears(({ what }) => what === "listening");
    const cached = (id: number): Promise<number> => fetch(`http://127.0.0.1:${String(port)}/${id}`).then(({ status }) => status);
    await vi.waitFor(async () => expect(await Promise.all([cached(203), cached(239), cached(220)])).toEqual([200, 200, 404]), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await cached(210)).toBe(404);
    await vi.waitFor(async () => expect((await admin.fetchTopicOffsets(dead))[0]?.high).toBe("1"), { timeout: 30_000, interval: 100 });
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(service.said.at(-1)).toEqual({ what: "stopped", retries: 5, deadLettered: 1 });
  });

  test("that streams ends when it leaves the loop, and goes on after what was done", async () => {
    await insert(300);
    await insert(301);
    const file = join(await mkdtemp(join(tmpdir(), "service-")), "orders.ndjson");
    onTestFinished(() => rm(dirname(file), { recursive: true }));
    const lines = async (): Promise<string[]> => (await readFile(file, "utf8")).trimEnd().split("\n");
    const env = { ...envFor("js"), FILE: file };
    const first = runService("stream", { ...env, LAST_ID: "300" });
    expect(await first.ended, first.complaints()).toBe(0);
    expect(first.said).toEqual([{ what: "stopped", phase: "stopped" }]);
    const before = await lines();
    expect(JSON.parse(before.at(-1) ?? "")).toMatchObject({ op: "create", key: { id: 300 }, after: { customer: "customer 300" } });
    const second = runService("stream", { ...env, LAST_ID: "301" });
    expect(await second.ended, second.complaints()).toBe(0);
    expect(second.said).toEqual([{ what: "stopped", phase: "stopped" }]);
    const after = await lines();
    expect(after.slice(0, -1)).toEqual(before);
    expect(JSON.parse(after.at(-1) ?? "")).toMatchObject({ op: "create", key: { id: 301 }, after: { customer: "customer 301" } });
  });

  test("that keeps a copy in PostgreSQL is equal to its table, although it was killed in the middle", async () => {
    const { user, password, host, port, database: name } = stack.postgres;
    const env = envFor("av", { DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${name}` });
    const change = async (from: number): Promise<void> => {
      await database.query(`insert into services.orders select n, 'copied', 1, n * 1.1, null from generate_series($1::int, $1 + 499) n`, [
        from,
      ]);
      await database.query("update services.orders set quantity = quantity + 1, price = price * 1.01 where id >= $1 and id % 3 = 0", [
        from,
      ]);
      await database.query("delete from services.orders where id >= $1 and id % 5 = 0", [from]);
    };
    const hashOf = async (table: string): Promise<string> => {
      const sql = `select md5(coalesce(string_agg(t::text, ',' order by id), '')) || ' ' || count(*) as hash
        from (select id, customer, quantity, price, note, placed_at from ${table}) t`;
      return (await database.query<{ hash: string }>(sql)).rows[0]?.hash ?? "";
    };
    await change(1_000);
    const killed = runService("copy", env);
    await vi.waitFor(async () => expect((await database.query("select from services_copy.orders limit 1")).rowCount).toBe(1), {
      timeout: 60_000,
      interval: 20,
    });
    await change(2_000);
    killed.signal("SIGKILL");
    await killed.ended;
    await change(3_000);
    const service = runService("copy", env);
    await vi.waitFor(async () => expect(await hashOf("services_copy.orders")).toBe(await hashOf("services.orders")), {
      timeout: 90_000,
      interval: 200,
    });
    service.signal("SIGTERM");
    expect([await service.ended, service.said.at(-1)?.what]).toEqual([0, "stopped"]);
  });

  test("on Fastify tells its health in JSON, and sends changes to a browser as they happen", async () => {
    const service = runService("dashboard", envFor("av"));
    const { url } = await service.hears(({ what }) => what === "listening");
    const probe = async (path: string): Promise<readonly [number, Record<string, unknown>]> => {
      const response = await fetch(`${String(url)}${path}`).catch((error: unknown) => {
        throw new Error(`${JSON.stringify(service.said)} ${service.complaints()}`, { cause: error });
      });
      return [response.status, (await response.json()) as Record<string, unknown>];
    };
    await vi.waitFor(async () => expect(await probe("/ready")).toMatchObject([200, { ready: true, assigned: [{ partition: 0 }] }]), {
      timeout: 60_000,
      interval: 100,
    });
    expect(await probe("/live")).toMatchObject([200, { live: true, phase: "running" }]);
    const viewer = await fetch(`${String(url)}/events`);
    await insert(500);
    let seen = "";
    try {
      for await (const chunk of viewer.body ?? []) {
        seen += Buffer.from(chunk as Uint8Array).toString();
        if (seen.includes("customer 500")) {
          service.signal("SIGTERM"); // while a browser looks on
          break;
        }
      }
    } catch (cause) {
      throw new Error(`after ${JSON.stringify(seen)}: ${JSON.stringify(service.said)} ${service.complaints()}`, { cause });
    }
    const [, data = ""] = /^event: change\ndata: (.*"customer 500".*)$/m.exec(seen) ?? [];
    expect(JSON.parse(data)).toMatchObject({ kind: "change", op: "create", after: { id: 500, price: "10.2500" }, envelope: "debezium" });
    expect([await service.ended, service.said.at(-1)?.what]).toEqual([0, "stopped"]);
  });

  test("on Lambda handles what MSK hands over, and names the first record of each partition that failed", async () => {
    await insert(600);
    const records = await recordsOf("av.services.orders", (value) => value.includes("customer 600"));
    process.env["SCHEMA_REGISTRY_URL"] = stack.registryUrl;
    const { createHandler } = (await import(new URL("dist/lambda.js", import.meta.url).href)) as typeof import("./lambda.ts");
    const events: CdcEvent[] = [];
    const logged: unknown[] = [];
    const log = (fields: object): void => void logged.push(fields);
    const logger = { debug: log, info: log, warn: log, error: log };
    const handler = createHandler((event) => void events.push(event), logger);
    const [good, last] = [records[0] as KafkaEventRecord, records.at(-1) as KafkaEventRecord];
    const cut = {
      ...last,
      partition: 1,
      offset: 8,
      value: Buffer.from(last.value ?? "", "base64")
        .subarray(0, -1)
        .toString("base64"),
    };
    const answer = await handler({
      eventSource: "aws:kafka",
      records: {
        "av.services.orders-0": records,
        "av.services.orders-1": [{ ...good, partition: 1, offset: 7 }, cut, { ...good, partition: 1, offset: 9 }],
      },
    });
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: { partition: "av.services.orders-1", offset: 8 } }] });
    expect(logged).toMatchObject([{ err: { code: "truncated" }, partition: 1, offset: 8 }]);
    const handled = (partition: number): CdcEvent[] => events.filter(({ record }) => record.partition === partition);
    expect(handled(1).map(({ record }) => record.offset)).toEqual([7n]);
    expect(handled(0).length).toBe(records.length);
    expect(handled(0).at(-1)).toMatchObject({ op: "create", after: { id: 600, customer: "customer 600" }, key: { id: 600 } });
  });

  /** The records of a topic up to one, as Lambda writes them. */
  async function recordsOf(topic: string, isLast: (value: string) => boolean): Promise<readonly KafkaEventRecord[]> {
    const reader = client.consumer({ groupId: uniqueName("reader"), maxWaitTimeInMs: 100 });
    const records: KafkaEventRecord[] = [];
    await reader.connect();
    await reader.subscribe({ topics: [topic], fromBeginning: true });
    let isComplete = false;
    await reader.run({
      eachMessage: async ({ partition, message: { key, value, offset, timestamp, headers } }) => {
        if (isComplete) {
          return;
        }
        isComplete = value !== null && isLast(value.toString("latin1"));
        records.push({
          topic,
          partition,
          offset: Number(offset),
          timestamp: Number(timestamp),
          key: key?.toString("base64") ?? null,
          value: value?.toString("base64") ?? null,
          headers: Object.entries(headers ?? {}).map(([name, bytes]) => ({ [name]: [...(bytes as Buffer)] })),
        });
      },
    });
    await vi.waitFor(() => expect(isComplete).toBe(true), { timeout: 60_000, interval: 50 });
    await reader.disconnect();
    return records;
  }
});
