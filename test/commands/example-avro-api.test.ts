import { once } from "node:events";
import { Readable } from "node:stream";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { request } from "node:http";
import avro from "avsc";
import { describe, expect, test } from "vitest";
import { startExample } from "./example-service.ts";

interface Client {
  getRows(url: string, choice?: object): Promise<unknown[]>;
  postRows(url: string, rows: readonly unknown[], choice?: object): Promise<number>;
}

/** What comes over the wire: `fetch` would decompress it. */
async function wire(url: string, headers: Record<string, string>) {
  const asked = request(url, { headers }).end();
  const [response] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(await response.toArray()) };
}

const inflaters = { identity: (bytes: Buffer) => bytes, gzip: gunzipSync, br: brotliDecompressSync };

/** Rows as readers see them that are not the example's. */
const readers: Readonly<Record<string, (bytes: Buffer) => Promise<unknown>>> = {
  "application/json": async (bytes) => JSON.parse(bytes.toString()),
  "application/avro": (bytes) =>
    Readable.from([bytes])
      .pipe(new avro.streams.BlockDecoder() as never as import("node:stream").Duplex)
      .toArray(),
};

describe("the example of an API in Avro and JSON", () => {
  test("gives the same rows in each form and coding, takes what its client sends, and refuses what it cannot read", async () => {
    const service = await startExample("avro-api", { ROWS: "50", BODY_LIMIT: "100000" });
    const url = `${service.url}/rows`;
    const plain = (await (await fetch(url)).json()) as { id: number }[];
    expect(plain.length).toBe(50);
    const { getRows, postRows } = (await import(new URL("../../examples/avro-api/client.js", import.meta.url).href)) as Client;
    for (const [mediaType, read] of Object.entries(readers)) {
      for (const [coding, inflate] of Object.entries(inflaters)) {
        const { status, headers, body } = await wire(url, { accept: `text/html, ${mediaType};q=0.9`, "accept-encoding": coding });
        expect([status, headers["content-type"]?.split(";")[0], headers["content-encoding"] ?? "identity"]).toEqual([
          200,
          mediaType,
          coding,
        ]);
        expect(headers["vary"]).toBe("accept, accept-encoding");
        expect(JSON.parse(JSON.stringify(await read(inflate(body))))).toEqual(plain);
        expect(JSON.parse(JSON.stringify(await getRows(url, { mediaType, coding })))).toEqual(plain);
        const [first] = plain;
        expect(await postRows(url, [{ ...first, id: 1_000, city: `${mediaType} ${coding}` }], { mediaType, coding })).toBe(1);
        expect((await getRows(url)).at(-1)).toMatchObject({ id: 1_000, city: `${mediaType} ${coding}` });
        plain.splice(50, 1, JSON.parse(JSON.stringify((await getRows(url)).at(-1))) as { id: number });
      }
    }
    const post = async (headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
      (await fetch(url, { method: "POST", headers, body })).status;
    const json = { "content-type": "application/json" };
    expect((await wire(url, { accept: "text/html" })).status).toBe(406);
    expect(await post({ "content-type": "text/csv" }, "id")).toBe(415);
    expect(await post({ ...json, "content-encoding": "deflate" }, "[]")).toBe(415);
    expect(await post({ ...json, "content-encoding": "gzip" }, "[]")).toBe(400);
    expect(await post({ "content-type": "application/avro" }, "[]")).toBe(400);
    expect(await post(json, '[{"id":1}]')).toBe(400);
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(10_000_000, 0x20)));
    expect(bomb.byteLength).toBeLessThan(100_000);
    expect(await post({ ...json, "content-encoding": "gzip" }, bomb)).toBe(413);
    await service.until("/healthz", (answer, status) => expect([status, answer]).toEqual([200, { live: true }]));
    expect(await service.stop()).toBe(0);
  });
});
