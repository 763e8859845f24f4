import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runSql } from "../../scripts/stack/mariadb.mjs";
import { waitUntil } from "../../scripts/stack/wait.mjs";
import { type SharedStack, withMariadb, withStack } from "../integration/stack.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../packages/cdc-bench/bin/cdc-bench.js", import.meta.url));
const rows = 2_000;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The fields of a result that are looked at here. */
interface Result {
  readonly aborted: boolean;
  readonly tableRows: number;
  readonly formats: readonly {
    readonly format: string;
    readonly messages: number;
    readonly totalMs: number;
    readonly sizes: { readonly avgBytes: number; readonly p99Bytes: number };
    readonly timesAvro: number;
    readonly schemaBytesPerMessage: number;
    readonly typedColumns: number;
    readonly columns: number;
    readonly connector: { readonly writeMs: number };
    readonly consumer: { readonly elapsedMs: number };
    readonly tail: { readonly rows: number; readonly missingRows: number; readonly sinceIntended: { readonly count: number } } | null;
    readonly compression: readonly { readonly compression: string; readonly bytesPerMessage: number }[];
    readonly errorRecords: number;
  }[];
}

const found = await withStack();
const mariadb = await withMariadb();

describe.skipIf(found.skip !== false)("cdc-bench snapshot on the real stack", { meta: { skipReason: String(found.skip) } }, () => {
  const state = mkdtempSync(join(tmpdir(), "cdc-bench-snapshot-"));
  let database: pg.Client;
  /** Other tests of the run start the program on the same stack: what a process makes has its pid in its name. */
  const pids = new Set<number>();

  beforeAll(async () => {
    database = new pg.Client({ ...stack().postgres });
    await database.connect();
  });

  afterEach(async () => {
    expect(await leftBehind()).toEqual([]);
  });

  afterAll(async () => {
    await database.end();
    rmSync(state, { recursive: true, force: true });
  });

  test("every format has every row, with figures that agree with each other, and nothing is left behind", async () => {
    const { code, stdout, stderr } = await cdcBench([
      "snapshot",
      "--rows",
      String(rows),
      "--rounds",
      "1",
      "--tail",
      "1s",
      "--tail-rate",
      "50",
      "--json",
    ]);
    expect(code, stderr).toBe(0);
    // It reads what holds to the published schema, and nothing else.
    const file = join(state, "result.json");
    writeFileSync(file, stdout);
    const report = await cdcBench(["report", file, "--format", "text"]);
    expect([report.code, report.stdout]).toEqual([0, expect.stringContaining("The published table, on this machine")]);
    const { formats, tableRows } = JSON.parse(stdout) as Result;
    expect(tableRows).toBe(rows);
    expect(formats.map(({ format, messages, errorRecords }) => [format, messages, errorRecords])).toEqual([
      ["json-schema", rows, 0],
      ["json", rows, 0],
      ["avro", rows, 0],
    ]);
    const [withSchema, json, avro] = formats as [Result["formats"][number], Result["formats"][number], Result["formats"][number]];
    expect(withSchema.sizes.avgBytes - withSchema.schemaBytesPerMessage).toBeCloseTo(json.sizes.avgBytes, -2);
    expect([withSchema, json, avro].map(({ typedColumns, columns }) => [typedColumns, columns])).toEqual([
      [12, 12],
      [0, 12],
      [12, 12],
    ]);
    expect(avro.timesAvro).toBe(1);
    expect(withSchema.timesAvro).toBeGreaterThan(json.timesAvro);
    for (const { tail, compression, totalMs, connector, consumer, sizes } of formats) {
      expect(tail).toMatchObject({ rows: 50, missingRows: 0, sinceIntended: { count: 50 } });
      expect(totalMs).toBeGreaterThan(connector.writeMs + consumer.elapsedMs);
      const [plain = Number.NaN, ...packed] = compression.map(({ bytesPerMessage }) => bytesPerMessage);
      expect(plain).toBeGreaterThan(sizes.avgBytes);
      expect(packed).toHaveLength(4);
      expect(Math.max(...packed)).toBeLessThan(plain);
    }
  }, 300_000);

  test("a table of the user's own is read, and nothing is added to it", async () => {
    await database.query("create table snapshot_own as select i as id, 'text ' || i as name from generate_series(1, 500) as i");
    try {
      const { code, stdout, stderr } = await cdcBench(["snapshot", "--table", "snapshot_own", "--formats", "json", "--rounds", "1"]);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/^messages +500$/m);
      expect(stdout).toContain("No latency: rows are added only to tables that snapshot or create-table has made.");
      expect((await database.query("select count(*)::int as n from snapshot_own")).rows).toEqual([{ n: 500 }]);
    } finally {
      await database.query("drop table snapshot_own");
    }
  }, 120_000);

  test("Ctrl-C ends it with 130 and a partial result, and nothing is left behind", async () => {
    const { code, stdout, stderr } = await cdcBench(["snapshot", "--rows", String(rows), "--json"], async (child) => {
      await untilConnector();
      child.kill("SIGINT");
    });
    expect(code, stderr).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ command: "snapshot", aborted: true });
  }, 120_000);

  test("what a killed run leaves is told of by the next one, and --clean removes it", async () => {
    const { code } = await cdcBench(["snapshot", "--rows", String(rows)], async (child) => {
      await untilConnector();
      child.kill("SIGKILL");
    });
    expect(code).toBeNull();
    expect((await leftBehind()).length).toBeGreaterThan(1);
    const other = await cdcBench(["create-table", "--table", "snapshot_other", "--rows", "10"]);
    expect(other.code, other.stderr).toBe(0);
    expect(other.stderr).toMatch(
      /^an earlier run \(snapshot, .*\) left table public\.cdc_bench_.*, connector cdc-bench-.*; --clean removes it\.$/m,
    );
    await database.query("drop table snapshot_other");
    const cleaned = await cdcBench(["create-table", "--clean"]);
    expect(cleaned.code, cleaned.stderr).toBe(0);
    expect(cleaned.stdout).toMatch(/^removed connector cdc-bench-/);
  }, 120_000);

  test("a connector that Connect refuses is told with Connect's reason, and without the password", async () => {
    const url = addressOf(stack().postgres, "wrong-secret");
    const { code, stderr } = await cdcBench(
      ["snapshot", "--connector", writeTemplate("wrong-secret"), "--formats", "json", "--table", "sales.salesorderdetail"],
      undefined,
      {
        DATABASE_URL: "",
      },
    );
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/Kafka Connect refuses the connector cdc-bench-.* \(HTTP 400\): .*password authentication failed/);
    expect(stderr).not.toContain("wrong-secret");
    const opened = await cdcBench(["snapshot", "--database", url]);
    expect(opened.code).toBe(3);
    expect(opened.stderr).toContain("refuses the login");
    expect(opened.stderr).not.toContain("wrong-secret");
  }, 60_000);

  test("what is missing is told before anything is made", async () => {
    const cases = [
      [["--connect", "http://127.0.0.1:1"], 3, "Kafka Connect at http://127.0.0.1:1 does not answer. Is it running"],
      [["--brokers", "127.0.0.1:1"], 3, "127.0.0.1:1"],
      [["--table", "no_such_table"], 4, "there is no table public.no_such_table in that database"],
      [["--formats", "protobuf"], 2, "Protobuf cannot be written: this Kafka Connect has none of its converters"],
      [["--formats", "xml"], 2, "there is no format xml"],
      [["--table", "a.b", "--rows", "5"], 2, "--table and --rows exclude each other"],
    ] as const;
    for (const [flags, code, sentence] of cases) {
      const ended = await cdcBench(["snapshot", ...flags]);
      expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(sentence)]);
    }
  }, 60_000);

  test("create-table makes the same rows for the same seed, a fortieth of them different, and refuses one that is there", async () => {
    const sum = async (): Promise<unknown> => {
      const { rows: counted } = await database.query(
        "select count(*)::int as n, count(distinct (salesorderdetailid, unitprice, orderqty))::int as different, md5(string_agg(t::text, ',' order by id)) as sum from snapshot_made t",
      );
      return counted[0];
    };
    try {
      const made = await cdcBench(["create-table", "--table", "snapshot_made", "--rows", "4000"]);
      expect(made.code, made.stderr).toBe(0);
      expect(made.stdout).toMatch(/^public\.snapshot_made: 4,000 rows from seed 1, in [\d.]+ s\n$/);
      const first = await sum();
      expect(first).toMatchObject({ n: 4000, different: 100 });
      const again = await cdcBench(["create-table", "--table", "snapshot_made"]);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is there already, with 4,000 rows: --replace drops it")]);
      await cdcBench(["create-table", "--table", "snapshot_made", "--rows", "4000", "--replace"]);
      expect(await sum()).toEqual(first);
      await cdcBench(["create-table", "--table", "snapshot_made", "--rows", "4000", "--seed", "2", "--replace"]);
      expect(await sum()).not.toEqual(first);
    } finally {
      await database.query("drop table if exists snapshot_made");
    }
  }, 60_000);

  // The table is made through mysql2, the client that users bring.
  test.skipIf(mariadb.skip !== false)(
    "MariaDB is a second source",
    { meta: { skipReason: String(mariadb.skip) }, timeout: 180_000 },
    async () => {
      if (mariadb.skip !== false) throw new Error("unreachable: the test is skipped");
      const url = addressOf(mariadb.part.database, mariadb.part.database.password).replace("postgres:", "mariadb:");
      const { code, stdout, stderr } = await cdcBench([
        ...["snapshot", "--database", url, "--rows", String(rows), "--formats", "json,avro"],
        ...["--rounds", "1", "--tail", "1s", "--tail-rate", "50", "--json"],
      ]);
      expect(code, stderr).toBe(0);
      const { formats } = JSON.parse(stdout) as Result;
      expect(formats.map(({ format, messages, tail }) => [format, messages, tail?.missingRows])).toEqual([
        ["json", rows, 0],
        ["avro", rows, 0],
      ]);
      expect(await runSql(mariadb.part, "select count(*) from information_schema.tables where table_name like 'cdc_bench%'")).toBe("0\n");
    },
  );

  /** The names of connectors, topics, groups, subjects, slots, publications and tables that runs of these tests have made and not deleted. */
  async function leftBehind(): Promise<readonly string[]> {
    const { connectUrl, registryUrl, brokers } = stack();
    const admin = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      const names = await Promise.all([
        listOf(`${connectUrl}/connectors`),
        listOf(`${registryUrl}/subjects`),
        admin.listTopics(),
        admin.listGroups().then(({ groups }) => groups.map(({ groupId }) => groupId)),
        namesOf(
          "select slot_name as name from pg_replication_slots union all select pubname from pg_publication union all select tablename from pg_tables",
        ),
      ]);
      return names.flat().filter(isOurs);
    } finally {
      await admin.disconnect();
    }
  }

  async function namesOf(sql: string): Promise<readonly string[]> {
    return (await database.query<{ name: string }>(sql)).rows.map(({ name }) => name);
  }

  function isOurs(name: string): boolean {
    const pid = /^cdc[-_]bench[-_](\d+)[-_]/.exec(name)?.[1];
    return pid !== undefined && pids.has(Number(pid));
  }

  async function untilConnector(): Promise<void> {
    await waitUntil({
      what: "a connector of the run",
      deadlineMs: 60_000,
      check: async () => (await listOf(`${stack().connectUrl}/connectors`)).some(isOurs),
    });
  }

  function cdcBench(
    args: readonly string[],
    whenStarted?: (child: ChildProcess) => Promise<void>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Ended> {
    const { brokers, connectUrl, registryUrl, converterUrl, postgres } = stack();
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [binary, ...args], {
        env: {
          PATH: process.env["PATH"],
          XDG_STATE_HOME: state,
          KAFKA_BROKERS: brokers,
          CONNECT_URL: connectUrl,
          SCHEMA_REGISTRY_URL: registryUrl,
          CONVERTER_REGISTRY_URL: converterUrl,
          DATABASE_URL: addressOf(postgres, postgres.password),
          ...env,
        },
      });
      pids.add(child.pid ?? 0);
      const seen = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk: Buffer) => {
        seen.stdout += chunk.toString();
      });
      child.stderr.on("data", (chunk: Buffer) => {
        seen.stderr += chunk.toString();
      });
      child.on("error", reject);
      child.on("close", (code) => resolve({ ...seen, code }));
      whenStarted?.(child).catch(reject);
    });
  }

  function writeTemplate(password: string): string {
    const { postgres } = stack();
    const file = join(state, "connector.json");
    const config = {
      "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
      "database.hostname": postgres.host,
      "database.port": postgres.port,
      "database.user": postgres.user,
      "database.password": password,
      "database.dbname": postgres.database,
      "plugin.name": "pgoutput",
    };
    writeFileSync(file, JSON.stringify({ name: "mine", config }));
    return file;
  }

  function stack(): SharedStack {
    if (found.skip !== false) throw new Error("unreachable: the suite is skipped");
    return found.part;
  }
});

async function listOf(url: string): Promise<readonly string[]> {
  return (await (await fetch(url)).json()) as string[];
}

function addressOf({ user, host, port, database }: SharedStack["postgres"], password: string): string {
  return `postgres://${user}:${password}@${host}:${port}/${database}`;
}
