import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type RunningPostgres, startPostgres } from "../../scripts/stack/postgres.mjs";
import { createTopics, describeWithKafka, uniqueName, withStack } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const state = mkdtempSync(join(tmpdir(), "cdckit-drain-"));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Round {
  readonly outcome: string;
  readonly events: number;
  readonly resumedAtCheckpoint: boolean;
  readonly reconnects: number;
  readonly caps: Readonly<Record<string, number>> | null;
  readonly check: { readonly found: number; readonly expected: number } | null;
  readonly rate: { readonly elapsedMs: number };
  readonly firstEventMs: number;
}

interface Result {
  readonly aborted: boolean;
  readonly drains: readonly { readonly label: string; readonly rounds: readonly Round[] }[];
  readonly deliveryCosts: readonly { readonly target: string }[];
  readonly slowSink: { readonly fast: { readonly count: number }; readonly slow: { readonly count: number } } | null;
}

function cdcBench(
  args: readonly string[],
  whenSaid: (child: ChildProcess, stderr: string) => void = () => {},
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"], XDG_STATE_HOME: state, ...env } });
    const seen = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      seen.stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      seen.stderr += chunk.toString();
      whenSaid(child, seen.stderr);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...seen, code }));
  });
}

interface Validate {
  (result: unknown): boolean;
  readonly errors?: unknown;
}
/** The validator that cdc-bench depends on. */
const { Ajv2020 } = createRequire(new URL("../../packages/cdc-bench/package.json", import.meta.url))("ajv/dist/2020.js") as {
  readonly Ajv2020: new (options: object) => { compile(schema: object): Validate };
};
const validate = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync(new URL("../../packages/cdc-bench/schema/result.schema.json", import.meta.url), "utf8")) as object,
);

/** What is wrong with a result according to its published schema; null if nothing is. */
function schemaComplaint(stdout: string): unknown {
  return validate(JSON.parse(stdout)) ? null : validate.errors;
}

const stack = await withStack();

test.skipIf(stack.skip !== false)(
  "drain writes its backlog through PostgreSQL and Debezium, and leaves no slot, connector or table",
  async () => {
    if (stack.skip !== false) {
      return;
    }
    const { brokers, connectUrl, postgres } = stack.part;
    const database = `postgres://${postgres.user}:${postgres.password}@${postgres.host}:${postgres.port}/${postgres.database}`;
    const args = ["drain", "-b", brokers, "-n", "500", "--checkpoint-events", "50", "--rounds", "1", "--writers", "2", "--json"];
    const { code, stdout, stderr } = await cdcBench([...args, "--via", "postgres", "--database", database, "--connect", connectUrl]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      backlog: { via: "postgres", records: 500, bytes: null },
      drains: [{ rounds: [{ outcome: "caught-up", events: 500, resumedAtCheckpoint: true }] }],
    });
    const client = new pg.Client({ ...postgres });
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      "select slot_name as name from pg_replication_slots union all select pubname from pg_publication union all select tablename from pg_tables",
    );
    await client.end();
    const connectors = (await (await fetch(`${connectUrl}/connectors`)).json()) as readonly string[];
    expect([...rows.map(({ name }) => name), ...connectors].filter((name) => /^cdc[-_]bench[-_]drain/.test(name))).toEqual([]);
  },
);

await describeWithKafka("cdc-bench drain", ({ brokers }) => {
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 2 } });
  const admin = client.admin();
  let server: RunningPostgres;
  let pool: pg.Pool;
  let sinkUrl: string;

  beforeAll(async () => {
    await admin.connect();
    server = await startPostgres({ dir: join(state, "postgres") });
    const { host, port, user, password, database } = server.database;
    sinkUrl = `postgres://${user}:${password}@${host}:${port}/${database}`;
    pool = new pg.Pool({ ...server.database });
    pool.on("error", () => {}); // the server ends idle connections when it is stopped
  });

  afterAll(async () => {
    await admin.disconnect();
    await pool.end();
    await server.stop();
    rmSync(state, { recursive: true, force: true });
  });

  /** What stays. A broker lists a topic for a moment after it has answered that it is deleted. */
  async function leftBehind(): Promise<readonly string[]> {
    await vi.waitFor(async () => expect(await listed()).toEqual([]), { timeout: 15_000, interval: 50 }).catch(() => {});
    return listed();
  }

  async function listed(): Promise<readonly string[]> {
    const { groups } = await admin.listGroups();
    const { rows } = await pool.query<{ name: string }>("select nspname as name from pg_namespace where nspname like 'cdc_bench%'");
    const names = [...(await admin.listTopics()), ...groups.map(({ groupId }) => groupId), ...rows.map(({ name }) => name)];
    return names.filter((name) => /^cdc[-_]bench[-_](drain|sweep|soak)/.test(name));
  }

  const small = ["drain", "-b", brokers, "--checkpoint-events", "200", "--partitions", "2", "--writers", "4", "--json"];

  test("resumes each consumer at its checkpoint, tells which cap closed batches, and leaves nothing behind", async () => {
    const args = [...small, "-n", "2000", "--rounds", "2", "--batch-events", "100", "--slow-sink", "1ms", "--threshold", "rate>1"];
    const { code, stdout, stderr } = await cdcBench(args);
    expect(code, stderr).toBe(0);
    expect(schemaComplaint(stdout)).toBe(null);
    const { drains, slowSink } = JSON.parse(stdout) as Result;
    const rounds = drains.flatMap((drain) => drain.rounds);
    expect(rounds.map(({ outcome, events, resumedAtCheckpoint }) => ({ outcome, events, resumedAtCheckpoint }))).toEqual(
      Array.from({ length: 2 }, () => ({ outcome: "caught-up", events: 2_000, resumedAtCheckpoint: true })),
    );
    expect(rounds[0]?.caps?.["max-events"]).toBeGreaterThan(0);
    expect(rounds[0]?.caps?.["max-bytes"]).toBe(0);
    expect([slowSink?.fast.count, slowSink?.slow.count]).toEqual([2_000, 2_000]);
    expect(await leftBehind()).toEqual([]);
  });

  test("ends although a partition got no event after the checkpoint", async () => {
    const { code, stdout, stderr } = await cdcBench([...small, "-n", "1", "--rounds", "1"]);
    expect(code, stderr).toBe(0);
    const rounds = (JSON.parse(stdout) as Result).drains.flatMap((drain) => drain.rounds);
    expect(rounds).toMatchObject([{ outcome: "caught-up", events: 1, resumedAtCheckpoint: true }]);
  });

  test("measures at-least-once beside effectively-once, and counts each change once in PostgreSQL and in Kafka", async () => {
    const { code, stdout, stderr } = await cdcBench([...small, "-n", "1500", "--rounds", "1", "--to", "all", "--sink-url", sinkUrl]);
    expect(code, stderr).toBe(0);
    expect(schemaComplaint(stdout)).toBe(null);
    const { drains, deliveryCosts } = JSON.parse(stdout) as Result;
    expect(deliveryCosts.map(({ target }) => target)).toEqual(["postgres", "kafka"]);
    for (const { label, rounds } of drains.filter((drain) => drain.label !== "handler, at-least-once")) {
      const [round] = rounds;
      expect(round?.check?.expected, label).toBeGreaterThan(500);
      expect(round?.check?.found, label).toBe(round?.check?.expected);
    }
    expect(await leftBehind()).toEqual([]);
  });

  test("drops what it made in its sink, also while DATABASE_URL names another database", async () => {
    const args = [...small, "-n", "500", "--rounds", "1", "--to", "postgres", "--sink-url", sinkUrl];
    // Without the login of --sink-url the server lets nobody drop anything.
    const { code, stderr } = await cdcBench(args, () => {}, { DATABASE_URL: "postgres://u:canary@127.0.0.1:1/source" });
    expect(code, stderr).toBe(0);
    expect(stderr).not.toMatch(/could not remove|canary/);
    expect(await leftBehind()).toEqual([]);
  });

  test("goes through its proxy, and catches up although connections are cut and swallowed", async () => {
    const faults = ["--fault", "latency=20ms", "--fault", "cut@300ms", "--fault", "blackhole@600ms..2s"];
    const { code, stdout, stderr } = await cdcBench([...small, "-n", "1000", "--rounds", "1", ...faults]);
    expect(code, stderr).toBe(0);
    expect(schemaComplaint(stdout)).toBe(null);
    const [round] = (JSON.parse(stdout) as Result).drains.flatMap(({ rounds }) => rounds);
    expect(round).toMatchObject({ outcome: "caught-up", events: 1_000 });
    expect((round?.firstEventMs ?? 0) + (round?.rate.elapsedMs ?? 0)).toBeGreaterThan(100); // five round trips of 40 ms at least
  });

  test.each([
    ["to the checkpoints", /each handles the first events/, false],
    ["in the backlog", /writing the backlog/, false],
    ["in a drain", /resuming 2 consumers/, true],
  ])("Ctrl-C on the way %s ends with 130 and leaves nothing behind", async (_, when, hasResult) => {
    let isSent = false;
    const args = [...small, "-n", hasResult ? "3000" : "200000", "--rounds", "2", "--work", "20ms", "--batch-events", "10"];
    const {
      code,
      stdout,
      stderr: said,
    } = await cdcBench(args, (child, stderr) => {
      if (!isSent && when.test(stderr)) {
        isSent = true;
        child.kill("SIGINT");
      }
    });
    expect(code, said).toBe(130);
    if (hasResult) {
      expect(JSON.parse(stdout)).toMatchObject({ aborted: true, command: "drain" });
    }
    expect(said.includes("interrupted before anything was measured"), said).toBe(stdout === "");
    expect(await leftBehind()).toEqual([]);
  });

  const sweep = [
    "sweep",
    "-b",
    brokers,
    "-n",
    "1000",
    "--partitions",
    "2",
    "--writers",
    "2",
    "--rounds",
    "1",
    "--point-time",
    "500ms",
    "--json",
  ];

  test("sweep draws a curve for each setting, and prints a configuration of what it measured", async () => {
    const args = [...sweep, "--dimensions", "partitions-at-once", "--work", "1ms", "--threshold", "rate>1"];
    const { code, stdout, stderr } = await cdcBench(args);
    expect(code, stderr).toBe(0);
    expect(schemaComplaint(stdout)).toBe(null);
    const { curves, configuration, base } = JSON.parse(stdout) as {
      readonly curves: readonly {
        readonly name: string;
        readonly points: readonly object[];
        readonly knee: { readonly value: number } | null;
      }[];
      readonly configuration: string;
      readonly base: { readonly rate: { readonly median: number } };
    };
    expect(curves.map(({ name }) => name)).toEqual(["partitions-at-once"]);
    expect(curves.every(({ points, knee }) => points.length >= 4 && knee !== null)).toBe(true);
    expect(base.rate.median).toBeGreaterThan(1);
    expect(configuration).toContain("createConsumer({");
    expect(await leftBehind()).toEqual([]);
  });

  test("sweep ends with what it has after Ctrl-C, and refuses an empty topic", async () => {
    let isSent = false;
    const { code, stdout } = await cdcBench([...sweep, "--work", "1ms", "--dimensions", "partitions-at-once,batch-ms"], (child, stderr) => {
      if (!isSent && stderr.includes("batch-ms: ")) {
        isSent = true;
        child.kill("SIGINT");
      }
    });
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ aborted: true, command: "sweep" });
    const empty = uniqueName("drain-empty");
    await createTopics(admin, [{ topic: empty, numPartitions: 1, replicationFactor: 1 }]);
    const missing = await cdcBench(["sweep", "-b", brokers, "--topics", "no-such-topic"]);
    expect([missing.code, missing.stderr], missing.stderr).toEqual([4, expect.stringContaining("there is no topic no-such-topic. ")]);
    const none = await cdcBench(["sweep", "-b", brokers, "--topics", empty]);
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining("there is nothing in it")]);
    expect(await leftBehind()).toEqual([]);
  });

  test("sweep of records that nobody can decode ends after its first measurement, with 5 and the reason", async () => {
    const topic = uniqueName("drain-foreign");
    await createTopics(admin, [{ topic, numPartitions: 1, replicationFactor: 1 }]);
    const producer = client.producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ value: '{"id":' }, { value: '{"id":1' }] });
    await producer.disconnect();
    const { code, stderr } = await cdcBench(["sweep", "-b", brokers, "--topics", topic, "--point-time", "500ms"]);
    expect([code, stderr], stderr).toEqual([5, expect.stringContaining(`none of 2 records of ${topic} could be decoded. The first: `)]);
    expect(await leftBehind()).toEqual([]);
  });

  const soak = ["soak", "-b", brokers, "--partitions", "2", "--duration", "3s", "--json"];

  interface SoakFormat {
    readonly format: string;
    readonly events: number;
    readonly written: number | null;
    readonly loops: number;
    readonly errorRecords: number;
    readonly latency: { readonly count: number } | null;
    readonly windows: readonly { readonly heapBytes: number }[];
  }

  test("soak measures JSON and Avro side by side, as fast as possible and at a set rate", async () => {
    const fast = await cdcBench([...soak, "-n", "500", "--writers", "2"]);
    expect(fast.code, fast.stderr).toBe(0);
    expect(schemaComplaint(fast.stdout)).toBe(null);
    const looped = (JSON.parse(fast.stdout) as { readonly formats: readonly SoakFormat[] }).formats;
    expect(looped.map(({ format }) => format)).toEqual(["json", "confluent-avro"]);
    for (const { loops, events, errorRecords, windows, latency } of looped) {
      expect([errorRecords, latency]).toEqual([0, null]);
      expect(loops).toBeGreaterThan(0);
      expect(events).toBeGreaterThan(500);
      expect(windows.length).toBeGreaterThan(0);
      expect(windows[0]?.heapBytes).toBeGreaterThan(1e6);
    }
    const paced = await cdcBench([...soak, "--rate", "100"]);
    expect(paced.code, paced.stderr).toBe(0);
    for (const { written, events, latency } of (JSON.parse(paced.stdout) as { readonly formats: readonly SoakFormat[] }).formats) {
      expect(written).toBeGreaterThan(200);
      // Both are counted in the same window, and a busy machine moves one of them by seconds.
      expect(events / (written ?? 0)).toBeGreaterThan(0.2);
      expect(events / (written ?? 0)).toBeLessThan(5);
      expect(latency?.count).toBe(events);
    }
    expect(await leftBehind()).toEqual([]);
  });

  test("soak ends with what it has after Ctrl-C", async () => {
    let isSent = false;
    const { code, stdout, stderr } = await cdcBench(
      // A tenth of it is warm-up. The last `--duration` counts.
      [...soak, "--rate", "200", "--duration", "30s"],
      (child, said) => {
        // Before the first window has ended, and while windows are without an event, nothing is measured yet.
        if (!isSent && /^soak, .*(JSON|Avro) [1-9]/m.test(said)) {
          isSent = true;
          child.kill("SIGINT");
        }
      },
    );
    expect([code, stdout === ""], stderr).toEqual([130, false]);
    const result = JSON.parse(stdout) as { readonly notes: readonly string[] };
    expect(result).toMatchObject({ aborted: true, command: "soak" });
    // It was to measure for 30 s.
    expect(result.notes).toEqual([expect.stringMatching(/^[012]?\d s are too short/), expect.stringMatching(/^Interrupted: /)]);
    expect(await leftBehind()).toEqual([]);
  });

  // So much to write, and 30 s of warm-up: the signal comes in the phase that it is meant for, also on a busy machine.
  test.each([
    ["writing 50,000 events in JSON", "50000", []],
    ["joining the groups", "500", ["joining the groups"]],
    ["warming up", "500", ["joining the groups", "warming up"]],
  ])("soak with Ctrl-C at %j names the phases that it reached, and says that nothing was measured", async (at, events, reached) => {
    let isSent = false;
    const { code, stdout, stderr } = await cdcBench([...soak, "-n", events, "--writers", "2", "--duration", "5m"], (child, said) => {
      if (!isSent && said.includes(at)) {
        isSent = true;
        child.kill("SIGINT");
      }
    });
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr.match(/joining the groups|warming up|measuring for/g) ?? []).toEqual(reached);
    expect(stderr).toMatch(/^interrupted before anything was measured: there is no result\.$/m);
    expect(await leftBehind()).toEqual([]);
  });

  test("what cannot be measured is refused with what is missing", async () => {
    const noBroker = await cdcBench(["drain", "-b", "127.0.0.1:1"]);
    expect(noBroker.code).toBe(3);
    expect(noBroker.stderr).toContain("127.0.0.1:1");
    const noSink = await cdcBench(["drain", "-b", brokers, "--to", "postgres"]);
    expect([noSink.code, noSink.stderr]).toEqual([2, expect.stringContaining("--sink-url postgres://")]);
    const deadSink = await cdcBench([...small, "--to", "postgres", "--sink-url", "postgres://u@127.0.0.1:1/d"]);
    expect(deadSink.code).toBe(3);
    expect(deadSink.stderr).toContain("the database at 127.0.0.1:1 does not answer");
    expect(deadSink.stderr).not.toContain("could not remove");
    expect(await leftBehind()).toEqual([]);
    const wrongFault = await cdcBench(["drain", "-b", brokers, "--fault", "blackhole@9s..3s"]);
    expect([wrongFault.code, wrongFault.stderr]).toEqual([2, expect.stringContaining("later time last")]);
  });
});
