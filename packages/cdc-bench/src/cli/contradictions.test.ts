import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

const recording = ["--file", "/nowhere.ndjson"];
/** Nobody listens there, and nobody is asked. */
const brokers = ["--brokers", "127.0.0.1:1"];
const registry = ["--registry", "http://127.0.0.1:1"];

test.each([
  [
    ["hints", ...recording, "--from", "t"],
    ["--file", "--from"],
  ],
  [
    ["hints", ...brokers, "--topics", "t", "--from", "u"],
    ["--topics", "--from"],
  ],
  [
    ["hints", ...registry, "--from", "t-value", "--table", "a.b"],
    ["--table", "--from"],
  ],
  [
    ["compare", ...recording, "--formats", "json"],
    ["--formats", "--rows"],
  ],
  [
    ["compare", ...recording, "--partitions", "1"],
    ["--partitions", "--rows"],
  ],
  [
    ["compare", ...brokers, "--topics", "t", "--seed", "2"],
    ["--seed", "--rows"],
  ],
  [
    ["compare", ...brokers, "--topics", "t", "--repeat", "3"],
    ["--repeat", "--file"],
  ],
  [
    ["produce", ...brokers, "--rows", "1", "--partitions", "3"],
    ["--partitions", "--create-topics"],
  ],
  [
    ["produce", ...brokers, "--rows", "1", "--acks", "0", "--threshold", "latency.p99<5ms"],
    ["--threshold 'latency.p99<5ms'", "--acks 0"],
  ],
  [
    ["compare", ...recording, "--file", "/other.ndjson"],
    ["'--file <recording>' argument '/other.ndjson' is invalid", "There is one already, /nowhere.ndjson"],
  ],
  [
    ["inspect", ...recording, "--schemas", "/a.ndjson", "--schemas", "/b.ndjson"],
    ["--schemas", "There is one already, /a.ndjson"],
  ],
  [
    ["doctor", ...brokers, "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    ["types", ...registry, "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    ["hints", ...registry, "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    ["codec", "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    ["compare", ...brokers, "--rows", "1", "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    ["inspect", ...brokers, "--topics", "t", "--schemas", "/a.ndjson"],
    ["--schemas", "--file"],
  ],
  [
    [
      "drain",
      ...brokers,
      "--via",
      "postgres",
      "--database",
      "postgres://u@127.0.0.1:1/d",
      "--connect",
      "http://127.0.0.1:1",
      "--compression",
      "gzip",
    ],
    ["--compression", "--via postgres"],
  ],
  [
    ["sweep", ...brokers, "--topics", "t", "-n", "1000"],
    ["--events", "--topics"],
  ],
  [
    ["sweep", ...brokers, "--topics", "t", "--compression", "gzip"],
    ["--compression", "--topics"],
  ],
  [
    ["roundtrip", "--via", "redis", "--redis", "redis://127.0.0.1:1", "--ssl"],
    ["--ssl/--no-ssl goes with --via kafka", "--via redis"],
  ],
  [
    ["run", ...brokers, "--topics", "t", "--json", "--output-format", "markdown"],
    ["--output-format", "--json"],
  ],
] as const)("%j ends with 2 and a sentence that names both flags", async (args, names) => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: {}, interrupt: new AbortController().signal });
  expect({ code, said }).toEqual({ code: exitCodes.usage, said: expect.stringContaining(names[0]) });
  expect(said).toContain(names[1]);
});
