import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundledRecording, bundledRecordings } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { schemaComplaint } from "../result/result-schema.ts";

/** The program as users start it; it runs what the build made. */
const binary = fileURLToPath(new URL("../../bin/cdc-bench.js", import.meta.url));
const unreachableBroker = "127.0.0.1:1";
const small = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
const large = bundledRecording("salesorderdetail/json");

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
/** The small recording, its values compressed by their producer. */
let undecodable: { readonly file: string; readonly schemasFile: string };

beforeAll(async () => {
  expect(existsSync(fileURLToPath(new URL("../../dist/main.js", import.meta.url))), "build first: npm run build").toBe(true);
  folder = await mkdtemp(join(tmpdir(), "cdc-bench-"));
  undecodable = { file: join(folder, "compressed.ndjson"), schemasFile: small.schemasFile };
  await writeFile(undecodable.file, compressed(await readFile(small.file, "utf8")));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

function compressed(recording: string): string {
  const lines = recording.trimEnd().split("\n");
  const records = lines.map((line) => JSON.parse(line) as { value: string | null });
  return records
    .map((record) => ({
      ...record,
      value: record.value === null ? null : gzipSync(Buffer.from(record.value, "base64")).toString("base64"),
    }))
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}

/** Runs the program to its end. `watch` sees the process while it runs. */
function cdcBench(args: readonly string[], watch: (child: ChildProcess, seen: Ended) => void = () => {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] } });
    const seen = { code: null as number | null, stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      seen.stdout += chunk.toString();
      watch(child, seen);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      seen.stderr += chunk.toString();
      watch(child, seen);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...seen, code }));
  });
}

/** One Ctrl-C, or another signal, as soon as the output says that it is time. */
function interruptWhen(isTime: (seen: Ended) => boolean, signal: NodeJS.Signals = "SIGINT"): (child: ChildProcess, seen: Ended) => void {
  let isSent = false;
  return (child, seen) => {
    if (!isSent && isTime(seen)) {
      isSent = true;
      child.kill(signal);
    }
  };
}

function expectNoStackTrace({ stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(/^\s+at .+:\d+:\d+\)?$/m);
  expect(stdout + stderr).not.toContain("UnhandledPromiseRejection");
}

describe("a wrong command line is answered with a sentence and exit code 2", () => {
  test.each([
    ["an unknown command", ["frob"], "unknown command 'frob'"],
    ["an old name of a flag, with the new one", ["run", "--messages", "5"], "It is called --limit (-n) now."],
    ["an unknown flag, with the one that is meant", ["inspect", "--broker", "a:1"], "Did you mean --brokers?"],
    ["a flag without its value", ["inspect", "--file"], "argument missing"],
    ["a word too many", ["demo", "now"], "too many arguments"],
    ["no source", ["inspect"], "nothing to read from"],
    ["two sources", ["run", "--file", "f", "--topics", "t"], "give one of them"],
    ["a count that is none", ["run", "-b", "a:1", "-t", "t", "-n", "many"], "whole number from 1"],
    ["a duration without a unit", ["run", "-b", "a:1", "-t", "t", "-d", "30"], "duration with its unit"],
    ["a broker without a port", ["run", "-b", "localhost", "-t", "t"], "host:port"],
    ["a threshold on no figure", ["demo", "--threshold", "decode.p98<1us"], "There is no figure decode.p98"],
    ["a baseline that is none", ["demo", "--baseline", binary], "it is not JSON"],
    ["a recording that is tailed", ["run", "--file", small.file, "--tail"], "--tail waits for new records"],
    ["a missing recording", ["inspect", "--file", "/nowhere/r.ndjson"], "/nowhere/r.ndjson: there is no such file"],
    ["missing schemas", ["inspect", "--file", small.file, "--schemas", "/nowhere/s.ndjson"], "there is no such file"],
    ["schemas that are none", ["inspect", "--file", small.file, "--schemas", binary], "line 1"],
    [
      "a result file in no folder",
      ["inspect", "--file", small.file, "-o", "/nowhere/out.txt"],
      "cannot write the results to /nowhere/out.txt",
    ],
  ])("%s", async (_case, args, said) => {
    const ended = await cdcBench(args);
    expect(ended).toMatchObject({ code: exitCodes.usage, stdout: "", stderr: expect.stringContaining(said) });
    expectNoStackTrace(ended);
  });

  test("no command at all shows what there is", async () => {
    const ended = await cdcBench([]);
    expect(ended).toMatchObject({ code: exitCodes.usage, stdout: expect.stringContaining("inspect") });
  });
});

test("help is a result: it goes to stdout and ends well", async () => {
  for (const command of [[], ["demo"], ["run"], ["inspect"], ["doctor"]]) {
    expect(await cdcBench([...command, "--help"])).toMatchObject({
      code: exitCodes.ok,
      stdout: expect.stringContaining("Usage:"),
      stderr: "",
    });
  }
});

test("--version is the version of the package", async () => {
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  expect(await cdcBench(["--version"])).toMatchObject({ code: exitCodes.ok, stdout: `${version}\n`, stderr: "" });
});

test.each(["run", "inspect", "types", "redrive"])("%s takes a number of records by one name, -n or --limit", async (command) => {
  const { stdout } = await cdcBench([command, "--help"]);
  expect(stdout).toMatch(/^ +-n, --limit <count> /m);
  expect(stdout).not.toContain("--messages");
});

describe("a broker that is not there", () => {
  test.each([["run"], ["inspect"]])("ends %s with its address and exit code 3", async (command) => {
    const ended = await cdcBench([command, "--brokers", unreachableBroker, "--topics", "t"]);
    expect(ended).toMatchObject({ code: exitCodes.connection, stdout: "", stderr: expect.stringContaining(unreachableBroker) });
    expectNoStackTrace(ended);
  });

  test("is one line of what doctor finds, with what to do", async () => {
    const ended = await cdcBench(["doctor", "--brokers", unreachableBroker, "--topics", "t"]);
    expect(ended.code).toBe(exitCodes.connection);
    expect(ended.stdout).toMatch(/^ok +node +Node v/m);
    expect(ended.stdout).toMatch(/^PROBLEM +brokers +cannot reach Kafka at 127\.0\.0\.1:1.*\n +-> check --brokers/m);
    expectNoStackTrace(ended);
  });
});

describe("inspect", () => {
  test("prints one object a line for every event, and nothing else on stdout", async () => {
    const ended = await cdcBench(["inspect", "--file", small.file, "--schemas", small.schemasFile, "--json"]);
    expect(ended.code).toBe(exitCodes.ok);
    const lines = ended.stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(9);
    for (const line of lines) {
      expect(Object.keys(JSON.parse(line) as object)).toEqual(
        "topic partition offset framing encoding envelope schemaId kind op table key before after error".split(" "),
      );
    }
  });

  test("prints a line for a record that cannot be decoded too, goes on, and ends with exit code 5", async () => {
    const ended = await cdcBench(["inspect", "--file", undecodable.file, "--schemas", undecodable.schemasFile, "--json"]);
    expect(ended.code).toBe(exitCodes.decodeErrors);
    const lines = ended.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: unknown; error: { code: string } });
    expect(lines).toHaveLength(9);
    expect(lines[0]).toMatchObject({
      topic: "tav.inv.composite_pk",
      partition: 0,
      offset: 0,
      kind: null,
      error: { code: "unsupported-format" },
    });
  });

  test("says where schemas can come from if messages name some", async () => {
    const ended = await cdcBench(["inspect", "--file", small.file, "--limit", "1"]);
    expect(ended).toMatchObject({ code: exitCodes.decodeErrors, stderr: expect.stringContaining("--schemas FILE") });
  });

  test("stops at the limit, and writes to the file it is told to", async () => {
    const file = join(folder, "out.ndjson");
    const ended = await cdcBench(["inspect", "--file", large.file, "--json", "--limit", "3", "-o", file]);
    expect(ended).toMatchObject({ code: exitCodes.ok, stdout: "" });
    expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(3);
  });

  test("prints what comes before a broken line, and names the line", async () => {
    const file = join(folder, "broken.ndjson");
    const [first] = (await readFile(small.file, "utf8")).split("\n");
    await writeFile(file, `${first}\n{"topic":\n`);
    const ended = await cdcBench(["inspect", "--file", file, "--schemas", small.schemasFile, "--json"]);
    expect(ended).toMatchObject({ code: exitCodes.usage, stderr: expect.stringContaining(`line 2 of ${file}`) });
    expect(ended.stdout.trimEnd().split("\n")).toHaveLength(1);
    expectNoStackTrace(ended);
  });

  test("of an empty recording says so with exit code 4", async () => {
    const file = join(folder, "empty.ndjson");
    await writeFile(file, "");
    expect(await cdcBench(["inspect", "--file", file])).toMatchObject({ code: exitCodes.tooFewMessages, stdout: "" });
  });

  test("explains on request what was tried and why it won or lost", async () => {
    const ended = await cdcBench(["inspect", "--file", small.file, "--schemas", small.schemasFile, "--limit", "1", "--explain"]);
    expect(ended.code).toBe(exitCodes.ok);
    expect(ended.stdout).toMatch(/\* value framing +confluent: /);
    expect(ended.stdout).toMatch(/ {2}value encoding +json: | {2}value framing +none: /);
  });

  test("ends with whole lines and exit code 130 when it is interrupted", async () => {
    const file = join(folder, "long.ndjson");
    const line = '{"topic":"t","partition":0,"offset":1,"key":null,"value":"eyJhIjoxfQ=="}\n';
    await writeFile(file, line.repeat(300_000));
    const ended = await cdcBench(
      ["inspect", "--file", file, "--json"],
      interruptWhen(({ stdout }) => stdout !== ""),
    );
    expect(ended).toMatchObject({ code: exitCodes.interrupted, stderr: expect.stringContaining("interrupted: this is not all of it") });
    expect(ended.stdout.endsWith("}\n")).toBe(true);
    expectNoStackTrace(ended);
  });

  test("ends quietly when nobody reads on", async () => {
    const ended = await cdcBench(["inspect", "--file", large.file, "--json"], (child, { stdout }) => {
      if (stdout !== "") {
        child.stdout?.destroy();
      }
    });
    expect(ended).toMatchObject({ code: exitCodes.ok, stderr: "" });
  });
});

/** Runs the program with one of its streams on a disk that has no room. */
async function onFullDisk(fd: 1 | 2, args: readonly string[]): Promise<Ended> {
  const full = await open("/dev/full", "w");
  const stdio = [0, 1, 2].map((at) => (at === fd ? full.fd : at === 0 ? "ignore" : "pipe"));
  const child = spawn(process.execPath, [binary, ...args], { env: { PATH: process.env["PATH"] }, stdio });
  const seen = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => (seen.stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (seen.stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  await full.close();
  return { ...seen, code };
}

describe.skipIf(!existsSync("/dev/full"))("on a disk without room", () => {
  test.each(["inspect", "run"])("%s ends with exit code 2 if its results do not arrive, and says so", async (command) => {
    const ended = await onFullDisk(1, [command, "--file", small.file, "--schemas", small.schemasFile, "--json"]);
    expect(ended.code).toBe(exitCodes.usage);
    expect(ended.stderr).toMatch(/^cdc-bench: cannot write the results to stdout \(ENOSPC\): send them to a place that has room\.$/m);
  });

  test("run measures although its progress is written nowhere", async () => {
    const ended = await onFullDisk(2, ["run", "--file", small.file, "--schemas", small.schemasFile, "--json"]);
    expect(ended.code).toBe(exitCodes.ok);
    expect(JSON.parse(ended.stdout)).toMatchObject({ command: "run", aborted: false });
  });
});

describe("run", () => {
  test("measures a recording, and its JSON names what it was measured on", async () => {
    const ended = await cdcBench(["run", "--file", small.file, "--schemas", small.schemasFile, "--json"]);
    expect(ended.code).toBe(exitCodes.ok);
    const report = JSON.parse(ended.stdout) as { runs: { formats: { format: unknown; records: number }[] }[] };
    expect(report).toMatchObject({
      schemaVersion: 1,
      command: "run",
      aborted: false,
      environment: { node: process.version, versions: { kafkajs: expect.any(String) } },
      runs: [{ topics: ["tav.inv.composite_pk"], outcome: "end-reached", records: 9, events: 9, errorRecords: 0, latency: null }],
    });
    expect(report.runs[0]?.formats.map(({ format, records }) => [format, records])).toEqual([
      [{ framing: "confluent", encoding: "avro", envelope: "debezium" }, 7],
      ["tombstone", 2],
    ]);
  });

  test("counts records that cannot be decoded, goes on, and ends with exit code 5", async () => {
    const ended = await cdcBench(["run", "--file", undecodable.file, "--schemas", undecodable.schemasFile]);
    expect(ended.code).toBe(exitCodes.decodeErrors);
    expect(ended.stdout).toContain("unsupported-format");
    expectNoStackTrace(ended);
  });

  test("ends with exit code 99 when a threshold is missed, and 98 when it got worse than its baseline", async () => {
    const baseline = join(folder, "baseline.json");
    const run = (...more: readonly string[]): Promise<Ended> => cdcBench(["run", "--file", large.file, ...more]);
    expect(await run("--json", "-o", baseline, "--threshold", "size.avg<1kB")).toMatchObject({ code: exitCodes.ok, stdout: "" });
    const missed = await run("--threshold", "size.avg<1B");
    expect(missed).toMatchObject({ code: exitCodes.threshold, stdout: expect.stringMatching(/^ +MISSED +size\.avg<1B/m) });
    const result = JSON.parse(await readFile(baseline, "utf8")) as { metrics: { name: string; value: number }[] };
    const better = result.metrics.map((metric) => (metric.name === "size.avg" ? { ...metric, value: 100 } : metric));
    await writeFile(baseline, JSON.stringify({ ...result, metrics: better }));
    const worse = await run("--baseline", baseline);
    expect(worse).toMatchObject({ code: exitCodes.regression, stdout: expect.stringMatching(/^ +WORSE +size\.avg of .*100 B -> 757 B/m) });
  });

  test("says why it ended: at the end, or after as many records as were asked for", async () => {
    const limited = await cdcBench(["run", "--file", large.file, "-n", "100"]);
    expect(limited).toMatchObject({ code: exitCodes.ok, stdout: expect.stringContaining("--limit 100 was reached") });
    const whole = await cdcBench(["run", "--file", large.file, "--limit", "2k"]);
    expect(whole).toMatchObject({ code: exitCodes.ok, stdout: expect.stringContaining("the topic's end was reached") });
  });

  test("ends with exit code 4 when there are fewer records than were asked for", async () => {
    const ended = await cdcBench(["run", "--file", large.file, "-n", "3k"]);
    expect(ended).toMatchObject({ code: exitCodes.tooFewMessages, stderr: expect.stringContaining("2,000 records of the 3,000") });
    expect(ended.stdout).toContain("jn.sales.salesorderdetailbig");
  });
});

describe("types", () => {
  test("says so if the values carry no types, and not if they do", async () => {
    const untyped = await cdcBench(["types", "--file", large.file, "-n", "50"]);
    expect(untyped).toMatchObject({
      code: exitCodes.ok,
      stderr: expect.stringContaining("sales.salesorderdetailbig: the values carry no types"),
    });
    const typed = await cdcBench(["types", "--file", small.file, "--schemas", small.schemasFile]);
    expect(typed).toMatchObject({ code: exitCodes.ok, stderr: expect.not.stringContaining("carry no types") });
  });
});

describe("demo", () => {
  test("shows every recorded topic and every format, beside the peers", async () => {
    const ended = await cdcBench(["demo", "--json"]);
    expect(ended.code, ended.stderr).toBe(exitCodes.ok);
    const report = JSON.parse(ended.stdout) as {
      detected: { topic: string; error: { code: string } | null }[];
      compared: { title: string }[];
    };
    expect(schemaComplaint(report)).toBeNull();
    expect(report.detected).toHaveLength(bundledRecordings().length - 3); // the three large ones are compared
    expect(report.detected.filter(({ error }) => error !== null)).toEqual([]);
    expect(report.compared.map(({ title }) => title)).toEqual(["JSON with schema", "JSON", "Confluent Avro"]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("prints what it has at %s, and says that it is not all", async (signal) => {
    const ended = await cdcBench(
      ["demo"],
      interruptWhen(({ stderr }) => stderr.includes("detecting formats"), signal),
    );
    expect(ended).toMatchObject({ code: exitCodes.interrupted, stdout: expect.stringMatching(/^ABORTED/) });
    expectNoStackTrace(ended);
  });
});
