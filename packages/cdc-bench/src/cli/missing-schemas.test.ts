import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, expect, test } from "vitest";
import { runProgram } from "./program.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-schemas-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");

async function stderrOf(...args: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = "";
  stdout.resume();
  stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await runProgram(args, { stdout, stderr, liveLine: false, env: { XDG_STATE_HOME: folder }, interrupt: new AbortController().signal });
  return said;
}

test.each([["run"], ["inspect"], ["codec", "--quick"]])(
  "%s says where schemas come from, if messages name some and no place was given",
  async (...args) => {
    expect(await stderrOf(...args, "--file", file)).toContain("give --registry URL, or --schemas FILE with --file.\n");
  },
);

test.each([["run"], ["inspect"]])("%s says nothing of schemas that it has", async (command) => {
  expect(await stderrOf(command, "--file", file, "--schemas", schemasFile)).not.toContain("--schemas");
});
