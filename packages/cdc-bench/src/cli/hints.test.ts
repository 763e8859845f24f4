import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hints-"));
});

afterAll(() => rm(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function cdcBench(...args: readonly string[]): Promise<Ended> {
  return cdcBenchUntil(new AbortController().signal, ...args);
}

async function cdcBenchUntil(interrupt: AbortSignal, ...args: readonly string[]): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: { readonly out: Buffer[]; readonly err: Buffer[] } = { out: [], err: [] };
  stdout.on("data", (chunk: Buffer) => chunks.out.push(chunk));
  stderr.on("data", (chunk: Buffer) => chunks.err.push(chunk));
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: {}, interrupt });
  return { code, stdout: Buffer.concat(chunks.out).toString(), stderr: Buffer.concat(chunks.err).toString() };
}

const fileOf = (topic: string): readonly string[] => {
  const { file, schemasFile } = bundledRecording(`postgres-debezium-3.5/${topic}`);
  return ["--file", file, "--schemas", schemasFile];
};

async function rowOf(topic: string, ...more: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout } = await cdcBench("inspect", ...fileOf(topic), "--json", ...more);
  const [first = ""] = stdout.split("\n");
  return (JSON.parse(first) as { after: Record<string, unknown> }).after;
}

/** What a hint cannot say of JSON: items of arrays, and that a number was a float32. */
const beyondHints = ["c_ts_arr", "c_num_arr", "c_real"];

describe("hints from a source that has the types", () => {
  test.each(["tav.inv.alltypes", "tjs.inv.alltypes"])("make plain JSON's rows equal to those of %s", async (typed) => {
    const file = join(folder, `${typed}.json`);
    expect(await cdcBench("hints", ...fileOf(typed), "--for", "tjn.inv.alltypes", "-o", file)).toEqual({ code: 0, stdout: "", stderr: "" });
    const truth = await rowOf(typed);
    const [without, hinted] = [await rowOf("tjn.inv.alltypes"), await rowOf("tjn.inv.alltypes", "--hints", file)];
    for (const name of beyondHints) {
      delete truth[name];
      delete without[name];
      delete hinted[name];
    }
    expect(hinted).toEqual(truth);
    expect(without).not.toEqual(truth);
  });

  test("are the option topics of createDecoder, one entry for each topic that lacks the types", async () => {
    const { stdout } = await cdcBench("hints", ...fileOf("tav.inv.composite_pk"), "--for", "a,b");
    const topics = JSON.parse(stdout) as Record<string, { columns: Record<string, unknown> }>;
    expect(Object.keys(topics)).toEqual(["a", "b"]);
    expect(topics["a"]?.columns["v"]).toMatchObject({
      name: "org.apache.kafka.connect.data.Decimal",
      parameters: { scale: expect.any(String) },
    });
  });

  test("are said to be those of the last schema, if a column's type has changed", async () => {
    const record = (n: object): string => {
      const row = { type: "struct", optional: true, field: "after", fields: [{ field: "n", optional: true, ...n }] };
      const source = {
        type: "struct",
        field: "source",
        fields: [
          { field: "table", type: "string" },
          { field: "connector", type: "string" },
        ],
      };
      const schema = { type: "struct", name: "a.orders.Envelope", fields: [row, source, { field: "op", type: "string" }] };
      const value = { schema, payload: { after: { n: null }, source: { table: "orders", connector: "postgresql" }, op: "c" } };
      return JSON.stringify({
        topic: "a.orders",
        partition: 0,
        offset: "0",
        timestamp: "0",
        headers: [],
        key: null,
        value: Buffer.from(JSON.stringify(value)).toString("base64"),
      });
    };
    const file = join(folder, "changed.ndjson");
    await writeFile(
      file,
      [record({ type: "int32", name: "io.debezium.time.Date" }), record({ type: "int64", name: "io.debezium.time.MicroTimestamp" })].join(
        "\n",
      ),
    );
    const { stdout, stderr } = await cdcBench("hints", "--file", file, "--for", "b.orders");
    expect(JSON.parse(stdout)).toEqual({ "b.orders": { columns: { n: "io.debezium.time.MicroTimestamp" } } });
    expect(stderr).toMatch(/^the types of n have changed within these records, and the hints are those of the last schema: /);
  });

  test("are told of as those of the first records, if more follow that may have more columns", async () => {
    const source = [...fileOf("tav.inv.composite_pk"), "--for", "a"];
    const records = (await cdcBench("inspect", ...fileOf("tav.inv.composite_pk"), "--json")).stdout.trim().split("\n").length;
    const note = "-n ended the look at 1 of the records: those that follow may have more columns.\n";
    expect((await cdcBench("hints", ...source, "-n", "1")).stderr).toBe(note);
    expect((await cdcBench("hints", ...source, "-n", `${records}`)).stderr).toBe("");
  });

  test("come from no topic that carries no types either, and from nothing that was not named", async () => {
    expect(await cdcBench("hints", ...fileOf("tjn.inv.alltypes"))).toMatchObject({
      code: exitCodes.tooFewMessages,
      stderr: expect.stringContaining("carries a schema of its rows"),
    });
    expect(await cdcBench("hints")).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining("--from postgres://") });
    expect(await cdcBench("hints", "--from", "postgres://127.0.0.1:1/x")).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining("--table SCHEMA.NAME"),
    });
    const away = await cdcBench("hints", "--from", "postgres://u:canary@127.0.0.1:1/x", "--table", "a.b");
    expect(away).toMatchObject({ code: exitCodes.connection, stderr: expect.stringContaining("127.0.0.1:1 does not answer") });
    expect(away.stderr).not.toContain("canary");
    const other = await cdcBench("hints", "--from", "mariadb://u:canary@127.0.0.1:1/x", "--table", "a.b");
    expect(other).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining("PostgreSQL") });
    expect(other.stderr).not.toContain("canary");
  });
});

describe.each(["tjs", "tav"])("hints of one topic with several tables in turns (%s)", (format) => {
  const [small, large] = [`${format}.inv.composite_pk`, `${format}.inv.alltypes`];
  let several: readonly string[];

  beforeAll(async () => {
    const recordings = [small, large, small].map((topic) => readFile(bundledRecording(`postgres-debezium-3.5/${topic}`).file, "utf8"));
    const lines = (await Promise.all(recordings)).flatMap((text) => text.trimEnd().split("\n"));
    const records = lines.map((line, offset) => ({ ...(JSON.parse(line) as object), topic: "all", offset: String(offset) }));
    const file = join(folder, `${format}.ndjson`);
    await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    several = ["--file", file, "--schemas", bundledRecording(`postgres-debezium-3.5/${small}`).schemasFile];
  });

  test.each([
    ["inv.alltypes", large],
    ["alltypes", large],
    ["inv.composite_pk", small],
  ])("are those of the table that --table names: %s", async (name, topic) => {
    const alone = await cdcBench("hints", ...fileOf(topic), "--for", "t");
    expect(alone).toMatchObject({ code: exitCodes.ok, stdout: expect.stringContaining("columns") });
    expect(await cdcBench("hints", ...several, "--for", "t", "--table", name)).toEqual(alone);
  });

  test("are refused with the names of the tables, if --table names none of them", async () => {
    const listed = "There are inv.alltypes, inv.composite_pk.";
    expect(await cdcBench("hints", ...several, "--for", "t")).toEqual({
      code: exitCodes.usage,
      stdout: "",
      stderr: expect.stringContaining(listed),
    });
    expect(await cdcBench("hints", ...several, "--for", "t", "--table", "inv.other")).toEqual({
      code: exitCodes.usage,
      stdout: "",
      stderr: expect.stringMatching(/there is no table inv\.other .*There are inv\.alltypes, inv\.composite_pk\./),
    });
  });
});

test("hints that are interrupted end with 130, and say nothing of their source", async () => {
  expect(await cdcBenchUntil(AbortSignal.abort(), "hints", ...fileOf("tav.inv.alltypes"), "--for", "t")).toEqual({
    code: exitCodes.interrupted,
    stdout: "",
    stderr: "interrupted: nothing was written.\n",
  });
});

describe("values that carry no types", () => {
  test("move no cursor with the names of their columns, tables and topics", async () => {
    const hostile = "a\u001b]0;owned\u0007";
    const value = (i: number): string =>
      JSON.stringify({
        before: null,
        after: { id: i, [hostile]: "M+I=", made: 1_700_000_000_000_000 + i },
        source: { connector: "postgresql", db: "d", schema: "s", table: hostile },
        op: "c",
        ts_ms: 1,
      });
    const file = join(folder, "hostile.ndjson");
    const record = (i: number): string =>
      JSON.stringify({ topic: hostile, partition: 0, offset: i, key: null, value: Buffer.from(value(i)).toString("base64") });
    await writeFile(file, Array.from({ length: 50 }, (_, i) => `${record(i)}\n`).join(""));
    for (const command of [["inspect"], ["doctor"], ["types"], ["run", "-n", "60"]]) {
      const { stdout, stderr } = await cdcBench(...(command as [string]), "--file", file);
      expect(`${stdout}${stderr}`, command.join(" ")).toContain("a?]0;owned");
      expect(`${stdout}${stderr}`.replaceAll("\n", ""), command.join(" ")).not.toMatch(/\p{Cc}/u);
    }
  });

  test("are told of by inspect and doctor, with what to do, and typed ones are not", async () => {
    const plain = bundledRecording("salesorderdetail/json");
    const inspected = await cdcBench("inspect", "--file", plain.file, "-n", "20");
    expect(inspected.stderr).toMatch(/unitprice \(decimal or bytes in base64\).*modifieddate \(microseconds\).*cdc-bench hints --from/);
    const doctor = await cdcBench("doctor", "--file", plain.file);
    expect(doctor).toMatchObject({ code: exitCodes.ok, stdout: expect.stringMatching(/^WARNING +decode .*unitprice/m) });
    const typed = bundledRecording("salesorderdetail/confluent-avro");
    const avro = await cdcBench("inspect", "--file", typed.file, "--schemas", typed.schemasFile, "-n", "20");
    expect(avro.stderr).not.toContain("carry no types");
    expect((await cdcBench("doctor", "--file", typed.file, "--schemas", typed.schemasFile)).stdout).toMatch(/^ok +decode /m);
  });
});

test("a hints file that names no semantic type is refused with the name that is meant", async () => {
  const file = join(folder, "wrong.json");
  const { stdout } = await cdcBench("hints", ...fileOf("tav.inv.composite_pk"), "--for", "t", "-o", file);
  expect(stdout).toBe("");
  const text = (await readFile(file, "utf8")).replace("org.apache.kafka.connect.data.Decimal", "Decimal");
  await writeFile(file, text);
  const ended = await cdcBench("inspect", ...fileOf("tjn.inv.composite_pk"), "--hints", file);
  expect(ended).toMatchObject({
    code: exitCodes.usage,
    stderr: expect.stringContaining('did you mean "org.apache.kafka.connect.data.Decimal"?'),
  });
});
