import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-registry-"));
/** A web server that is no registry, as Kafka Connect is none. */
const other = await serve();
/** Nobody listens there any more. */
const nobody = await serve();
nobody.close();

afterAll(() => {
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(): Promise<{ readonly url: string; close(): void }> {
  const server: Server = createServer((_, response) => response.end('{"version":"4.3.1"}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

const { file } = bundledRecording("salesorderdetail/confluent-avro");

describe.each([
  ["run", ["--file", file]],
  ["run", ["--file", file, "-n", "10"]],
  ["compare", ["--file", file, "--rounds", "1"]],
] as const)("cdc-bench %s %j", (command, args) => {
  test.each([
    ["at which nobody listens", nobody.url],
    ["that is no registry", other.url],
  ])("with a registry %s ends at once with the address and what to check", async (_, url) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const said: Buffer[] = [];
    stdout.resume();
    stderr.on("data", (chunk: Buffer) => said.push(chunk));
    const interrupt = new AbortController().signal;
    const env = { XDG_STATE_HOME: folder };
    const code = await runProgram([command, ...args, "--registry", url], { stdout, stderr, liveLine: false, env, interrupt });
    expect(code).toBe(exitCodes.connection);
    expect(Buffer.concat(said).toString()).toContain(url);
  });
});
