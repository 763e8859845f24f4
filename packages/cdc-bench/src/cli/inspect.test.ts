import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface World {
  readonly env?: Readonly<Record<string, string>>;
  readonly screen?: { readonly columns: number | undefined };
}

const folder = mkdtempSync(join(tmpdir(), "inspect-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function cdcBench(args: readonly string[], { env = {}, screen }: World = {}): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: { readonly out: Buffer[]; readonly err: Buffer[] } = { out: [], err: [] };
  stdout.on("data", (chunk: Buffer) => chunks.out.push(chunk));
  stderr.on("data", (chunk: Buffer) => chunks.err.push(chunk));
  const interrupt = new AbortController().signal;
  const code = await runProgram(["inspect", ...args], { stdout, stderr, liveLine: false, ...(screen && { screen }), env, interrupt });
  return { code, stdout: Buffer.concat(chunks.out).toString(), stderr: Buffer.concat(chunks.err).toString() };
}

const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
const recorded = ["--file", file, "--schemas", schemasFile];

/** Operations or kinds, of the lines of `--json`. */
async function found(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await cdcBench([...recorded, "--json", ...args]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as { kind: string; op: string | null }).map(({ kind, op }) => op ?? kind);
}

describe("filters", () => {
  test.each([
    [
      ["--op", "delete"],
      ["delete", "delete"],
    ],
    [["--op", "d", "-n", "1"], ["delete"]],
    [
      ["--kind", "tombstone"],
      ["tombstone", "tombstone"],
    ],
    [["--key", '{"a":2,"b":"y"}', "--table", "inv.composite_pk", "--kind", "tombstone"], ["tombstone"]],
    [
      ["--header", "__debezium.newkey", "--partition", "0"],
      ["delete", "tombstone"],
    ],
    [
      ["--header", '__debezium.newkey={"a":10,"b":"x"}'],
      ["delete", "tombstone"],
    ],
    [
      ["--where", "a=2", "--where", "b=y", "--op", "delete,read"],
      ["read", "delete"],
    ],
  ])("%j find %j", async (args, kinds) => {
    expect(await found(...args)).toEqual(kinds);
  });

  test("that let nothing through end with exit code 4 and say so", async () => {
    const ended = await cdcBench([...recorded, "--partition", "7"]);
    expect(ended).toMatchObject({ code: exitCodes.tooFewMessages, stdout: "" });
    expect(ended.stderr).toContain("the filters let none of 9 records through");
  });

  test("count records that cannot be decoded, because nobody knows whether they are meant", async () => {
    const ended = await cdcBench(["--file", file, "--op", "delete"]);
    expect(ended).toMatchObject({ code: exitCodes.decodeErrors, stdout: "" });
    expect(ended.stderr).toContain("could not be decoded");
  });
});

test.each([
  [["--from", "soon"], "It must be earliest, latest, -20"],
  [["--from", "-5"], "--file and --from do not go together"],
  [["--from", "2h", "--from-beginning"], "two starts"],
  [["--follow"], "--file and --follow do not go together"],
  [["--table", "orders,inv.*"], "inv.* has a wildcard: name each table, or leave the option out for all of them."],
  [["--op", "upsert"], "It must be one of create, update, delete or read"],
  [["--kind", "rows"], "It must be one of change, row"],
  [["--op", "create", "--kind", "tombstone"], "--kind tombstone leaves them out"],
  [["--where", "a"], "COLUMN=VALUE"],
  [["--header", "="], "NAME=VALUE"],
  [["--partition", "x"], "the number of a partition"],
])("%j is a usage error with a sentence", async (args, said) => {
  const ended = await cdcBench([...recorded, ...args]);
  expect(ended).toMatchObject({ code: exitCodes.usage, stdout: "" });
  expect(ended.stderr).toContain(said);
});

test("--from latest without --follow is refused: there is nothing to read", async () => {
  const ended = await cdcBench(["--brokers", "127.0.0.1:1", "--topics", "t", "--from", "latest"]);
  expect(ended).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining("give --follow, too") });
});

describe("masking", () => {
  test("hides columns in text, in JSON and in headers", async () => {
    for (const form of [[], ["--json"]]) {
      const { stdout } = await cdcBench([...recorded, ...form, "--headers", "--mask", "a", "--op", "delete"]);
      expect(stdout).toMatch(/newkey.*\{\\?"a\\?":\\?"\*\*\*\\?",\\?"b\\?":\\?"x/);
      expect(stdout).not.toMatch(/"a\\?":\d/);
    }
  });

  test("hides all values", async () => {
    const { stdout } = await cdcBench([...recorded, "--json", "--headers", "--mask-values", "-n", "1"]);
    expect(JSON.parse(stdout)).toMatchObject({ op: "read", key: { a: "***", b: "***" }, after: { v: "***" }, before: null, error: null });
    expect(stdout).not.toContain("postgresql");
  });
});

describe("text", () => {
  test("fits into the columns of the terminal, is whole in a pipe, and has colors on a terminal alone", async () => {
    const widest = ({ stdout }: Ended): number => Math.max(...stdout.split("\n").map((line) => line.length));
    const wide = bundledRecording("postgres-debezium-3.5/tav.inv.alltypes");
    const args = ["--file", wide.file, "--schemas", wide.schemasFile, "--headers"];
    const piped = await cdcBench(args);
    expect(widest(piped)).toBeGreaterThan(80);
    expect(piped.stdout).not.toContain("\u001b");
    expect(widest(await cdcBench(args, { screen: { columns: 132 }, env: { NO_COLOR: "1" } }))).toBe(132);
    expect((await cdcBench(args, { screen: { columns: 132 } })).stdout).toContain("\u001b[36m");
    expect((await cdcBench([...args, "--json"], { screen: { columns: 80 } })).stdout).not.toContain("\u001b");
    expect(widest(await cdcBench([...args, "--json"]))).toBeGreaterThan(1_000);
  });

  test("has no colors in a file, whatever the terminal is", async () => {
    const output = join(folder, "out.txt");
    await cdcBench([...recorded, "-o", output], { screen: { columns: 80 }, env: { FORCE_COLOR: "1" } });
    expect(readFileSync(output, "utf8")).not.toContain("\u001b");
  });

  test("of no record is an empty file, whatever the file held", async () => {
    const output = join(folder, "none.txt");
    writeFileSync(output, "of an earlier run\n");
    await cdcBench([...recorded, "--key", "of nobody", "-o", output]);
    expect(readFileSync(output, "utf8")).toBe("");
  });
});

describe("a dead letter", () => {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const headers = Object.entries({
    "__connect.errors.topic": "inventory.orders",
    "__connect.errors.partition": "2",
    "__connect.errors.offset": "41",
    "__connect.errors.connector.name": "sink",
    "__connect.errors.stage": "VALUE_CONVERTER",
    "__connect.errors.exception.class.name": "org.example.DataException",
    "__connect.errors.exception.message": "4111 is too long",
    "__connect.errors.exception.stacktrace": "at 4111",
  }).map(([name, text]) => [name, base64(text)]);
  const letters = join(folder, "letters.ndjson");
  const record = { topic: "dead", partition: 0, offset: 5, timestamp: 0, headers, key: null, value: base64('{"id":1}') };
  writeFileSync(letters, `${JSON.stringify(record)}\n`);

  test("is shown with where it comes from and why it failed", async () => {
    const { code, stdout } = await cdcBench(["--file", letters]);
    expect(code).toBe(exitCodes.ok);
    expect(stdout).toContain("dead letter of inventory.orders[2]@41 (");
    expect(stdout).toMatch(/stage\s+VALUE_CONVERTER/);
    expect(stdout).toContain("failed with org.example.DataException: 4111 is too long");
  });

  test("does not quote its row if anything is masked", async () => {
    for (const mask of [["--mask", "card"], ["--mask-values"]]) {
      for (const form of [[], ["--json"]]) {
        const { stdout } = await cdcBench(["--file", letters, "--headers", ...mask, ...form]);
        expect(stdout).toContain("org.example.DataException");
        expect(stdout).not.toContain("4111");
      }
    }
  });

  test("is in the JSON with its headers and its timestamp, if headers are asked for", async () => {
    const line = JSON.parse((await cdcBench(["--file", letters, "--headers", "--json"])).stdout) as object;
    expect(line).toMatchObject({
      timestamp: 0,
      headers: expect.arrayContaining([["__connect.errors.partition", "2"]]) as unknown,
      deadLetter: { writer: "connect", topic: "inventory.orders", offset: 41, exception: { message: "4111 is too long" } },
    });
    expect(JSON.parse((await cdcBench(["--file", letters, "--json"])).stdout)).not.toHaveProperty("headers");
  });
});
