import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pass } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { type Consumer, createConsumer } from "@cdckit/consumer";
import { kafkajs } from "@cdckit/kafkajs";
import { postgres } from "@cdckit/postgres";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { freePorts } from "../../scripts/stack/ports.mjs";
import { type RunningPostgres, startPostgres } from "../../scripts/stack/postgres.mjs";
import { TcpProxy } from "../chaos/tcp-proxy.ts";
import { Random } from "../fuzz/random.ts";
import { createTopics, describeWithKafka, uniqueName } from "./stack.ts";

const memberScript = fileURLToPath(new URL("../chaos/copy-member.mjs", import.meta.url));
// Members run what users run.
const isBuilt = existsSync(new URL("../../packages/postgres/dist/index.js", import.meta.url));

const partitions = 4;
const tuning = {
  maxWaitMs: 100,
  sessionTimeoutMs: 3_000,
  heartbeatIntervalMs: 300,
  rebalanceTimeoutMs: 5_000,
  maxBytesPerPartition: 4_096,
  partitionsConsumedConcurrently: partitions,
};

await describeWithKafka("a copy in PostgreSQL", (kafka) => {
  const client = new Kafka({ brokers: [kafka.brokers], logLevel: logLevel.NOTHING });
  const admin = client.admin();
  // Otherwise a request that is tried again, because one partition of a new topic had no leader yet, writes to the others twice.
  const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
  const dir = mkdtempSync(join(tmpdir(), "cdckit-copy-"));
  let server: RunningPostgres;
  let proxy: TcpProxy;
  let pool: pg.Pool;
  let topic: string;
  let groupId: string;
  let source: SourceTable;
  const running: { readonly consumer: Consumer; readonly run: Promise<unknown> }[] = [];
  const members: ChildProcess[] = [];

  beforeAll(async () => {
    server = await startPostgres({ dir });
    pool = new pg.Pool({ ...server.database });
    pool.on("error", () => {}); // the server ends idle connections when it is stopped
    const [port = 0] = await freePorts(1);
    proxy = await TcpProxy.listen(port, server.database.port, { speaksKafka: false });
    await Promise.all([admin.connect(), producer.connect()]);
  });

  afterAll(async () => {
    for (const member of members) {
      member.kill("SIGKILL");
    }
    await Promise.all(
      running.map(({ consumer, run }) =>
        consumer
          .stop()
          .then(() => run)
          .catch(() => {}),
      ),
    );
    await Promise.all([admin.disconnect(), producer.disconnect(), proxy.close()]);
    await pool.end();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  beforeEach(async () => {
    topic = `${uniqueName("shop")}.public.orders`;
    groupId = uniqueName("copy");
    source = new SourceTable();
    await createTopics(admin, [{ topic, numPartitions: partitions }]);
    await pool.query(
      `drop schema if exists copy cascade; create schema copy;
       create table copy.orders (id bigint primary key, note text, n bigint);
       create table copy.written (sink_table text, id bigint, n bigint);
       create function copy.note() returns trigger language plpgsql as
         'begin insert into copy.written values (tg_table_name, new.id, new.n); return new; end';
       create trigger noted after insert or update on copy.orders for each row execute function copy.note();`,
    );
  });

  function url(port = server.database.port): string {
    const { user, password, database } = server.database;
    return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  }

  function consumerOf(...sinks: Parameters<typeof postgres>[0][]): Consumer {
    const consumer = createConsumer({
      driver: kafkajs({ brokers: [kafka.brokers], ...tuning }),
      groupId,
      topics: [topic],
      signals: false,
      shutdownTimeoutMs: 2_000,
    });
    for (const sink of sinks) {
      consumer.to(postgres({ connectionString: url(), schema: "copy", ...sink }));
    }
    return consumer;
  }

  function start(...sinks: Parameters<typeof postgres>[0][]): { readonly consumer: Consumer; readonly run: Promise<unknown> } {
    const consumer = consumerOf(...sinks);
    const run = consumer.run().then(
      () => null,
      (error: unknown) => error,
    );
    const member = { consumer, run };
    running.push(member);
    return member;
  }

  async function write(changes: number): Promise<void> {
    await producer.send({ topic, messages: source.change(changes) });
  }

  async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + 60_000;
    while (!(await isSo())) {
      if (performance.now() > giveUpAt) {
        throw new Error(`waited a minute for ${what}`);
      }
      await pass(50);
    }
  }

  async function rows(sql: string): Promise<readonly Record<string, unknown>[]> {
    return (await pool.query<Record<string, unknown>>(sql)).rows;
  }

  /** How many records the sink's checkpoints have passed. */
  async function passed(sink = "postgres"): Promise<number> {
    const [found] = await rows("select to_regclass('copy.cdckit_checkpoints') is not null as there");
    if (found?.["there"] !== true) {
      return 0;
    }
    const { rows: sums } = await pool.query<{ n: string }>(
      "select coalesce(sum(next_offset), 0) as n from copy.cdckit_checkpoints where group_id = $1 and sink = $2",
      [groupId, sink],
    );
    return Number(sums[0]?.n);
  }

  const untilPassed = (count: number, sink?: string): Promise<void> =>
    until(`${count} records to be passed`, async () => (await passed(sink)) >= count);

  /** So many members have claimed one of the partitions, one after the other. */
  const untilClaimed = (times: number): Promise<void> =>
    until(`a partition to be claimed ${times} times`, async () => {
      const [claims] = await rows("select coalesce(max(fence), 0)::int as n from copy.cdckit_checkpoints");
      return Number(claims?.["n"]) >= times;
    });

  const table = (name = "orders"): Promise<readonly Record<string, unknown>[]> =>
    rows(`select id::int, note, n::int from copy.${name} order by id`);

  /** `n` grows with every change, so that whatever was written twice or in the wrong order stands here. */
  const writtenTwice = (): Promise<readonly Record<string, unknown>[]> =>
    rows("select sink_table, id, n, count(*)::int as times from copy.written group by 1, 2, 3 having count(*) > 1");

  /** Nobody else reads or writes the table meanwhile. */
  async function withLock(name: string, run: () => Promise<void>): Promise<void> {
    const lock = await pool.connect();
    try {
      await lock.query(`begin; lock table ${name} in access exclusive mode`);
      await run();
    } finally {
      await lock.query("rollback");
      lock.release();
    }
  }

  test("is the last state of each row, whoever joins, leaves and starts again", { timeout: 180_000 }, async () => {
    await write(300);
    const first = start({});
    await untilPassed(50);
    const second = start({});
    await untilClaimed(2);
    await write(600);
    await untilPassed(500);
    await first.consumer.stop();
    await write(300);
    const third = start({});
    await untilClaimed(3);
    await untilPassed(1_000);
    await second.consumer.stop();
    await write(100);
    await untilPassed(1_300);
    await third.consumer.stop();
    expect(await Promise.all([first.run, second.run, third.run])).toEqual([null, null, null]);
    expect(await table()).toEqual(source.rows());
    expect(await writtenTwice()).toEqual([]);
  });

  test("has a checkpoint for each sink: a fast one goes on while a slow one waits, and each starts again at its own", async () => {
    await pool.query(
      `create table copy.slow_orders (like copy.orders including all);
       create trigger noted after insert or update on copy.slow_orders for each row execute function copy.note();`,
    );
    const sinks = [{ name: "fast" }, { name: "slow", tableFor: () => ({ name: "slow_orders" }) }];
    await withLock("copy.slow_orders", async () => {
      const first = start(...sinks);
      await write(500);
      // kafkajs hands over nothing more of a fetch that is not handled: the fast one is ahead by no more than that.
      await untilPassed(10, "fast");
      expect(await passed("slow")).toBe(0);
      await first.consumer.stop().catch(() => {});
      expect(await first.run).toMatchObject({ code: "work-abandoned" }); // the slow one was under way
    });
    const second = start(...sinks);
    await write(200);
    await untilPassed(700, "fast");
    await untilPassed(700, "slow");
    await second.consumer.stop();
    expect(await second.run).toBeNull();
    expect([await table(), await table("slow_orders")]).toEqual([source.rows(), source.rows()]);
    expect(await writtenTwice()).toEqual([]);
  });

  test.skipIf(!isBuilt)(
    "cannot be written by a member that was frozen in the middle of a transaction, and has lost its partitions",
    async () => {
      const sinks = [{ connectionString: url(), schema: "copy" }];
      const options = { brokers: kafka.brokers, topics: [topic], groupId, sinks };
      const zombie = spawn(process.execPath, [memberScript, JSON.stringify(options)], { stdio: ["ignore", "ignore", "pipe"] });
      members.push(zombie);
      await write(200);
      await untilPassed(200);
      await withLock("copy.orders", async () => {
        await write(200);
        await until("a statement to wait for the table", async () => (await rows("select 1 from pg_locks where not granted")).length > 0);
        zombie.kill("SIGSTOP");
      });
      const other = start({});
      await untilPassed(400);
      expect(await table()).toEqual(source.rows());
      zombie.kill("SIGCONT");
      await write(200);
      await untilPassed(600);
      await other.consumer.stop();
      expect(await other.run).toBeNull();
      expect(zombie.exitCode).toBeNull(); // it was fenced, and has joined again
      await write(50);
      await untilPassed(650);
      expect(await table()).toEqual(source.rows());
      expect(await writtenTwice()).toEqual([]);
      const ended = new Promise((resolve) => zombie.once("exit", resolve));
      zombie.kill("SIGTERM");
      expect(await ended).toBe(0);
    },
  );

  test("waits while PostgreSQL cannot be reached, and applies everything once", async () => {
    const { consumer, run } = start({ connectionString: url(proxy.port) });
    await write(200);
    await untilPassed(100);
    proxy.cut();
    await write(400);
    await until("the consumer to notice", async () => consumer.health().counts.retries >= 6); // more than other failures are given
    proxy.heal();
    await untilPassed(600);
    await consumer.stop();
    expect(await run).toBeNull();
    expect(await table()).toEqual(source.rows());
    expect(await writtenTwice()).toEqual([]);
  });

  test("halts at a row that PostgreSQL refuses, with its table and the code and no value", async () => {
    await pool.query("alter table copy.orders add constraint no_secrets check (note <> 'a secret')");
    const { run } = start({});
    await producer.send({ topic, messages: [message(7, null, { id: 7, note: "a secret", n: 1 })] });
    const error = (await run) as Error;
    expect(error.message).toContain('[sink-failed] the sink "postgres" failed at');
    expect((error.cause as Error).message).toMatch(/"copy"\."orders".*23514/);
    const reported = inspect(error, { depth: null, showHidden: true });
    expect(reported).toContain("no_secrets");
    expect(reported).not.toContain("a secret");
    expect(await table()).toEqual([]);
  });
});

interface Row {
  readonly id: number;
  readonly note: string;
  readonly n: number;
}

interface Message {
  readonly key: string;
  readonly value: string | null;
}

/** What a database would be, whose changes are written to Kafka as Debezium does. */
class SourceTable {
  readonly #rows = new Map<number, Row>();
  readonly #random = new Random(1);
  #n = 0;

  change(count: number): Message[] {
    const messages: Message[] = [];
    while (messages.length < count) {
      const id = this.#random.below(60);
      const before = this.#rows.get(id) ?? null;
      if (before !== null && this.#random.chance(0.2) && messages.length + 2 <= count) {
        this.#rows.delete(id);
        messages.push(message(id, before, null), { key: JSON.stringify({ id }), value: null });
        continue;
      }
      const after = { id, note: `note ${this.#random.below(1_000)}`, n: ++this.#n };
      this.#rows.set(id, after);
      messages.push(message(id, before, after));
    }
    return messages;
  }

  rows(): readonly Row[] {
    return [...this.#rows.values()].sort((a, b) => a.id - b.id);
  }
}

function message(id: number, before: Row | null, after: Row | null): Message {
  const source = { version: "3.5.2.Final", connector: "postgresql", name: "shop", ts_ms: 0, db: "shop", schema: "public", table: "orders" };
  const op = after === null ? "d" : before === null ? "c" : "u";
  return { key: JSON.stringify({ id }), value: JSON.stringify({ before, after, source, op, ts_ms: 0, transaction: null }) };
}
