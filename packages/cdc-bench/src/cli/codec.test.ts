import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
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
    ]) {
      expect(stdout).toContain(heading);
    }
    expect(stdout).toMatch(/^avro, headless \(avsc\) .*x /m);
    expect(stdout).toContain("Smallest: ");
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
    [["--data", "nowhere.json"], "there is no such file"],
    [["--link", "fast"], "such as 100mbit or 1gbit"],
    [["--mode", "all"], "Allowed choices are list, objects, both"],
  ])("%j is refused with a sentence", async (args, said) => {
    const { code, stderr } = await codec(args);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toContain(said);
  });
});
