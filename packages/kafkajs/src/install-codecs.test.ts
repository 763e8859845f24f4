import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { installCodecs, type CodecTable } from "./install-codecs.ts";

const missing = (): never => {
  throw new Error("not implemented");
};

describe("putting codecs in place", () => {
  test("a codec of the application's own stays, and gzip is still written as before", async () => {
    const own = { compress: async () => Buffer.from("own"), decompress: async () => Buffer.from("own") };
    const gzip = { compress: async () => Buffer.from("zipped"), decompress: async () => Buffer.from("unbounded") };
    const codecs: CodecTable = { 1: () => gzip, 2: () => own, 3: missing, 4: missing };
    installCodecs(codecs);
    installCodecs(codecs);
    expect(codecs[2]?.()).toBe(own);
    expect(await codecs[1]?.().compress({ buffer: Buffer.from("x") })).toEqual(Buffer.from("zipped"));
    expect(await codecs[1]?.().decompress(gzipSync("x"))).toEqual(Buffer.from("x"));
    await expect(codecs[3]?.().compress({ buffer: Buffer.from("x") })).rejects.toThrow("does not write");
  });

  test("a damaged batch and a bomb are errors of the driver, which kafkajs does not try again", async () => {
    const unbounded = { compress: async () => Buffer.alloc(0), decompress: async () => Buffer.alloc(0) };
    const codecs: CodecTable = { 1: () => unbounded, 2: missing, 3: missing, 4: missing };
    installCodecs(codecs);
    for (const code of [1, 2, 3, 4]) {
      await expect(codecs[code]?.().decompress(Buffer.from("damaged"))).rejects.toMatchObject({
        code: "batch-unreadable",
        retriable: false,
        cause: { code: "damaged-compression" },
      });
    }
    const bomb = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x00]); // snappy that says that it becomes 4 GiB
    await expect(codecs[2]?.().decompress(bomb)).rejects.toMatchObject({ code: "batch-unreadable", cause: { code: "batch-too-large" } });
  });
});
