import { PassThrough } from "node:stream";
import { KafkaJsDriverError } from "@cdckit/kafkajs";
import { maxBatchBytes, RecordBatchError } from "@cdckit/record-batch";
import { expect, test } from "vitest";
import { checkSample } from "../doctor/checks.ts";
import { exitCodes } from "../exit-codes.ts";
import { createClusterDriver, fetchLimitsOf } from "../load/connection.ts";
import { driverTuningOf } from "../scenario/catch-up/tuning.ts";
import { resolveTuning } from "./catch-up-options.ts";
import { runProgram } from "./program.ts";
import { resolveCluster } from "./resolve-source.ts";

const brokers = ["127.0.0.1:1"];
/** Of the driver, which refuses more. */
const maxFetchBytes = 524_288_000;

async function stderrOf(...args: readonly string[]): Promise<string> {
  const stderr = new PassThrough();
  const terminal = { stdout: new PassThrough(), stderr, liveLine: false, env: {}, interrupt: new AbortController().signal };
  expect(await runProgram(args, terminal)).not.toBe(exitCodes.ok);
  return String(stderr.read());
}

test("--max-decompressed-bytes becomes the option of the driver", () => {
  const { connection } = resolveCluster({ brokers, maxDecompressedBytes: maxBatchBytes }, {});
  expect(connection).toEqual({ brokers, maxDecompressedBytes: maxBatchBytes });
  expect(() => createClusterDriver({ brokers, maxDecompressedBytes: maxBatchBytes })).not.toThrow();
  // The driver has it: it refuses what is too much.
  expect(() => createClusterDriver({ brokers, maxDecompressedBytes: maxBatchBytes + 1 })).toThrow("maxDecompressedBytes");
});

test("--max-decompressed-bytes of sweep is in each tuning, and so in the drivers that it measures", () => {
  expect(driverTuningOf(resolveTuning({ maxDecompressedBytes: 1_000 }))).toMatchObject({ maxDecompressedBytes: 1_000 });
  expect(driverTuningOf(resolveTuning({}))).not.toHaveProperty("maxDecompressedBytes");
});

test("--fetch-bytes has the driver's bound", async () => {
  expect(() => createClusterDriver({ brokers, fetchBytes: maxFetchBytes })).not.toThrow();
  expect(() => createClusterDriver({ brokers, fetchBytes: maxFetchBytes + 1 })).toThrow("maxBytesPerPartition");
  const args = ["run", "--brokers", brokers.join(","), "--topics", "t", "--fetch-bytes"];
  expect(await stderrOf(...args, String(maxFetchBytes + 1))).toContain(`It must not exceed ${maxFetchBytes}.`);
  expect(await stderrOf(...args, String(maxFetchBytes))).toContain("127.0.0.1:1");
});

test("the help of compare says what every client fetches without --fetch-bytes", async () => {
  const stdout = new PassThrough();
  const terminal = { stdout, stderr: new PassThrough(), liveLine: false, env: {}, interrupt: new AbortController().signal };
  await runProgram(["compare", "--help"], terminal);
  const help = String(stdout.read()).replaceAll(/\s+/g, " ");
  expect(help).toContain(`one fetch (default: ${fetchLimitsOf({ brokers }).maxBytesPerPartition}, for each client)`);
});

test.each([
  ["--fetch-bytes", maxFetchBytes],
  ["--max-decompressed-bytes", maxBatchBytes],
])("redrive takes %s", async (flag, max) => {
  const args = ["redrive", "--brokers", brokers.join(","), "--topic", "t", flag];
  expect(await stderrOf(...args, String(max + 1))).toContain(`It must not exceed ${max}.`);
  expect(await stderrOf(...args, String(max))).toContain("127.0.0.1:1");
});

test.each([["run"], ["inspect"], ["sweep"], ["compare"]])(
  "%s refuses more than the driver's bound, and takes the bound",
  async (command) => {
    const args = [command, "--brokers", brokers.join(","), "--topics", "t", "--max-decompressed-bytes"];
    expect(await stderrOf(...args, String(maxBatchBytes + 1))).toContain(`It must not exceed ${maxBatchBytes}.`);
    expect(await stderrOf(...args, String(maxBatchBytes))).toContain("127.0.0.1:1");
  },
);

test("doctor names --max-decompressed-bytes if a batch becomes more than it may", async () => {
  const cause = new RecordBatchError("batch-too-large", "its 100 bytes of zstd become more than 50 bytes");
  // oxlint-disable-next-line require-yield -- the first batch cannot be read
  const records = (async function* () {
    throw new KafkaJsDriverError("batch-unreadable", "its 100 bytes of zstd become more than 50 bytes", { cause });
  })();
  const check = await checkSample("t", records, { schemas: undefined, registry: undefined });
  expect(check).toMatchObject({
    status: "problem",
    exitCode: exitCodes.decodeErrors,
    advice: expect.stringContaining("--max-decompressed-bytes"),
  });
});
