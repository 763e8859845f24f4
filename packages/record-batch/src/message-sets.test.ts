import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecordBatchError, type RecordBatchError } from "./errors.ts";
import { createRecordSetReader } from "./record-set-reader.ts";
import { fetched, record, recordsOf, setsOf, type WrittenRecord } from "./written-batches.contract.ts";
import {
  appendTime,
  bytesOfPart,
  compressedMessage,
  mixedLogArbitrary,
  type OldFormat,
  recordsOfPart,
  withMessageCrc,
  writtenMessage,
  writtenMessages,
} from "./written-messages.contract.ts";

/** What Kafka's Java client wrote, and what its reader finds in it. */
interface Vector {
  readonly name: string;
  readonly bytes: string;
  readonly nextOffset: number;
  readonly records: readonly { readonly offset: number; readonly timestamp: number; readonly key: Side; readonly value: Side }[];
}
type Side = string | null | { readonly sha256: string };

const vectors = readFileSync(new URL("../vectors/message-sets.ndjson", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Vector);

/** The record as the vectors have it. */
function inVector({ offset, timestamp, key, value }: WrittenRecord): Vector["records"][number] {
  return { offset: Number(offset), timestamp: Number(timestamp), key: sideInVector(key), value: sideInVector(value) };
}

function sideInVector(side: Buffer | null): Side {
  if (side === null) {
    return null;
  }
  return side.length > 1_000 ? { sha256: createHash("sha256").update(side).digest("hex") } : side.toString("base64");
}

describe("what Kafka's Java client wrote is read as its own reader reads it", () => {
  for (const { name, bytes: base64, nextOffset, records } of vectors) {
    test(name, () => {
      const bytes = Buffer.from(base64, "base64");
      for (const options of [{}, { setBytes: 1 }, { setBytes: 100 }, { checkCrcs: false }]) {
        const sets = setsOf(fetched(bytes), options);
        expect(recordsOf(sets).map(inVector)).toEqual(records);
        expect(sets.at(-1)?.nextOffset).toBe(BigInt(nextOffset));
        expect(sets.reduce((sum, { wireBytes }) => sum + wireBytes, 0)).toBe(bytes.length);
      }
      for (const highWatermark of [null, BigInt(nextOffset), 0n]) {
        expect(createRecordSetReader(fetched(bytes, { highWatermark })).end()?.nextOffset).toBe(BigInt(nextOffset));
      }
      for (const { offset } of records) {
        const sets = setsOf(fetched(bytes, { fromOffset: BigInt(offset) }));
        expect(recordsOf(sets).map(inVector)).toEqual(records.filter((one) => one.offset >= offset));
      }
    });
  }
});

describe("what kafkajs wrote is read", () => {
  test("in any order of formats and compressions, with gaps, whatever the sets hold", async () => {
    await fc.assert(
      fc.asyncProperty(mixedLogArbitrary, fc.integer({ min: 1, max: 3_000 }), fc.nat(), async (log, setBytes, skipped) => {
        const bytes = Buffer.concat(await Promise.all(log.map(bytesOfPart)));
        const written = log.flatMap(recordsOfPart);
        const sets = setsOf(fetched(bytes), { setBytes });
        const nextOffset = (written.at(-1)?.offset ?? 0n) + 1n;
        expect(recordsOf(sets)).toEqual(written);
        expect(sets.at(-1)?.nextOffset).toBe(nextOffset);
        expect(createRecordSetReader(fetched(bytes)).end()?.nextOffset).toBe(nextOffset);
        expect(sets.reduce((sum, { wireBytes }) => sum + wireBytes, 0)).toBe(bytes.length);
        const fromOffset = written[skipped % written.length]?.offset ?? 0n;
        expect(recordsOf(setsOf(fetched(bytes, { fromOffset }), { setBytes }))).toEqual(
          written.filter(({ offset }) => offset >= fromOffset),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("messages of formats 0 and 1", () => {
  test("have no leader epoch and no headers, and those of format 0 no time", () => {
    const bytes = writtenMessages({ format: 0, records: [record(0n)] });
    const [set] = setsOf(fetched(bytes));
    expect(set?.lastLeaderEpoch).toBeNull();
    expect(recordsOf(set === undefined ? [] : [set])).toEqual([{ ...record(0n), timestamp: -1n }]);
    expect(createRecordSetReader(fetched(bytes)).end()).toEqual({ nextOffset: 1n, leaderEpoch: null });
    expect(createRecordSetReader(fetched(bytes)).prepare()).toBeNull();
  });

  test("end a set with the one that takes it to its size, if they are not compressed", () => {
    const records = [0n, 1n, 2n, 3n].map((offset) => record(offset, "x".repeat(100)));
    const bytes = writtenMessages({ format: 1, records });
    expect(setsOf(fetched(bytes)).map(({ recordCount }) => recordCount)).toEqual([4]);
    expect(setsOf(fetched(bytes), { setBytes: 110 }).map(({ recordCount }) => recordCount)).toEqual([1, 1, 1, 1]);
    expect(setsOf(fetched(bytes), { setBytes: 150 }).map(({ recordCount }) => recordCount)).toEqual([2, 2]);
  });

  test("that end below the offset that was asked for are not decompressed", () => {
    const damaged = writtenMessage(1, { offset: 4n, timestamp: 0n, key: null, value: Buffer.from("no gzip") }, 1);
    const bytes = Buffer.concat([damaged, writtenMessage(1, record(5n))]);
    const sets = setsOf(fetched(bytes, { fromOffset: 5n }));
    expect([recordsOf(sets).map(({ offset }) => offset), sets.at(-1)?.nextOffset]).toEqual([[5n], 6n]);
  });

  test("of format 0 are read inside of a compressed one of format 1, and the other way round, as Kafka's Java client does", () => {
    const old = writtenMessage(0, { ...record(0n), timestamp: -1n });
    const newer = writtenMessage(1, record(1n));
    const [ofOld, ofNewer] = recordsOf(setsOf(fetched(compressedMessage(1, 8n, "gzip", Buffer.concat([old, newer]), 0x08))));
    expect([ofOld?.offset, ofOld?.timestamp, ofNewer?.offset, ofNewer?.timestamp]).toEqual([7n, -1n, 8n, appendTime]);
    const other = recordsOf(setsOf(fetched(compressedMessage(0, 1n, "gzip", Buffer.concat([old, newer])))));
    expect(other.map(({ offset, timestamp }) => [offset, timestamp])).toEqual([
      [0n, -1n],
      [1n, record(1n).timestamp],
    ]);
  });

  test("keep no memory that their records do not need", () => {
    const records = Array.from({ length: 1_000 }, (_, i) => ({ ...record(BigInt(i)), key: null, value: Buffer.of(i) }));
    for (const compression of ["none", "gzip"] as const) {
      const [set] = setsOf(fetched(writtenMessages({ format: 0, compression, records })));
      const walk = set?.walk();
      expect(walk?.next()).toBe(true);
      expect(walk?.valueBytes?.buffer.byteLength).toBeLessThanOrEqual(2 * (set?.byteLength ?? 0));
    }
  });

  test("may have times that are far from each other", () => {
    const times = [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n];
    const records = times.map((timestamp, i) => ({ ...record(BigInt(i)), timestamp }));
    const bytes = writtenMessages({ format: 1, records });
    expect(recordsOf(setsOf(fetched(bytes))).map(({ timestamp }) => timestamp)).toEqual(times);
  });

  test("may be further from each other than a batch can say", () => {
    const offsets = [0n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 40n, 2n ** 63n - 2n];
    const bytes = writtenMessages({ format: 0, records: offsets.map((offset) => record(offset)) });
    expect(offsetsOf(bytes)).toEqual(offsets);
  });
});

describe("a fetch of messages", () => {
  test("whose last one is cut gives those before it", async () => {
    for (const format of [0, 1] as const) {
      for (const compression of ["none", "gzip"] as const) {
        const first = writtenMessages({ format, compression, records: [record(0n), record(1n)] });
        const bytes = Buffer.concat([first, writtenMessages({ format, compression, records: [record(2n)] })]);
        for (let end = first.length; end < bytes.length; end++) {
          const cut = fetched(bytes.subarray(0, end));
          expect(recordsOf(setsOf(cut)).map(({ offset }) => offset)).toEqual([0n, 1n]);
          expect(createRecordSetReader(cut).end()?.nextOffset).toBe(2n);
        }
      }
    }
  });

  test("that holds a part of one message says how many bytes are needed", () => {
    const bytes = writtenMessages({ format: 1, records: [record(7n)] });
    for (let end = 1; end < bytes.length; end++) {
      const cut = fetched(bytes.subarray(0, end), { fromOffset: 7n });
      expect(() => setsOf(cut)).toThrow(
        expect.objectContaining({ code: "incomplete-batch", offset: 7n, neededBytes: end < 17 ? null : bytes.length }),
      );
      expect(createRecordSetReader(cut).end()).toBeNull();
    }
  });

  test("has an end, which a damaged message does not move out of the log", () => {
    const first = writtenMessages({ format: 1, records: [record(0n), record(1n)] });
    const second = writtenMessages({ format: 0, compression: "gzip", records: [record(2n), record(3n)] });
    const bytes = Buffer.concat([first, second]);
    const endOf = (highWatermark: bigint | null): bigint | undefined =>
      createRecordSetReader(fetched(bytes, { highWatermark })).end()?.nextOffset;
    expect([endOf(null), endOf(4n)]).toEqual([4n, 4n]);
    bytes.writeBigInt64BE(2n ** 40n, first.length);
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    expect([endOf(null), endOf(4n)]).toEqual([2n ** 40n + 1n, 2n]);
  });
});

describe("a message that cannot be read", () => {
  const uncompressed = writtenMessage(1, record(2n));
  for (const [what, second, code, expected, found] of [
    ["a flipped bit", patched(uncompressed, 40, 0xff), "crc-mismatch", expect.stringMatching(/^0x/), expect.stringMatching(/^0x/)],
    ["a size that no message can have", patched(uncompressed, 11, 3), "malformed-batch", "at least 34 bytes", 15],
    ["a negative size", patched(uncompressed, 8, 0xff), "malformed-batch", "at least 34 bytes", expect.any(Number)],
    ["a negative length of its key", mended(uncompressed, 29, -2), "malformed-batch", expect.stringMatching(/^-1 to/), 254],
    ["a key longer than the message", mended(uncompressed, 28, 1), "malformed-batch", expect.stringMatching(/^-1 to/), 261],
    [
      "a key that leaves no room for a value",
      mended(uncompressed, 29, 16),
      "malformed-batch",
      "a length of 4 bytes",
      "the end of the message",
    ],
    ["a value that ends too early", mended(uncompressed, 38, 2), "malformed-batch", expect.stringMatching(/as its fields take$/), 46],
    ["an offset that was there before", written(1, 1n), "malformed-batch", "2 or higher", 1n],
    ["an offset below zero", written(0, -5n), "malformed-batch", "2 or higher", -5n],
    ["an offset after which there is none", written(0, 2n ** 63n - 1n), "malformed-batch", expect.anything(), 2n ** 63n - 1n],
    ["zstd, which its format does not have", writtenMessage(1, record(2n), 4), "unsupported-compression", "0 to 3", 4],
    ["a compression that does not exist", writtenMessage(0, record(2n), 7), "unsupported-compression", "0 to 3", 7],
    ["a compression that it does not have", writtenMessage(1, record(2n), 1), "damaged-compression", null, null],
    ["no value where it is compressed", writtenMessage(1, { ...record(2n), value: null }, 1), "malformed-batch", "messages", "null"],
    ["nothing inside", compressedMessage(0, 2n, "gzip", Buffer.alloc(0)), "malformed-batch", "at least 1", 0],
    ["a cut message inside", around(writtenMessage(0, record(2n)).subarray(0, -1)), "malformed-batch", "26 to 37 bytes", 38],
    ["a few bytes inside", around(Buffer.alloc(20)), "malformed-batch", "at least 26", 20],
    ["a small size inside", around(patched(writtenMessage(0, record(2n)), 11, 1)), "malformed-batch", expect.stringMatching(/^26 to/), 13],
    [
      "a flipped bit inside",
      around(patched(writtenMessage(0, record(2n)), 30, 0xff)),
      "crc-mismatch",
      expect.anything(),
      expect.anything(),
    ],
    ["a record batch inside", around(patched(writtenMessage(1, record(2n)), 16, 2)), "unsupported-magic", "0 or 1", 2],
    ["a compressed message inside", around(around(writtenMessage(0, record(2n)))), "malformed-batch", "none", "gzip"],
    ["falling offsets inside", around(written(0, 3n), written(0, 2n)), "malformed-batch", expect.stringMatching(/^0 to /), -1n],
    ["the same offset twice inside", around(written(0, 2n), written(0, 2n)), "malformed-batch", expect.anything(), 0],
    [
      "offsets inside that are far from each other",
      around(written(0, 2n), written(0, 2n ** 32n)),
      "malformed-batch",
      expect.anything(),
      2n ** 32n - 2n,
    ],
    [
      "an offset inside above its own",
      compressedMessage(0, 3n, "gzip", Buffer.concat([written(0, 2n), written(0, 9n)])),
      "malformed-batch",
      "1 to 1",
      7,
    ],
    [
      "offsets inside from before",
      compressedMessage(1, 2n, "gzip", Buffer.concat([written(1, 0n), written(1, 1n)])),
      "malformed-batch",
      "2 or higher",
      1n,
    ],
  ] as const) {
    test(`${what}: what comes before is handed over, and the error names the offset`, () => {
      const bytes = Buffer.concat([writtenMessages({ format: 0, records: [record(0n), record(1n)] }), second]);
      const { offsets, error } = outcome(bytes);
      expect(offsets).toEqual([0n, 1n]);
      expect(error).toMatchObject({ code, expected, found, topic: "orders", partition: 3 });
      const isCompressed = (second.at(17) ?? 0) % 8 !== 0;
      expect(error.offset).toBe(isCompressed ? 2n : second.readBigInt64BE());
      expect(error.message).toMatch(/^\[[a-z-]+\] the record batch at offset -?\d+ of orders\[3\]: .+ .+\. ?.*/);
    });
  }

  test("is handed over without a check of checksums, if it can be read", () => {
    const inside = patched(writtenMessage(1, record(2n)), 13, 0xff);
    const outer = patched(compressedMessage(1, 2n, "gzip", inside), 13, 0xff);
    expect(() => setsOf(fetched(outer))).toThrow(expect.objectContaining({ code: "crc-mismatch" }));
    expect(recordsOf(setsOf(fetched(outer), { checkCrcs: false }))).toEqual([record(2n)]);
  });

  test("becomes too many bytes", () => {
    const bomb = compressedMessage(1, 0n, "gzip", Buffer.alloc(50_000_000));
    expect(() => setsOf(fetched(bomb))).toThrow(expect.objectContaining({ code: "batch-too-large" }));
    const long = writtenMessages({ format: 0, compression: "lz4", records: [record(0n, "x".repeat(5_000))] });
    expect(() => setsOf(fetched(long), { maxDecompressedBytes: 4_000 })).toThrow(expect.objectContaining({ code: "batch-too-large" }));
  });
});

/** The records that are handed over before the error, and the error. */
function outcome(bytes: Buffer): { readonly offsets: bigint[]; readonly error: RecordBatchError } {
  const reader = createRecordSetReader(fetched(bytes));
  const first = reader.read();
  try {
    reader.read();
  } catch (error) {
    if (isRecordBatchError(error)) {
      expect(() => reader.read()).toThrow(error);
      return { offsets: first === null ? [] : recordsOf([first]).map(({ offset }) => offset), error };
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

function offsetsOf(bytes: Buffer): bigint[] {
  return recordsOf(setsOf(fetched(bytes))).map(({ offset }) => offset);
}

function written(format: OldFormat, offset: bigint): Buffer {
  return writtenMessage(format, record(offset));
}

/** A compressed message of format 0 with these inside. */
function around(...messages: readonly Buffer[]): Buffer {
  return compressedMessage(0, 2n ** 32n, "gzip", Buffer.concat(messages));
}

/** The bytes with one that is replaced. */
function patched(bytes: Buffer, position: number, byte: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(byte & 0xff, position);
  return copy;
}

function mended(bytes: Buffer, position: number, byte: number): Buffer {
  return withMessageCrc(patched(bytes, position, byte));
}
