import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createDataSet, seededDataSets } from "../codec/data-sets.ts";
import { exitCodes } from "../exit-codes.ts";
import { createApiServer } from "../scenario/http/api-server.ts";
import type { HttpResult } from "../scenario/http/http-result.ts";
import { httpNotes } from "./actions/http.ts";
import type { HttpFigures } from "../scenario/http/measure-http.ts";
import { runProgram } from "./program.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function http(args: readonly string[], interrupt: AbortSignal = new AbortController().signal): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let [out, err] = ["", ""];
  stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const code = await runProgram(["http", ...args], { stdout, stderr, liveLine: false, env: {}, interrupt });
  return { code, stdout: out, stderr: err };
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener | Server): Promise<string> {
  const server = typeof listener === "function" ? createServer(listener) : listener;
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows`;
}

const few = ["--requests", "3", "--json"];

describe("an API of the user's own", () => {
  test("is measured in what it offers, and nothing is written to it", async () => {
    const set = createDataSet("avro-api", seededDataSets["avro-api"]!, 100, 1);
    const methods = new Set<string | undefined>();
    const server = createApiServer({ shape: set.shape, rows: set.rows, maxBodyBytes: 1e6, maxDecodedBytes: 1e6 });
    server.on("request", ({ method }) => methods.add(method));
    const { code, stdout, stderr } = await http(["--url", `${await serve(server)}?token=canary`, ...few, "--link", "100mbit"]);
    expect(code, stderr).toBe(exitCodes.ok);
    const { responses, rules, unanswered } = JSON.parse(stdout) as HttpResult;
    expect(rules.join(" ")).toContain("Closed loop");
    expect(unanswered).toEqual([]);
    const json = responses.find(({ format, encoding }) => format === "json" && encoding === "identity");
    const jsonBytes = Buffer.byteLength(JSON.stringify(set.rows));
    expect(json).toMatchObject({ sentBytes: jsonBytes, plainBytes: jsonBytes, allocatedByServerBytes: null, request: { count: 3 } });
    const gzipped = responses.find(({ format, encoding }) => format === "json" && encoding === "gzip");
    expect(gzipped).toMatchObject({ sentBytes: gzipSync(JSON.stringify(set.rows)).byteLength, plainBytes: jsonBytes });
    expect([...methods]).toEqual(["GET"]);
    expect(stdout).not.toContain("canary");
  });

  test("that has JSON alone is measured in that, and the rest is named", async () => {
    const url = await serve((_, response) => response.setHeader("content-type", "application/json").end('[{"id":1}]'));
    const { code, stdout } = await http(["--url", url, "--requests", "3"]);
    expect(code).toBe(exitCodes.ok);
    expect(stdout).toMatch(/^json +\d/m);
    expect(stdout).toContain("GET avro, identity: asked for application/avro, it answers with application/json.");
    expect(stdout).toContain("GET json, gzip: asked for gzip, it answers with identity.");
  });

  const rows = JSON.stringify([{ id: 1 }]);
  test.each<[string, RequestListener, string]>([
    [
      "garbage",
      (_, response) => response.setHeader("content-type", "application/json").end("<html>"),
      "cannot be read as application/json",
    ],
    ["an error", (_, response) => response.writeHead(500).end(), "it answers 500"],
    ["nothing", (_, response) => response.setHeader("content-type", "application/json").end(), "its answer is empty"],
    [
      "too much",
      (_, response) => response.setHeader("content-type", "application/json").end(" ".repeat(6_000)),
      "larger than 5000 bytes (--max-body)",
    ],
    [
      "half of it",
      (request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": 100 }).write("[");
        setImmediate(() => request.socket.destroy());
      },
      "its answer ended early",
    ],
  ])("that answers %s ends with 5 and says so", async (_, listener, said) => {
    const args = ["--url", await serve(listener), "--formats", "json", "--encodings", "identity", "--max-body", "5000", ...few];
    const { code, stderr } = await http(args);
    expect(stderr).toContain(said);
    expect(code).toBe(exitCodes.decodeErrors);
  });

  test.each([
    ["a bomb", gzipSync(Buffer.alloc(50_000_000, 0x20)), "larger than 1000000 bytes when decompressed"],
    ["a gzip that is cut", gzipSync(rows).subarray(0, -6), "its compression is broken or cut"],
    ["no gzip", Buffer.from(rows), "its compression is broken or cut"],
  ])("that answers with %s ends with 5 and says so", async (_, body, said) => {
    const url = await serve((__, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body),
    );
    const { code, stderr } = await http(["--url", url, "--formats", "json", "--encodings", "gzip", "--max-body", "1m", ...few]);
    expect(stderr).toContain(said);
    expect(code).toBe(exitCodes.decodeErrors);
  });

  test("that offers nothing of it ends with 4", async () => {
    const url = await serve((_, response) => response.writeHead(406).end());
    expect(await http(["--url", url, ...few])).toMatchObject({
      code: exitCodes.tooFewMessages,
      stderr: expect.stringContaining("offers none"),
    });
  });

  test("that is not there, does not speak HTTP, or says nothing ends with 3 or 5", async () => {
    expect(await http(["--url", "http://127.0.0.1:1/"])).toMatchObject({
      code: exitCodes.connection,
      stderr: expect.stringContaining("nobody listens there"),
    });
    const other = createTcpServer((socket) => socket.end("+OK\r\n")).listen(0, "127.0.0.1");
    const silent = createTcpServer(() => {}).listen(0, "127.0.0.1");
    for (const server of [other, silent]) {
      await (server.listening ? undefined : once(server, "listening"));
    }
    const urlOf = (server: { address(): unknown }): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      expect(await http(["--url", urlOf(other)])).toMatchObject({
        code: exitCodes.connection,
        stderr: expect.stringContaining("does not speak HTTP"),
      });
      const mute = await http(["--url", urlOf(silent), "--timeout", "200ms", "--formats", "json", "--encodings", "identity"]);
      expect(mute).toMatchObject({ code: exitCodes.decodeErrors, stderr: expect.stringContaining("nothing came for 0.2 s") });
    } finally {
      other.close();
      silent.close();
    }
  });

  test("is left at the interrupt", async () => {
    const controller = new AbortController();
    const url = await serve(() => setImmediate(() => controller.abort()));
    const { code, stdout } = await http(["--url", url], controller.signal);
    expect(code).toBe(exitCodes.interrupted);
    expect(stdout).toMatch(/^ABORTED/);
  });
});

test.each([
  [["--url", "ftp://h"], "such as http://localhost:3000/users"],
  [["--url", "http://h", "--methods", "post"], "nothing is written to yours"],
  [["--url", "http://h", "--formats", "avro-headless"], "needs --schema FILE"],
  [["--url", "http://h", "--schema", "nowhere.avsc"], "there is no such file"],
  [["--schema", "x.avsc"], "--schema goes with --url"],
  [["--formats", "xml"], "--formats xml: there are json, avro, avro-headless"],
  [["--encodings", "lzma"], "--encodings lzma: there are identity, gzip, br"],
  [["--concurrency", "0"], "whole number from 1"],
  [["--concurrency", "1000"], "--concurrency must not exceed 256"],
  [["--requests", "1", "--duration", "1s"], "exclude each other"],
])("%j is refused with a sentence", async (args, said) => {
  const { code, stderr } = await http(args);
  expect(stderr).toContain(said);
  expect(code).toBe(exitCodes.usage);
});

test("a percentile over few requests is said to be one, also if a time or Ctrl-C has ended them", () => {
  const responsesOf = (...counts: readonly number[]) =>
    counts.map((count) => ({ request: { count } })) as unknown as HttpFigures["responses"];
  const few = expect.stringContaining("p99 is the slowest of them") as unknown;
  expect(httpNotes({ responses: responsesOf(500, 12), unanswered: [] })).toContainEqual(
    "With 12 requests p99 is the slowest of them: --requests 1k gives it more.",
  );
  expect(httpNotes({ responses: responsesOf(500, 100), unanswered: [] })).not.toContainEqual(few);
  expect(httpNotes({ responses: [], unanswered: [] })).not.toContainEqual(few);
});
