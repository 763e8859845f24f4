import { once } from "node:events";
import { type IncomingHttpHeaders, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import avro from "avsc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDataSet, seededDataSets } from "../../codec/data-sets.ts";
import { avroSchemaOf } from "../../codec/shape.ts";
import { createApiServer, rowsPath } from "./api-server.ts";

const set = createDataSet("avro-api", seededDataSets["avro-api"]!, 50, 1);
const rows = avro.Type.forSchema({ type: "array", items: avroSchemaOf(set.shape) as avro.Schema });
const maxBodyBytes = 20_000;
const maxDecodedBytes = 100_000;
let server: Server;
let port: number;

beforeAll(async () => {
  server = createApiServer({ shape: set.shape, rows: set.rows, maxBodyBytes, maxDecodedBytes }).listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function ask(method: string, headers: Record<string, string> = {}, body: Buffer = Buffer.alloc(0), path = rowsPath): Promise<Answer> {
  const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(await response.toArray()) };
}

/** Rows of a container file by avsc's own reader of files: not by what wrote them. */
async function containerRows(file: Buffer): Promise<readonly unknown[]> {
  return Readable.from([file])
    .pipe(new avro.streams.BlockDecoder() as unknown as import("node:stream").Duplex)
    .toArray();
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("GET", () => {
  test.each([
    ["identity", (bytes: Buffer) => bytes],
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const)("answers in each form with %s, as independent readers see", async (coding, inflate) => {
    for (const [accept, read] of [
      ["application/json", async (bytes: Buffer): Promise<unknown> => JSON.parse(bytes.toString())],
      ["application/avro", containerRows],
      ["avro/binary", async (bytes: Buffer): Promise<unknown> => rows.fromBuffer(bytes)],
    ] as const) {
      const { status, headers, body } = await ask("GET", { accept, "accept-encoding": coding });
      expect([status, headers["content-type"], headers["content-encoding"] ?? "identity"]).toEqual([200, accept, coding]);
      expect(headers["vary"]).toBe("Accept, Accept-Encoding");
      expect(Number(headers["content-length"])).toBe(body.byteLength);
      expect(plain(await read(inflate(body)))).toEqual(plain(set.rows));
    }
  });

  test("refuses what nobody can answer with 406, and says what there is", async () => {
    for (const headers of [{ accept: "text/html" }, { "accept-encoding": "identity;q=0, deflate" }] as Record<string, string>[]) {
      const { status, body } = await ask("GET", headers);
      expect(status).toBe(406);
      expect(body.toString()).toContain("application/avro");
    }
  });
});

describe("HEAD and OPTIONS", () => {
  test("HEAD has the headers of GET and no body", async () => {
    const [head, get] = [await ask("HEAD", { accept: "application/avro" }), await ask("GET", { accept: "application/avro" })];
    expect([head.status, head.body.byteLength]).toEqual([200, 0]);
    expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    expect(Number(head.headers["content-length"])).toBe(get.body.byteLength);
    expect(await ask("HEAD", {}, undefined, "/other")).toMatchObject({ status: 404, body: Buffer.alloc(0) });
  });

  test("OPTIONS says what there is; other methods and places are refused", async () => {
    expect(await ask("OPTIONS")).toMatchObject({ status: 204, headers: { allow: "GET, HEAD, POST, OPTIONS" } });
    expect(await ask("DELETE")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD, POST, OPTIONS" } });
    expect(await ask("GET", {}, undefined, "/other")).toMatchObject({ status: 404 });
  });
});

describe("POST", () => {
  const json = Buffer.from(JSON.stringify(set.rows));
  const type = { "content-type": "application/json; charset=utf-8" };

  test("takes rows in each form and coding, and answers as the client asks", async () => {
    for (const [coding, deflate] of [
      ["identity", (bytes: Buffer) => bytes],
      ["gzip", gzipSync],
      ["br", brotliCompressSync],
    ] as const) {
      for (const [contentType, bytes] of [
        ["application/json", json],
        ["avro/binary", rows.toBuffer(set.rows)],
      ] as const) {
        const headers = { "content-type": contentType, "content-encoding": coding, accept: "application/avro" };
        const { status, body } = await ask("POST", headers, deflate(bytes));
        expect([status, plain(await containerRows(body))]).toEqual([200, [{ received: set.rows.length }]]);
      }
    }
  });

  test("refuses forms and codings that it does not know with 415", async () => {
    expect(await ask("POST", {}, json)).toMatchObject({ status: 415 });
    expect(await ask("POST", { "content-type": "text/csv" }, json)).toMatchObject({ status: 415 });
    const deflate = await ask("POST", { ...type, "content-encoding": "deflate" }, json);
    expect(deflate).toMatchObject({ status: 415, headers: { "accept-encoding": expect.stringContaining("gzip") } });
  });

  test("refuses bodies that are broken or cut with 400", async () => {
    for (const [headers, body] of [
      [type, Buffer.from('[{"Id":')],
      [type, Buffer.from('{"Id":1}')],
      [{ ...type, "content-encoding": "gzip" }, gzipSync(json).subarray(0, 100)],
      [{ ...type, "content-encoding": "br" }, json],
      [{ "content-type": "application/avro" }, json],
      [{ "content-type": "avro/binary" }, rows.toBuffer(set.rows).subarray(0, 99)],
    ] as const) {
      expect(await ask("POST", headers, body)).toMatchObject({ status: 400 });
    }
  });

  test("refuses bodies that are too large, also a bomb and one without a length, with 413", async () => {
    expect(await ask("POST", type, Buffer.alloc(maxBodyBytes + 1, 0x20))).toMatchObject({ status: 413 });
    const bomb = gzipSync(Buffer.alloc(10_000_000, 0x20));
    expect(bomb.byteLength).toBeLessThan(maxBodyBytes);
    expect(await ask("POST", { ...type, "content-encoding": "gzip" }, bomb)).toMatchObject({ status: 413 });
    const socket = connect(port, "127.0.0.1");
    socket.write("POST /rows HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    socket.write(`${(maxBodyBytes + 1).toString(16)}\r\n${" ".repeat(maxBodyBytes + 1)}\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    await once(socket, "close"); // the rest is not read
  });
});
