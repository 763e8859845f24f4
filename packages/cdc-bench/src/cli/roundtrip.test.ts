import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { roundtripNotes } from "./actions/roundtrip.ts";
import { runProgram } from "./program.ts";
import { resolveRedis } from "./redis-options.ts";

async function roundtrip(args: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  stdout.resume();
  const interrupt = new AbortController().signal;
  const code = await runProgram(["roundtrip", ...args], { stdout, stderr, liveLine: false, env: {}, interrupt });
  return { code, stderr: said };
}

const redis = ["--via", "redis", "--redis", "redis://127.0.0.1:1"];

describe("cdc-bench roundtrip", () => {
  test.each([
    [[], "no brokers: give --brokers"],
    [["--via", "redis"], "where is Redis? Give --redis"],
    [["--via", "pigeon"], "Allowed choices are kafka, redis, redis-streams"],
    [["--via", "redis", "--brokers", "h:1"], "--brokers goes with --via kafka"],
    [["--redis", "redis://h"], "--redis goes with --via redis"],
    [["--via", "redis", "--redis", "http://h"], "such as redis://127.0.0.1:6379"],
    [["--via", "redis", "--redis", "redis://h/db"], "such as redis://127.0.0.1:6379"],
    [[...redis, "--threads", "0"], "whole number from 1"],
    [[...redis, "--threads", "1000"], "--threads must not exceed 64"],
    [[...redis, "--in-flight", "1k", "--batch", "1k"], "more than 4096 values at once"],
    [[...redis, "--rounds", "5", "--duration", "5s"], "--rounds and --duration exclude each other"],
    [[...redis, "--compression", "lzma"], "there are none, gzip, brotli"],
    [["--brokers", "h:1", "--compression", "brotli"], "there are none, gzip."],
    [[...redis, "--suite", "constructor"], "there is no suite constructor"],
    [[...redis, "--suite", "soa", "--data", "x.json"], "exclude each other"],
  ])("%j is refused with a sentence", async (args, said) => {
    const { code, stderr } = await roundtrip(args);
    expect(stderr).toContain(said);
    expect(code).toBe(exitCodes.usage);
  });

  test("a Redis that is not there is named, and what to do", async () => {
    const { code, stderr } = await roundtrip(redis);
    expect(stderr).toContain("no Redis answers at 127.0.0.1:1: start one (redis-server)");
    expect(code).toBe(exitCodes.connection);
  });
});

describe("the address of a Redis", () => {
  test("takes its password from the environment, whatever is in it", () => {
    const address = resolveRedis({ redis: "redis://me@h:1/2" }, { REDIS_PASSWORD: "a/b@c:d" });
    expect(decodeURIComponent(new URL(address).password)).toBe("a/b@c:d");
    expect(resolveRedis({}, { REDIS_URL: "rediss://h" })).toBe("rediss://h");
  });
});

test("a percentile over few rounds is said to be one, also if a time or Ctrl-C has ended them", () => {
  expect(roundtripNotes([{ rounds: 5_000 }, { rounds: 20 }], true)).toEqual([
    "With 20 rounds p99 rests on 1 of them: --rounds 10k gives it more.",
  ]);
  expect(roundtripNotes([{ rounds: 5_000 }], false)).toEqual([]);
  expect(roundtripNotes([], true)).toEqual(["Interrupted before the first round ended: there are no figures."]);
});
