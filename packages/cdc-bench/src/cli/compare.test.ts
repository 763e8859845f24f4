import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import type { CompareResult } from "../scenario/compare/compare-result.ts";
import { runProgram } from "./program.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-compare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function compare(args: readonly string[], interrupt: AbortSignal = new AbortController().signal): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: { readonly out: Buffer[]; readonly err: Buffer[] } = { out: [], err: [] };
  stdout.on("data", (chunk: Buffer) => chunks.out.push(chunk));
  stderr.on("data", (chunk: Buffer) => chunks.err.push(chunk));
  const env = { XDG_STATE_HOME: folder };
  const code = await runProgram(["compare", ...args], { stdout, stderr, liveLine: false, env, interrupt });
  return { code, stdout: Buffer.concat(chunks.out).toString(), stderr: Buffer.concat(chunks.err).toString() };
}

const { file, schemasFile } = bundledRecording("salesorderdetail/confluent-avro");
const recorded = ["--file", file, "--schemas", schemasFile, "--rounds", "2", "--repeat", "1"];

test("Ctrl-C before the first figure ends with 130 and a report that says so", async () => {
  const { code, stdout } = await compare(["--file", file, "--schemas", schemasFile], AbortSignal.abort());
  expect(code).toBe(exitCodes.interrupted);
  expect(stdout).toContain("ABORTED");
});

test("topics that no broker was there to make are not left, and nothing of them stays noted", async () => {
  const { code, stderr } = await compare(["--brokers", "127.0.0.1:1", "--rows", "1", "--formats", "json"]);
  expect(code).toBe(exitCodes.connection);
  expect(stderr).toMatch(/^connecting to 127\.0\.0\.1:1\ncdc-bench: cannot reach Kafka at 127\.0\.0\.1:1: .*\n$/);
});

describe("cdc-bench compare without a broker", () => {
  test("decoders and the pipeline, each round, with their ratio in words", async () => {
    const { code, stdout, stderr } = await compare(recorded);
    expect(code, stderr).toBe(exitCodes.ok);
    expect(stdout).toMatch(/ ran \d+\.\d\d ± \d+\.\d\d times faster than /);
    expect(stdout).toContain("cdckit, decode alone");
    expect(stdout).toContain("avsc, decode alone");
    expect(stdout).toContain("2 rounds have wide intervals");
    expect(stdout).toContain("Student's t");
  });

  test("a regression against a baseline ends with 98, and a missed threshold with 99", async () => {
    const { stdout } = await compare([...recorded, "--json"]);
    const result = JSON.parse(stdout) as CompareResult;
    expect(result).toMatchObject({ schemaVersion: 1, command: "compare", aborted: false, rounds: 2 });
    expect(result.readers.every(({ errorRecords, rate }) => errorRecords === 0 && rate.rounds.length === 2)).toBe(true);
    const baseline = join(folder, "baseline.json");
    // What was a tenth of the size, and everything else as it is now.
    const metrics = result.metrics.map((metric) => (metric.name === "size.avg" ? { ...metric, value: metric.value / 10 } : metric));
    writeFileSync(baseline, JSON.stringify({ ...result, metrics: metrics.filter(({ name }) => name === "size.avg") }));
    const regressed = await compare([...recorded, "--baseline", baseline]);
    expect(regressed.code).toBe(exitCodes.regression);
    expect(regressed.stdout).toContain("WORSE");
    const missed = await compare([...recorded, "--threshold", "size.avg<10"]);
    expect(missed.code).toBe(exitCodes.threshold);
  });

  test("an interrupt before the first round gives an empty result, marked", async () => {
    const controller = new AbortController();
    controller.abort();
    const { code, stdout } = await compare([...recorded, "--json"], controller.signal);
    expect(code).toBe(exitCodes.interrupted);
    expect(JSON.parse(stdout)).toMatchObject({ aborted: true, readers: [], rounds: 0 });
  });

  test("what contradicts itself is a usage error with what to do", async () => {
    for (const [args, said] of [
      [["--rows", "10", "--file", file], "leave --topics and --file away"],
      [["--rows", "10"], "give --brokers"],
      [[], "give --brokers"],
      [["--file", file, "--client", "confluent"], "There is no driver for confluent"],
    ] as const) {
      const { code, stderr } = await compare(args);
      expect(code).toBe(exitCodes.usage);
      expect(stderr).toContain(said);
    }
  });
});
