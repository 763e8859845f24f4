import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import lz4 from "lz4-napi";
import snappy from "snappyjs";
import { describe, expect, test } from "vitest";
import { type CompressionName, loadCompression } from "./compression.ts";

/** The other side of each compression, by the library that reads it. */
const readers: Readonly<Partial<Record<CompressionName, (bytes: Buffer) => Buffer>>> = {
  gzip: gunzipSync,
  snappy: readXerial,
  lz4: (bytes) => lz4.decompressFrameSync(bytes),
};

describe("what is compressed is what is read", () => {
  for (const [name, read] of Object.entries(readers)) {
    test(name, async () => {
      const { compress } = await loadCompression(name as CompressionName);
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 500 }), fc.integer({ min: 1, max: 400 }), async (part, times) => {
          const records = Buffer.concat(Array.from({ length: times }, () => part));
          expect(read((await compress?.(records)) ?? Buffer.alloc(0)).equals(records)).toBe(true);
        }),
        { numRuns: 30 },
      );
    });
  }
});

test("lz4's blocks do not depend on each other: Kafka refuses others", async () => {
  const { compress } = await loadCompression("lz4");
  const frame = await compress?.(Buffer.alloc(200_000, "abc"));
  expect((frame?.[4] ?? 0) & 0x20).toBe(0x20);
});

/** snappy-java's framing: a header of 16 bytes, then blocks with their lengths. */
function readXerial(bytes: Buffer): Buffer {
  const blocks: Uint8Array[] = [];
  for (let at = 16; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    blocks.push(snappy.uncompress(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return Buffer.concat(blocks);
}
