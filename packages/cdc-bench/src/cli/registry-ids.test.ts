import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { bundledRecording } from "@cdckit/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { runProgram } from "./program.ts";
import { resolveSource } from "./resolve-source.ts";
import type { SourceFlags } from "./source-options.ts";

const { file, schemasFile } = bundledRecording("postgres-debezium-3.5/tav.inv.composite_pk");
/** The schemas by the ids that the messages name. */
const schemas = new Map(
  readFileSync(schemasFile, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly id: number; readonly schema: string })
    .map(({ id, schema }) => [String(id), schema]),
);

/** An Apicurio at which the ids of the messages are global ids: its Confluent API, which looks up content ids, has none of them. */
const server = createServer(({ url = "" }, response) => {
  const answer = answerTo(url);
  response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(answer ?? '{"error_code":40403,"message":"Schema not found"}');
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const registry = ["--registry", `http://127.0.0.1:${(server.address() as AddressInfo).port}/apis/ccompat/v7`];

function answerTo(path: string): string | undefined {
  const [, id, references] = /^\/apis\/registry\/v2\/ids\/globalIds\/(\d+)(\/references)?$/.exec(path) ?? [];
  if (id !== undefined) {
    return references === undefined ? schemas.get(id) : "[]";
  }
  if (path.startsWith("/apis/registry/v2/search/artifacts?globalId=")) {
    return '{"artifacts":[{"type":"AVRO"}],"count":1}';
  }
  return /\/(schemas\/types|subjects)$/.test(path) ? '["AVRO"]' : undefined;
}

const folder = mkdtempSync(join(tmpdir(), "cdc-bench-ids-"));
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function cdcBench(...args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ["", ""];
  stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const interrupt = new AbortController().signal;
  const code = await runProgram(args, { stdout, stderr, liveLine: false, env: { XDG_STATE_HOME: folder }, interrupt });
  return { code, stdout: out, stderr: err };
}

describe.each([["inspect"], ["run"], ["types"], ["doctor"], ["codec", "--quick", "--rounds", "1"]])("cdc-bench %s", (...command) => {
  test("reads messages with global ids of four bytes if --registry-ids says so", async () => {
    const read = await cdcBench(...command, "--file", file, ...registry, "--registry-ids", "globalId");
    expect(read.code, read.stderr + read.stdout).toBe(exitCodes.ok);
  });
});

test("cdc-bench doctor names --registry-ids if ids lead to no schema", async () => {
  const { code, stdout } = await cdcBench("doctor", "--file", file, ...registry);
  expect({ code, stdout }).toEqual({ code: exitCodes.decodeErrors, stdout: expect.stringContaining("give --registry-ids globalId") });
});

test("cdc-bench doctor leaves --registry-ids out if the ids say of which kind they are", async () => {
  const { file: headed } = bundledRecording("postgres-debezium-3.5/tah.inv.composite_pk");
  const ofConfluent = registry.map((word) => word.replace("/apis/ccompat/v7", ""));
  const { code, stdout } = await cdcBench("doctor", "--file", headed, ...ofConfluent);
  expect({ code, stdout }).toEqual({ code: exitCodes.decodeErrors, stdout: expect.stringContaining("set url to the Apicurio registry") });
  expect(stdout).not.toContain("--registry-ids");
});

test("the result of run names what ids were", async () => {
  const result = join(folder, "result.json");
  await cdcBench("run", "--file", file, ...registry, "--registry-ids", "globalId", "--json", "-o", result);
  expect(JSON.parse(readFileSync(result, "utf8"))).toMatchObject({ settings: { registryIds: "globalId" } });
});

test.each<[string, SourceFlags, Readonly<Record<string, string>>, object]>([
  ["a flag", { registry: "http://r" }, {}, { url: "http://r" }],
  ["the environment", {}, { SCHEMA_REGISTRY_URL: "http://r", SCHEMA_REGISTRY_TOKEN: "t" }, { url: "http://r", auth: { bearer: "t" } }],
])("--registry-ids goes with a registry of %s", (_case, flags, env, expected) => {
  const source = resolveSource({ ...flags, brokers: ["b:1"], topics: ["t"], registryIds: "globalId" }, env);
  expect(source.registry).toEqual({ ...expected, numericIds: "globalId" });
});

test.each([
  ["another word", [...registry, "--registry-ids", "global"], "contentId, globalId"],
  ["no registry", ["--registry-ids", "globalId"], "give --registry URL"],
  ["schemas of a file", ["--schemas", schemasFile, "--registry-ids", "globalId"], "--schemas and --registry-ids"],
])("--registry-ids with %s is refused, and the sentence says what is right", async (_case, args, said) => {
  const { code, stderr } = await cdcBench("inspect", "--file", file, ...args);
  expect({ code, stderr }).toEqual({ code: exitCodes.usage, stderr: expect.stringContaining(said) });
});

test("--registry-ids with compare --rows, which writes its own ids, is refused", async () => {
  const { code, stderr } = await cdcBench("compare", "--brokers", "127.0.0.1:1", "--rows", "10", ...registry, "--registry-ids", "globalId");
  expect({ code, stderr }).toEqual({ code: exitCodes.usage, stderr: expect.stringContaining("--rows and --registry-ids") });
});
