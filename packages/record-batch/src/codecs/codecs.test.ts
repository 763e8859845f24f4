import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { isRecordBatchError } from "../errors.ts";
import type { CompressionName } from "../options.ts";
import { decompress, decompressAsync } from "./decompress.ts";
import { gunzip } from "./gzip.ts";
import { unlz4 } from "./lz4.ts";
import { outputLimit } from "./output-limit.ts";
import { unsnappy } from "./snappy.ts";
import { unzstd } from "./zstd.ts";
import { ForwardBits } from "./zstd-bits.ts";
import { zstdFrames } from "./zstd-frames.ts";
import { loadZstdInWasm, unzstdInWasm } from "./zstd-in-wasm.ts";
import { unzstdInScript } from "./zstd-script.ts";

const outputBound = (bytes: Buffer): number => (zstdFrames(bytes) ?? []).reduce((sum, { maxOutputBytes }) => sum + maxOutputBytes, 0);

const folder = fileURLToPath(new URL("../../vectors/", import.meta.url));

type Read = (bytes: Buffer, maxBytes: number) => Buffer;

const readers: Readonly<Record<string, Read>> = {
  gzip: gunzip,
  snappy: unsnappy,
  "snappy-raw": unsnappy,
  lz4: unlz4,
  "lz4-checksums": unlz4,
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
    expected: zlib.gunzipSync(readFileSync(join(folder, `${vector.name}.gzip`))),
  }));

const zstdVectors = vectors.filter(({ format }) => format.startsWith("zstd"));

beforeAll(async () => {
  expect(await loadZstdInWasm()).not.toBeNull();
});

/** The output, or the code of the package's own error. Anything else fails the test. */
function outcome(read: Read, bytes: Buffer, maxBytes = outputLimit(bytes.length)): Buffer | string {
  try {
    return read(bytes, maxBytes);
  } catch (error) {
    if (isRecordBatchError(error)) {
      return error.code;
    }
    throw error;
  }
}

describe("batches that other libraries compressed", () => {
  test("there are vectors of every format", () => {
    expect(new Set(vectors.map(({ format }) => format))).toEqual(new Set(Object.keys(readers)));
  });

  for (const { file, read, bytes, expected } of vectors) {
    test(`${file} is read`, () => {
      expect(outcome(read, bytes).toString("hex")).toBe(expected.toString("hex"));
    });
  }

  for (const { file, bytes, expected } of zstdVectors) {
    test(`${file} is read where Node has no zstd of its own, in plain JavaScript and in WebAssembly`, () => {
      expect(unzstdInScript(bytes, outputLimit(bytes.length)).equals(expected)).toBe(true);
      const bound = outputBound(bytes);
      expect(bound).toBeGreaterThanOrEqual(expected.length);
      expect((unzstdInWasm(bytes, bound) ?? Buffer.from("null")).equals(expected)).toBe(true);
    });
  }
});

test("lz4: bytes take no more memory than they have, and stay as they are when the next batches are read", () => {
  const ofLz4 = vectors.filter(({ read }) => read === unlz4);
  const outputs = ofLz4.map(({ bytes }) => unlz4(bytes, outputLimit(bytes.length)));
  expect(outputs.map(({ buffer }) => buffer.byteLength)).toEqual(ofLz4.map(({ expected }) => expected.length));
  for (const [i, { file, expected }] of ofLz4.entries()) {
    expect(outputs[i]?.equals(expected), file).toBe(true);
  }
});

/** A frame with one block that is not compressed. */
function rawFrame(text: string, window: number = 0): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(3);
  header.writeUIntLE((content.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]), header, content]);
}

test("zstd: frames are read one after another, and skippable ones are left out, with and without WebAssembly", async () => {
  const skippable = Buffer.from("502a4d1803000000aabbcc", "hex");
  const several = Buffer.concat([skippable, rawFrame("one"), skippable, rawFrame("two"), rawFrame(""), skippable]);
  const alone = Buffer.concat([skippable, rawFrame("one")]);
  for (const load of [false, true]) {
    await (load ? loadZstdInWasm() : null);
    expect([several, alone, skippable].map((bytes) => unzstd(bytes, 1_000).toString())).toEqual(["onetwo", "one", ""]);
    expect(() => unzstd(several, 5)).toThrow("batch-too-large");
  }
});

describe("zstd in WebAssembly", () => {
  test("gives no more than it may, whatever the bits are", () => {
    fc.assert(
      fc.property(fc.nat(zstdVectors.length - 1), fc.array(fc.tuple(fc.nat(), fc.nat(7)), { maxLength: 3 }), (index, flips) => {
        const bytes = Buffer.from(zstdVectors[index]?.bytes ?? []);
        for (const [at, bit] of flips) {
          bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit);
        }
        const capacityBytes = Math.min(outputBound(bytes), outputLimit(bytes.length));
        const result = unzstdInWasm(bytes, capacityBytes);
        expect(result === null || result.length <= capacityBytes).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("gives nothing where its memory would grow too large, or the frames become more than they may", () => {
    const [vector] = zstdVectors;
    const bytes = vector?.bytes ?? Buffer.alloc(0);
    expect(unzstdInWasm(bytes, 16 * 1024 * 1024 + 1)).toBeNull();
    expect(unzstdInWasm(bytes, (vector?.expected.length ?? 0) - 1)).toBeNull();
    expect(unzstdInWasm(bytes, vector?.expected.length ?? 0)).not.toBeNull();
  });
});

/** A zstd frame with these blocks, each with its type. `window`: the descriptor of its window. */
function zstdFrameOf(blocks: readonly (readonly [type: number, size: number, content: Buffer])[], window: number): Buffer {
  const parts = blocks.map(([type, size, content], i) => {
    const header = Buffer.alloc(3);
    header.writeUIntLE((size << 3) | (type << 1) | (i === blocks.length - 1 ? 1 : 0), 0, 3);
    return Buffer.concat([header, content]);
  });
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]), ...parts]);
}

describe("zstd in plain JavaScript takes time by its bytes, and not by what they claim", () => {
  const letter = Buffer.from("a");
  const widest = 0x88; // 128 MiB

  test("blocks of a few bytes in the widest window", () => {
    const blocks = Array.from({ length: 50_000 }, (_, i) => [1, i % 2, letter] as const);
    const half = zstdFrameOf(blocks, widest - 8);
    const before = process.cpuUsage();
    expect(outcome(unzstdInScript, zstdFrameOf(blocks, widest))).toHaveLength(25_000);
    expect(outcome(unzstd, Buffer.concat([half, half]))).toHaveLength(50_000);
    expect(process.cpuUsage(before).user / 1e3).toBeLessThan(5_000);
  });

  test("a block that claims a hundred thousand matches of the greatest length, and has the bits of none", () => {
    // A literal; 0xffff + 0x7f00 sequences, whose lengths and offsets are each of one code: 0, 0 and 52.
    const block = Buffer.from([0x08, 0x61, 0xff, 0xff, 0xff, 0x54, 0, 0, 52, 0x01]);
    const before = process.cpuUsage();
    for (const read of [unzstd, unzstdInScript]) {
      expect(outcome(read, zstdFrameOf([[2, block.length, block]], widest))).toBe("damaged-compression");
      expect(outcome(read, zstdFrameOf(Array(200).fill([2, block.length, block]), widest))).toBe("damaged-compression");
    }
    expect(process.cpuUsage(before).user / 1e3).toBeLessThan(5_000);
  });

  test("a table that begins with more symbols of no probability than there are", () => {
    // Of the lengths of literals: probabilities of 5 bits, the first of which is 0, and then "three more zeros" a hundred thousand times.
    const block = Buffer.concat([Buffer.from([0x00, 0x01, 0x80, 0x10, 0xfe]), Buffer.alloc(25_000, 0xff)]);
    const reads = vi.spyOn(ForwardBits.prototype, "read");
    const result = outcome(unzstdInScript, zstdFrameOf([[2, block.length, block]], widest));
    const { length } = reads.mock.calls;
    reads.mockRestore();
    expect([result, length < 100]).toEqual(["damaged-compression", true]);
  });

  test("many frames of nothing", () => {
    const empty = zstdFrameOf([[0, 0, Buffer.alloc(0)]], 0);
    expect(outcome(unzstd, Buffer.concat(Array<Buffer>(50_000).fill(empty)))).toHaveLength(0);
  });
});

describe("zstd in plain JavaScript", () => {
  test("reads a block without sequences, in whichever form it says that there are none", () => {
    for (const none of [[0x00], [0x80, 0x00]]) {
      const block = Buffer.from([0x08, 0x61, ...none]); // a literal
      expect(outcome(unzstdInScript, zstdFrameOf([[2, block.length, block]], 0)).toString()).toBe("a");
      expect(outcome(unzstdInScript, zstdFrameOf([[2, block.length + 1, Buffer.concat([block, block.subarray(0, 1)])]], 0))).toBe(
        "damaged-compression",
      );
    }
  });

  test("reads literals that are one byte, repeated", () => {
    const block = Buffer.from([0x29, 0x61, 0x00]); // five of it, and no sequences
    expect(outcome(unzstdInScript, zstdFrameOf([[2, block.length, block]], 0)).toString()).toBe("aaaaa");
  });

  test("refuses a frame that does not become as many bytes as it says, as zstd's own code does", () => {
    const stating = (size: number): Buffer =>
      Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, size]), rawFrame("one").subarray(6)]);
    for (const read of [unzstd, unzstdInScript]) {
      expect([2, 3, 4].map((size) => outcome(read, stating(size)).toString())).toEqual([
        "damaged-compression",
        "one",
        "damaged-compression",
      ]);
    }
  });
});

test("zstd: a frame that needs a dictionary is refused wherever it is read, and one that says it needs none is not", () => {
  const naming = (id: number): Buffer =>
    Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x00, id]), rawFrame("one").subarray(6)]);
  expect([7, 0].map((id) => outcome(unzstd, naming(id)).toString())).toEqual(["damaged-compression", "one"]);
  expect(() => unzstd(Buffer.concat([naming(0), naming(7)]), 1_000)).toThrow("it needs a dictionary, which Kafka does not have");
});

test("zstd in plain JavaScript gives what zstd's own code in WebAssembly gives, or nothing, whatever the bits are", () => {
  fc.assert(
    fc.property(fc.nat(zstdVectors.length - 1), fc.array(fc.tuple(fc.nat(), fc.nat(7)), { maxLength: 3 }), (index, flips) => {
      const bytes = Buffer.from(zstdVectors[index]?.bytes ?? []);
      for (const [at, bit] of flips) {
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << bit);
      }
      const byWasm = unzstdInWasm(bytes, Math.min(outputBound(bytes), outputLimit(bytes.length)));
      const byScript = outcome(unzstdInScript, bytes);
      // Checksums are looked at in WebAssembly alone, and all of the ends of streams here alone.
      expect(byWasm === null || !Buffer.isBuffer(byScript) || byScript.equals(byWasm)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

function isRefused(result: Buffer | string): boolean {
  return result === "damaged-compression" || result === "batch-too-large";
}

describe("damaged batches", () => {
  for (const { file, read, bytes, expected } of vectors.filter(({ name }) => name !== "rows")) {
    test(`${file} cut at any byte is an error, never a part`, () => {
      const cuts = bytes.length <= 400 ? [...bytes.keys()] : [...Array(200).keys()].map((i) => Math.floor((i * bytes.length) / 200));
      for (const cut of cuts) {
        const result = outcome(read, bytes.subarray(0, cut));
        // Joined streams may end after any whole one, and after the last block of a format without an end mark.
        const isComplete = Buffer.isBuffer(result) && (result.length === 0 || result.equals(expected));
        expect(isComplete || isRefused(result) ? "as expected" : `cut at ${cut}`).toBe("as expected");
      }
    });
  }

  for (const { file, read, bytes } of vectors) {
    test(`${file} with flipped bits is read or refused, within the bound`, () => {
      fc.assert(
        fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(7)), { minLength: 1, maxLength: 3 }), (flips) => {
          const changed = Buffer.from(bytes);
          for (const [at, bit] of flips) {
            changed[at] = (changed[at] ?? 0) ^ (1 << bit);
          }
          const result = outcome(read, changed);
          expect(Buffer.isBuffer(result) ? result.length <= outputLimit(bytes.length) : isRefused(result)).toBe(true);
        }),
        { numRuns: 60 },
      );
    });
  }

  test("noise is read or refused by every codec", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        for (const read of Object.values(readers)) {
          const result = outcome(read, Buffer.from(noise));
          expect(Buffer.isBuffer(result) || isRefused(result)).toBe(true);
        }
      }),
    );
  });
});

describe("batches that become too large are refused", () => {
  const huge = 200 * 1024 * 1024;

  test("gzip", () => {
    expect(outcome(gunzip, zlib.gzipSync(Buffer.alloc(huge / 2)))).toBe("batch-too-large");
  });

  test("snappy, by the length that it states", () => {
    expect(outcome(unsnappy, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x00]))).toBe("batch-too-large");
  });

  test("lz4, while it grows", () => {
    // One block of a match that goes on: each byte 255 adds 255 bytes.
    const block = Buffer.concat([Buffer.from([0x1f, 0x61, 0x01, 0x00]), Buffer.alloc(16_000, 255), Buffer.from([0, 0x00])]);
    const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x00]);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    const frame = Buffer.concat([header, size, block, Buffer.alloc(4)]);
    const within = (limit: number) => outcome(unlz4, frame, limit);
    expect(within(1_000_000)).toBe("batch-too-large");
    expect(within(5_000_000).length).toBeGreaterThan(4_000_000);
  });

  test("zstd, by its window and while it grows", () => {
    const wideWindow = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00]);
    expect(outcome(unzstd, wideWindow)).toBe("damaged-compression");
    const narrow = rawFrame("a");
    expect(outcome(unzstd, Buffer.concat([narrow, wideWindow]))).toBe("damaged-compression"); // of whichever frame
    expect(outcome(unzstd, Buffer.concat(Array<Buffer>(3).fill(rawFrame("a", 0x80))))).toBe("damaged-compression"); // 64 MiB each
    const frame = repeatedBlocks(huge / 131_072);
    expect(outcome(unzstdInScript, frame)).toBe("batch-too-large");
    expect(outcome(unzstd, frame)).toBe("batch-too-large");
  });
});

/** So many blocks of one repeated byte, 128 KiB each, which take four bytes each: no packer packs more. */
function repeatedBlocks(count: number): Buffer {
  const block = (isLast: boolean): Buffer => {
    const size = 131_072;
    return Buffer.from([(isLast ? 0x03 : 0x02) | ((size << 3) & 0xff), (size >> 5) & 0xff, (size >> 13) & 0xff, 0x61]);
  };
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
  return Buffer.concat([header, ...Array<Buffer>(count - 1).fill(block(false)), block(true)]);
}

describe("a batch that becomes much larger than it is", () => {
  /** Rows whose picture is black. */
  const messages = Buffer.from(`{"id":1,"picture":"${"A".repeat(1_000_000)}"}`.repeat(40));
  const ofNode = zlib as unknown as { readonly zstdCompressSync?: (bytes: Buffer) => Buffer }; // from Node 22.15 on
  const packed: readonly (readonly [string, CompressionName, Buffer, number])[] = [
    ["rows of JSON by Node's gzip", "gzip", zlib.gzipSync(messages), messages.length],
    ["one letter in zstd", "zstd", repeatedBlocks(200), 200 * 131_072],
    ...(ofNode.zstdCompressSync === undefined
      ? []
      : [["rows of JSON by Node's zstd", "zstd", ofNode.zstdCompressSync(messages), messages.length] as const]),
  ];

  test.each(packed)("%s is refused with the option that lets it through", (_what, compression, bytes) => {
    expect(() => decompress(compression, bytes)).toThrow(
      expect.objectContaining({ code: "batch-too-large", message: expect.stringContaining("maxDecompressedBytes") }),
    );
  });

  test.each(packed)(
    "%s is read if maxDecompressedBytes says so, which then is the only limit",
    async (_what, compression, bytes, length) => {
      expect(decompress(compression, bytes, { maxDecompressedBytes: length })).toHaveLength(length);
      expect(await decompressAsync(compression, bytes, { maxDecompressedBytes: length })).toHaveLength(length);
      expect(() => decompress(compression, bytes, { maxDecompressedBytes: length - 1 })).toThrow("batch-too-large");
    },
  );

  test("a codec of the caller's own is told that limit", () => {
    const limits: number[] = [];
    const gzip = (_bytes: Uint8Array, maxBytes: number): Uint8Array => {
      limits.push(maxBytes);
      return new Uint8Array(20_000_000);
    };
    expect(decompress("gzip", Buffer.alloc(10), { maxDecompressedBytes: 30_000_000, codecs: { gzip } })).toHaveLength(20_000_000);
    expect(limits).toEqual([30_000_000]);
  });
});

test("snappy-java's framing takes no view for a block, of which a batch may have millions", () => {
  const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
  const empty = Buffer.from([0, 0, 0, 1, 0]); // one byte, which says that the block unpacks to nothing
  const letter = Buffer.from([0, 0, 0, 3, 1, 0, 0x61]);
  const views = vi.spyOn(Buffer.prototype, "subarray");
  const unpacked = unsnappy(Buffer.concat([header, ...Array<Buffer>(1_000).fill(empty), letter, header, letter]), 2);
  const { length } = views.mock.calls;
  views.mockRestore();
  expect([unpacked.toString(), length < 10]).toEqual(["aa", true]);
});

test("lz4 takes no view for a block, of which a batch may have hundreds of thousands", () => {
  const header = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
  const packed = Buffer.from([2, 0, 0, 0, 0x10, 0x61]); // a literal
  const plain = Buffer.from([1, 0, 0, 0x80, 0x62]);
  const frame = Buffer.concat([header, ...Array<Buffer>(1_000).fill(Buffer.concat([packed, plain])), Buffer.alloc(4)]);
  const views = vi.spyOn(Buffer.prototype, "subarray");
  const unpacked = unlz4(frame, 10_000);
  const { length } = views.mock.calls;
  views.mockRestore();
  expect([unpacked.toString(), length < 10]).toEqual(["ab".repeat(1_000), true]);
});

describe("batches that repeat themselves are read", () => {
  // Sizes that Kafka's own codecs made of 10,000 messages of JSON with schema; see maxRatio.
  for (const [what, compressedBytes, bytes] of [
    ["rows of a table, zstd", 812_674, 52_611_000],
    ["changes of one row, zstd", 189_529, 52_574_000],
    ["changes of one row in a batch of 16 KiB, zstd", 16_384, 16_384 * 277],
    ["changes of one row in a batch of 1 MiB, zstd", 1_048_576, 1_048_576 * 277],
    ["changes of one row, gzip", 632_791, 52_574_000],
    ["an update of a row of 1 MB whose text repeats itself, zstd", 364, 2_000_100],
    ["an update of a row of 6 MB of zeros, zstd", 1_210, 12_000_100],
  ] as const) {
    test(what, () => {
      expect(outputLimit(compressedBytes)).toBeGreaterThan(bytes);
    });
  }

  test("changes of one row, by the thousand, are unpacked", () => {
    const schema = `{"schema":{"fields":[${Array.from({ length: 120 }, (_, i) => `{"type":"int32","field":"column_${i}"}`).join(",")}]}`;
    const messages = Buffer.from(
      Array.from({ length: 2_000 }, (_, i) => `${schema},"payload":{"op":"u","ts_ms":${1_700_000_000_000 + i}}}`).join("\n"),
    );
    const packed = zlib.gzipSync(messages, { level: 9 });
    expect(gunzip(packed, outputLimit(packed.length)).equals(messages)).toBe(true);
  });
});
