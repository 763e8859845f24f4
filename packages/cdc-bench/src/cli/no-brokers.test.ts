import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

test.each([
  ["compare", "--rows", "10"],
  ["drain"],
  ["offsets", "--group", "g"],
  ["produce", "--rows", "10"],
  ["redrive", "--topic", "t"],
  ["roundtrip"],
  ["soak"],
  ["sweep"],
])("%s without brokers is refused in the same words", async (...args) => {
  const stderr = new PassThrough();
  const terminal = { stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt: new AbortController().signal };
  expect(await runProgram(args, terminal)).toBe(exitCodes.usage);
  expect(String(stderr.read())).toBe("cdc-bench: no brokers: give --brokers HOST:PORT (env KAFKA_BROKERS).\n");
});
