import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { TopicHints } from "@cdckit/decode";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

/** How the same events of one topic, carried in three ways, may differ by nature. The recordings' README names the reasons. */
interface Comparison {
  readonly table: string;
  readonly records: number;
  /** Column names that Avro cannot hold, and what the converter makes of them. */
  readonly avroNames?: ReadonlyMap<string, string>;
  /** Columns whose type plain JSON does not carry. */
  readonly untyped?: readonly string[];
  /** What plain JSON does not carry and a user can state. */
  readonly hints?: TopicHints;
}

const untypedOfAllTypes = [
  ...["c_bit8", "c_varbit", "c_bytea", "c_point"],
  ...["c_date", "c_time", "c_ts", "c_ts3", "c_ts_arr"],
  ...["c_money", "c_num", "c_num0", "c_num_arr", "c_numvar"],
  // A float32 prints short in JSON; only its type says that it is one.
  "c_real",
];

// A Map, because one of the columns is called `constructor`.
const adjustedNames = new Map([
  ["the key", "the_key"],
  ["a-b", "a_b"],
  ["with.dot", "with_dot"],
]);

const comparisons: readonly Comparison[] = [
  { table: "inv.composite_pk", records: 9, untyped: ["v"] },
  { table: "inv.nopk", records: 9 },
  { table: "inv.toast", records: 2 },
  { table: "inv.evolve", records: 3, untyped: ["c"] },
  { table: "inv.outbox", records: 1 },
  { table: "inv.alltypes", records: 1, untyped: untypedOfAllTypes },
  { table: "inv.Odd_N_me_", records: 1, avroNames: adjustedNames },
  { table: "transaction", records: 24 },
  { table: "message", records: 1, hints: { binaryHandling: "bytes" } },
];

/** Every connector writes its own Java identity hash into the name of what a logical message belongs to. */
const identityHash = /@[0-9a-f]{6,8}$/;
/** The members of a line that say when and where it was sent, and how it was written. */
const transport = new Set(["topic", "framing", "encoding", "schemaId", "tsMs", "source"]);

type Line = Readonly<Record<string, unknown>>;

const folder = mkdtempSync(join(tmpdir(), "same-rows-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What `cdc-bench inspect --json` prints for a recorded topic. Integers beyond 2^53 are kept as text. */
async function inspected(topic: string, hints: TopicHints = {}): Promise<readonly Line[]> {
  const { file, schemasFile } = bundledRecording(`postgres-debezium-3.5/${topic}`);
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const chunks: Buffer[] = [];
  stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const terminal = { stdout, stderr, liveLine: false, env: {}, interrupt: new AbortController().signal };
  const hintsFile = join(folder, `${topic}.json`);
  writeFileSync(hintsFile, JSON.stringify({ [topic]: hints }));
  const code = await runProgram(["inspect", "--file", file, "--schemas", schemasFile, "--hints", hintsFile, "--json"], terminal);
  expect(code, String(stderr.read())).toBe(exitCodes.ok);
  const lines = Buffer.concat(chunks).toString().trimEnd().split("\n");
  return lines.map((line) => JSON.parse(quoteLargeIntegers(line)) as Line);
}

/** Puts quotes around integers of 16 digits and more that stand outside of strings. */
function quoteLargeIntegers(line: string): string {
  return line.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) => (token.startsWith('"') ? token : `"${token}n"`));
}

/** A line without what belongs to its connector and its format. */
function comparable(line: Line): Line {
  const kept = Object.entries(line).filter(([name]) => !transport.has(name));
  return mapStrings(Object.fromEntries(kept), (text) => text.replace(identityHash, "@hash")) as Line;
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") {
    return map(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => mapStrings(item, map));
  }
  return isObject(value) ? mapColumns(value, (name, column) => [name, mapStrings(column, map)]) : value;
}

/** The line with its key and rows changed, column by column; a column that gives null is left out. */
function withColumns(line: Line, change: (name: string, value: unknown) => readonly [string, unknown] | null): Line {
  return mapColumns(line, (name, value) => [
    name,
    ["key", "before", "after"].includes(name) && isObject(value) ? mapColumns(value, change) : value,
  ]);
}

/** `Object.fromEntries` for names like `__proto__` too. */
function mapColumns(columns: Line, change: (name: string, value: unknown) => readonly [string, unknown] | null): Line {
  const entries = Object.entries(columns).map(([name, value]) => change(name, value));
  return Object.fromEntries(entries.filter((entry) => entry !== null));
}

function isObject(value: unknown): value is Line {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe.each(comparisons)("the events of $table", ({ table, records, avroNames, untyped = [], hints }) => {
  const jsonWithSchema = inspected(`tjs.${table}`);

  test(`are ${records}, all of them decoded`, async () => {
    expect(await jsonWithSchema).toHaveLength(records);
  });

  test("are the same in Avro as in JSON with schema", async () => {
    const renamed = (await jsonWithSchema).map((line) => withColumns(line, (name, value) => [avroNames?.get(name) ?? name, value]));
    expect((await inspected(`tav.${table}`)).map(comparable)).toEqual(renamed.map(comparable));
  });

  test("are the same in plain JSON, as far as that carries the type", async () => {
    const typed = (lines: readonly Line[]): readonly Line[] =>
      lines.map((line) => comparable(withColumns(line, (name, value) => (untyped.includes(name) ? null : [name, value]))));
    expect(typed(await inspected(`tjn.${table}`, hints))).toEqual(typed(await jsonWithSchema));
  });
});

test("an unchanged TOAST column is unavailable in every format", async () => {
  for (const prefix of ["tjs", "tav", "tjn"]) {
    const lines = await inspected(`${prefix}.inv.toast`);
    expect(lines[1]).toMatchObject({ op: "update", after: { id: 1, small: 2, big: { $unavailable: true } } });
  }
});
