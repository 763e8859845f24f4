import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
let folder: string;
let whole: string;
/** The same records, and one more that is cut. */
let damaged: string;
/** That one alone. */
let undecodable: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "types-"));
  [whole, damaged, undecodable] = [file, join(folder, "damaged.ndjson"), join(folder, "undecodable.ndjson")];
  const recorded = await readFile(file, "utf8");
  const first = JSON.parse(recorded.slice(0, recorded.indexOf("\n"))) as { readonly value: string };
  const cut = Buffer.from(first.value, "base64").subarray(0, 10).toString("base64");
  const line = `${JSON.stringify({ ...first, value: cut })}\n`;
  await Promise.all([writeFile(damaged, `${recorded.trimEnd()}\n${line}`), writeFile(undecodable, line)]);
});

afterAll(() => rm(folder, { recursive: true }));

async function types(recording: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stdout.resume();
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const flags = ["types", "--file", recording, "--schemas", schemasFile, ...args];
  const code = await runProgram(flags, { stdout, stderr, liveLine: false, env: {}, interrupt: new AbortController().signal });
  return { code, stderr: said };
}

describe("types of records of which one cannot be decoded", () => {
  test("are written, and end with 5", async () => {
    const [right, doubtful] = [join(folder, "right.ts"), join(folder, "doubtful.ts")];
    expect((await types(whole, "-o", right)).code).toBe(exitCodes.ok);
    const ended = await types(damaged, "-o", doubtful);
    expect(ended).toEqual({ code: exitCodes.decodeErrors, stderr: expect.stringMatching(/^1 of \d+ records could not be decoded/m) });
    expect(await readFile(doubtful, "utf8")).toBe(await readFile(right, "utf8"));
  });

  test("end a check with 5 if the file is as its tables are, and with 98 if it is not", async () => {
    const written = join(folder, "checked.ts");
    await types(whole, "-o", written);
    expect((await types(whole, "-o", written, "--check")).code).toBe(exitCodes.ok);
    expect((await types(damaged, "-o", written, "--check")).code).toBe(exitCodes.decodeErrors);
    await writeFile(written, "// other\n");
    expect((await types(damaged, "-o", written, "--check")).code).toBe(exitCodes.regression);
  });

  test("are none if no other record has a row, and end with 5, too", async () => {
    expect(await types(undecodable)).toEqual({ code: exitCodes.decodeErrors, stderr: expect.stringContaining("nothing was written") });
  });
});
