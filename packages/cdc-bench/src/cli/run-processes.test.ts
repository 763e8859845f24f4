import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

async function stderrOf(...args: readonly string[]): Promise<string> {
  const stderr = new PassThrough();
  const terminal = { stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt: new AbortController().signal };
  expect(await runProgram(["run", ...args], terminal)).toBe(exitCodes.usage);
  return String(stderr.read());
}

const cluster = ["--brokers", "127.0.0.1:1", "--topics", "t"];

test.each<[string, readonly string[], string]>([
  ["a recording", ["--file", "r.ndjson", "--processes", "2"], "a recording has none: give --brokers and --topics"],
  ["--tail", [...cluster, "--processes", "2", "--tail"], "--processes and --tail do not go together"],
  ["--limit", [...cluster, "--processes", "2", "-n", "10"], "--processes and --limit do not go together"],
  ["--validate", [...cluster, "--processes", "2", "--validate"], "--processes and --validate do not go together"],
  ["--profile", [...cluster, "--processes", "2", "--profile"], "--processes and --profile do not go together"],
  ["none", [...cluster, "--processes", "0"], "--processes"],
  ["too many", [...cluster, "--processes", "65"], "It must be from 1 to 64."],
])("--processes with %s is refused before anything is started", async (_name, args, text) => {
  expect(await stderrOf(...args)).toContain(text);
});
