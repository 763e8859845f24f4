import { PassThrough } from "node:stream";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { CodecResult } from "../codec/codec-result.ts";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function codec(args: readonly string[], interrupt: AbortSignal = new AbortController().signal): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const chunks: { readonly out: Buffer[]; readonly err: Buffer[] } = { out: [], err: [] };
  stdout.on("data", (chunk: Buffer) => chunks.out.push(chunk));
  stderr.on("data", (chunk: Buffer) => chunks.err.push(chunk));
  const code = await runProgram(["codec", ...args], { stdout, stderr, liveLine: false, env: {}, interrupt });
  return { code, stdout: Buffer.concat(chunks.out).toString(), stderr: Buffer.concat(chunks.err).toString() };
}

const short = ["--quick", "--rows", "20", "--rounds", "1"];

describe("cdc-bench codec", () => {
  test("prints a table for each suite and mode, with the sum over a link", async () => {
    const { code, stdout } = await codec(["--suite", "soa,ratings", ...short, "--link", "100mbit"]);
    expect(code).toBe(exitCodes.ok);
    for (const heading of [
      "soa: address book",
      "ratings: rating payload",
      "the whole list at once",
      "object by object",
      "Over a link of 100 Mbit/s",
      "As published: SOA protocols (Python 2.7), whole list of 100,000; bytes",
      "As published: SOA protocols (Python 2.7), 100,000 objects one by one; write + read",
      "Published with 100,000 rows, here with 20: only the multiples can be compared.",
    ]) {
      expect(stdout).toContain(heading);
    }
    expect(stdout).toMatch(/^avro, headless \(avsc\) .*x /m);
    expect(stdout).toMatch(/^smallest +\S/m);
    expect(stdout).toMatch(/^proto +9,183,403 +0\.56x +[\d,]+ +0\.\d\dx$/m);
  });

  test("has the published files of 10 MB with the sum over 100 Mbit/s", async () => {
    const { stdout } = await codec(["--suite", "avro-api", "--mode", "list", ...short]);
    expect(stdout).toContain("files of the same 10 MB of JSON; 100 Mbit/s sum");
    for (const file of ["json", "avro", "avro, headless", "snappy.avro", "json.gz", "gzip avro", "deflate avro"]) {
      expect(stdout).toMatch(new RegExp(`^${file.replace(".", "\\.")} .*\\d\\.\\d\\dx$`, "m"));
    }
  });

  test("measures the rows of a recording, and says what it left out", async () => {
    const { file } = bundledRecording("salesorderdetail/json");
    const { code, stdout } = await codec(["--file", file, "--mode", "objects", "--rows", "30", "--rounds", "1", "--json"]);
    expect(code).toBe(exitCodes.ok);
    const result = JSON.parse(stdout) as CodecResult;
    expect(result).toMatchObject({ command: "codec", schemaVersion: 1, aborted: false, seed: 1, rounds: 1, linkBitsPerSecond: null });
    expect(result.suites).toMatchObject([{ suite: "sales.salesorderdetailbig", mode: "objects", rows: 30 }]);
    const rows = (await loadRecording(file)).slice(0, 30).map(({ value }) => JSON.parse(String(value)) as { after: unknown });
    const jsonBytes = rows.reduce((sum, { after }) => sum + Buffer.byteLength(JSON.stringify(after)), 0);
    expect(result.suites[0]?.codecs[0]).toMatchObject({ codec: "json", sizeBytes: jsonBytes });
  });

  test("takes rows with bytes, large integers and nulls from a recording in Avro", async () => {
    const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
    const { code, stdout, stderr } = await codec(["--file", file, "--schemas", schemasFile, ...short]);
    expect(code, stderr).toBe(exitCodes.ok);
    expect(stdout).toContain("rows of ");
    const without = await codec(["--file", file, ...short]);
    expect(without.code).toBe(exitCodes.tooFewMessages);
    expect(without.stderr).toContain("give --registry URL");
  });

  test("gives the same bytes for the same seed", async () => {
    const sizes = async (seed: string): Promise<unknown> => {
      const { stdout } = await codec(["--suite", "avro-api", "--mode", "objects", ...short, "--json", "--seed", seed]);
      const { suites } = JSON.parse(stdout) as {
        readonly suites: readonly [{ readonly codecs: readonly { readonly codec: string; readonly sizeBytes: number }[] }];
      };
      return suites[0].codecs.map(({ codec: name, sizeBytes }) => [name, sizeBytes]);
    };
    expect(await sizes("3")).toEqual(await sizes("3"));
    expect(await sizes("3")).not.toEqual(await sizes("4"));
  });

  test("ends with 99 if a threshold is missed", async () => {
    const { code, stdout } = await codec(["--suite", "ratings", ...short, "--threshold", "codec.read<1ns"]);
    expect(code).toBe(exitCodes.threshold);
    expect(stdout).toContain("MISSED  codec.read<1ns");
  });

  test("says that it was interrupted", async () => {
    const { code, stdout } = await codec(["--suite", "ratings", ...short], AbortSignal.abort());
    expect(code).toBe(exitCodes.interrupted);
    expect(stdout).toMatch(/^ABORTED/);
  });

  test.each([
    [["--suite", "unknown"], "there is no suite unknown"],
    [["--suite", "constructor"], "there is no suite constructor"],
    [["--suite", "soa", "--data", "x.json"], "exclude each other"],
    [["--suite", "soa", "--file", "x.ndjson"], "exclude each other"],
    [["--data", "nowhere.json"], "there is no such file"],
    [["--link", "fast"], "such as 100mbit or 1gbit"],
    [["--mode", "all"], "Allowed choices are list, objects, both"],
  ])("%j is refused with a sentence", async (args, said) => {
    const { code, stderr } = await codec(args);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(said);
  });
});
