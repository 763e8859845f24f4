import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test, vi } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-registry-"));
/** A web server that is no registry, as Kafka Connect is none. */
const other = await serve();
/** Nobody listens there any more. */
const nobody = await serve();
nobody.close();
/** A registry without subjects. */
const empty = await serve(() => [404, '{"error_code":40401,"message":"Subject not found."}']);

afterAll(() => {
  other.close();
  empty.close();
  down.close();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = (path: string) => readonly [status: number, body: string];

async function serve(answer: Answer = () => [200, '{"version":"4.3.1"}']): Promise<{ readonly url: string; close(): void }> {
  const server: Server = createServer(({ url = "" }, response) => {
    const [status, body] = answer(url);
    response.writeHead(status, { "content-type": "application/vnd.schemaregistry.v1+json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

/** It answers at the start, and gives no schema. For those who wait for one, half a minute passes in half a second. */
const down = await serve((path) => {
  if (!path.startsWith("/schemas/ids/")) {
    return [200, '["AVRO"]'];
  }
  setTimeout(() => (aheadMs = 31_000), 500);
  return [503, "{}"];
});
let aheadMs = 0;

const { file } = bundledRecording("salesorderdetail/confluent-avro");

async function cdcBench(...args: string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const said: Buffer[] = [];
  stdout.resume();
  stderr.on("data", (chunk: Buffer) => said.push(chunk));
  const interrupt = new AbortController().signal;
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: { XDG_STATE_HOME: folder }, interrupt });
  return { code, stderr: Buffer.concat(said).toString() };
}

describe.each([
  ["run", ["--file", file]],
  ["run", ["--file", file, "-n", "10"]],
  ["compare", ["--file", file, "--rounds", "1"]],
] as const)("cdc-bench %s %j", (command, args) => {
  test.each([
    ["at which nobody listens", nobody.url],
    ["that is no registry", other.url],
  ])("with a registry %s ends at once with the address and what to check", async (_, url) => {
    const { code, stderr } = await cdcBench(command, ...args, "--registry", url);
    expect(code).toBe(exitCodes.connection);
    expect(stderr).toContain(url);
  });
});

test.each([
  ["types", ["--topics", "x"]],
  ["hints", ["--from", "x-value"]],
] as const)("cdc-bench %s, which asks the registry alone, ends with what is wrong there", async (command, args) => {
  const refused = await cdcBench(command, ...args, "--registry", nobody.url);
  expect(refused.code, refused.stderr).toBe(exitCodes.connection);
  expect(refused.stderr).toContain(nobody.url);
  expect(refused.stderr).toContain("is it running");
  const missing = await cdcBench(command, ...args, "--registry", empty.url);
  expect(missing.code, missing.stderr).toBe(exitCodes.tooFewMessages);
  expect(`${refused.stderr}${missing.stderr}`).not.toContain("unexpected");
});

test("cdc-bench run, if the registry goes away, reports the topics before, and ends with what to check", async () => {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + aheadMs);
  const [json, avro] = ["tjn.inv.nopk", "tav.inv.nopk"].map((topic) => bundledRecording(`postgres-debezium-3.5/${topic}`).file);
  const both = join(folder, "both.ndjson");
  writeFileSync(both, [json, avro].map((one) => readFileSync(one ?? "", "utf8")).join(""));
  const result = join(folder, "result.json");
  const { code, stderr } = await cdcBench("run", "--file", both, "--registry", down.url, "--json", "-o", result);
  expect([code, stderr]).toEqual([exitCodes.connection, expect.stringContaining("the registry has given none for 30 s")]);
  const { aborted, runs } = JSON.parse(readFileSync(result, "utf8")) as { readonly aborted: boolean; readonly runs: readonly unknown[] };
  expect([aborted, runs]).toEqual([true, [expect.objectContaining({ topics: ["tjn.inv.nopk"] })]]);
});
