import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isKafkaJsDriverError } from "../errors.ts";
import { gunzip } from "./gzip.ts";
import { installCodecs, type KafkaJsCodecs } from "./install-codecs.ts";
import { unlz4 } from "./lz4.ts";
import { outputLimit } from "./output-limit.ts";
import { unsnappy } from "./snappy.ts";
import { unzstd, unzstdInScript } from "./zstd.ts";

const folder = fileURLToPath(new URL("../../vectors/", import.meta.url));

type Read = (bytes: Buffer) => Buffer | Promise<Buffer>;

const readers: Readonly<Record<string, Read>> = {
  gzip: gunzip,
  snappy: unsnappy,
  "snappy-raw": unsnappy,
  lz4: (bytes) => unlz4(bytes),
  "lz4-checksums": (bytes) => unlz4(bytes),
  zstd: unzstd,
  "zstd-sized": unzstd,
};

const vectors = readdirSync(folder)
  .map((file) => ({ file, name: file.replace(/\..*$/, ""), format: file.replace(/^[^.]*\./, "") }))
  .filter(({ format }) => Object.hasOwn(readers, format))
  .map((vector) => ({
    ...vector,
    read: readers[vector.format] as Read, // filtered above
    bytes: readFileSync(join(folder, vector.file)),
    expected: gunzipSync(readFileSync(join(folder, `${vector.name}.gzip`))),
  }));

/** The output, or the code of the driver's own error. Anything else fails the test. */
async function outcome(read: Read, bytes: Buffer): Promise<Buffer | string> {
  try {
    return await read(bytes);
  } catch (error) {
    if (isKafkaJsDriverError(error)) {
      return error.code;
    }
    throw error;
  }
}

describe("batches that the Java libraries compressed", () => {
  test("there are vectors of every format", () => {
    expect(new Set(vectors.map(({ format }) => format))).toEqual(new Set(Object.keys(readers)));
  });

  for (const { file, read, bytes, expected } of vectors) {
    test(`${file} is read`, async () => {
      expect((await outcome(read, bytes)).toString("hex")).toBe(expected.toString("hex"));
    });
  }

  for (const { file, bytes, expected } of vectors.filter(({ format }) => format.startsWith("zstd"))) {
    test(`${file} is read where Node has no zstd of its own`, () => {
      expect(unzstdInScript(bytes).equals(expected)).toBe(true);
    });
  }
});

describe("damaged batches", () => {
  for (const { file, read, bytes, expected } of vectors.filter(({ name }) => name !== "rows")) {
    test(`${file} cut at any byte is an error, never a part`, async () => {
      const cuts = bytes.length <= 400 ? [...bytes.keys()] : [...Array(200).keys()].map((i) => Math.floor((i * bytes.length) / 200));
      for (const cut of cuts) {
        const result = await outcome(read, bytes.subarray(0, cut));
        // Joined streams may end after any whole one, and after the last block of a format without an end mark.
        const isComplete = Buffer.isBuffer(result) && (result.length === 0 || result.equals(expected));
        expect(isComplete || result === "batch-unreadable" ? "as expected" : `cut at ${cut}`).toBe("as expected");
      }
    });
  }

  for (const { file, read, bytes } of vectors) {
    test(`${file} with flipped bits is read or refused, within the bound`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)), { minLength: 1, maxLength: 3 }), async (flips) => {
          const changed = Buffer.from(bytes);
          for (const [at, bit] of flips) {
            changed[at] = (changed[at] ?? 0) ^ (1 << bit);
          }
          const result = await outcome(read, changed);
          expect(Buffer.isBuffer(result) ? result.length <= outputLimit(bytes.length) : result === "batch-unreadable").toBe(true);
        }),
        { numRuns: 60 },
      );
    });
  }

  test("noise is read or refused by every codec", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (noise) => {
        for (const read of Object.values(readers)) {
          const result = await outcome(read, Buffer.from(noise));
          expect(Buffer.isBuffer(result) || result === "batch-unreadable").toBe(true);
        }
      }),
    );
  });
});

describe("batches that become too large are refused", () => {
  const huge = 200 * 1024 * 1024;

  test("gzip", async () => {
    expect(await outcome(gunzip, gzipSync(Buffer.alloc(huge / 10)))).toBe("batch-unreadable");
  });

  test("snappy, by the length that it states", async () => {
    expect(await outcome(unsnappy, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x00]))).toBe("batch-unreadable");
  });

  test("lz4, while it grows", async () => {
    // One block of a match that goes on: each byte 255 adds 255 bytes.
    const block = Buffer.concat([Buffer.from([0x1f, 0x61, 0x01, 0x00]), Buffer.alloc(16_000, 255), Buffer.from([0, 0x00])]);
    const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x00]);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    const frame = Buffer.concat([header, size, block, Buffer.alloc(4)]);
    const within = (limit: number) => outcome((bytes) => unlz4(bytes, limit), frame);
    expect(await within(1_000_000)).toBe("batch-unreadable");
    expect((await within(5_000_000)).length).toBeGreaterThan(4_000_000);
  });

  test("zstd, by its window and while it grows", async () => {
    const wideWindow = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00]);
    expect(await outcome(unzstdInScript, wideWindow)).toBe("batch-unreadable");
    // Blocks of one repeated byte, 128 KiB each: four bytes a block.
    const repeat = Buffer.from([0x02 | ((131_072 << 3) & 0xff), (131_072 >> 5) & 0xff, (131_072 >> 13) & 0xff, 0x61]);
    const frame = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...Array<Buffer>(huge / 131_072).fill(repeat)]);
    expect(await outcome(unzstdInScript, frame)).toBe("batch-unreadable");
    expect(await outcome(unzstd, frame)).toBe("batch-unreadable");
  });
});

describe("batches that repeat themselves are read", () => {
  // Sizes that Kafka's own codecs made of 10,000 messages of JSON with schema; see maxRatio.
  for (const [what, compressedBytes, bytes] of [
    ["rows of a table, zstd", 812_674, 52_611_000],
    ["changes of one row, zstd", 189_529, 52_574_000],
    ["changes of one row in a batch of 16 KiB, zstd", 16_384, 16_384 * 277],
    ["changes of one row in a batch of 1 MiB, zstd", 1_048_576, 1_048_576 * 277],
    ["changes of one row, gzip", 632_791, 52_574_000],
  ] as const) {
    test(what, () => {
      expect(outputLimit(compressedBytes)).toBeGreaterThan(bytes);
    });
  }

  test("changes of one row, by the thousand, are unpacked", async () => {
    const schema = `{"schema":{"fields":[${Array.from({ length: 120 }, (_, i) => `{"type":"int32","field":"column_${i}"}`).join(",")}]}`;
    const messages = Buffer.from(
      Array.from({ length: 2_000 }, (_, i) => `${schema},"payload":{"op":"u","ts_ms":${1_700_000_000_000 + i}}}`).join("\n"),
    );
    expect((await gunzip(gzipSync(messages, { level: 9 }))).equals(messages)).toBe(true);
  });
});

describe("putting codecs in place", () => {
  test("a codec of the application's own stays, and gzip is still written as before", async () => {
    const own = { compress: async () => Buffer.from("own"), decompress: async () => Buffer.from("own") };
    const gzip = { compress: async () => Buffer.from("zipped"), decompress: async () => Buffer.from("unbounded") };
    const missing = (): never => {
      throw new Error("not implemented");
    };
    const codecs: KafkaJsCodecs = { 1: () => gzip, 2: () => own, 3: missing, 4: missing };
    installCodecs(codecs);
    installCodecs(codecs);
    expect(codecs[2]?.()).toBe(own);
    expect(await codecs[1]?.().compress({ buffer: Buffer.from("x") })).toEqual(Buffer.from("zipped"));
    expect(await codecs[1]?.().decompress(gzipSync("x"))).toEqual(Buffer.from("x"));
    await expect(codecs[3]?.().compress({ buffer: Buffer.from("x") })).rejects.toThrow("does not write");
  });
});
