import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecordBatchError, type RecordBatchError } from "./errors.ts";
import { createRecordSetReader } from "./record-set-reader.ts";
import { fetched, marker, record, recordsOf, setsOf, withCrc, writtenBatch } from "./written-batches.contract.ts";
import { bytesOfPart, compressedMessage, mixedLogArbitrary, withMessageCrc, writtenMessage } from "./written-messages.contract.ts";

/** Where fields of a batch stand. */
const at = { length: 8, magic: 16, crc: 17, attributes: 21, lastOffsetDelta: 23, recordCount: 57, records: 61 };

async function two(change: (second: Buffer) => Buffer | undefined): Promise<Buffer> {
  const second = await writtenBatch({ records: [record(2n), record(3n)] });
  return Buffer.concat([await writtenBatch({ records: [record(0n), record(1n)] }), change(second) ?? second]);
}

/** The records that are handed over before the error, and the error. */
function outcome(bytes: Buffer): { readonly offsets: bigint[]; readonly error: RecordBatchError } {
  const reader = createRecordSetReader(fetched(bytes));
  const first = reader.read();
  const offsets = first === null ? [] : recordsOf([first]).map(({ offset }) => offset);
  try {
    reader.read();
  } catch (error) {
    if (isRecordBatchError(error)) {
      expect(() => reader.read()).toThrow(error);
      return { offsets, error };
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a batch that cannot be read", () => {
  for (const [what, change, code, expected, found] of [
    [
      "a flipped bit",
      (b: Buffer) => void b.writeUInt8((b[70] ?? 0) ^ 4, 70),
      "crc-mismatch",
      expect.stringMatching(/^0x/),
      expect.stringMatching(/^0x/),
    ],
    [
      "a flipped bit in the number of its compression",
      (b: Buffer) => void patched(b, at.attributes + 1, 6),
      "crc-mismatch",
      expect.stringMatching(/^0x/),
      expect.stringMatching(/^0x/),
    ],
    [
      "an older message format than its own",
      (b: Buffer) => void b.writeInt8(1, at.magic),
      "crc-mismatch",
      expect.stringMatching(/^0x/),
      expect.stringMatching(/^0x/),
    ],
    ["a format that does not exist", (b: Buffer) => void b.writeInt8(77, at.magic), "unsupported-magic", "0 to 2", 77],
    ["a length that no batch can have", (b: Buffer) => void b.writeInt32BE(40, at.length), "malformed-batch", "at least 61 bytes", 52],
    ["a negative length", (b: Buffer) => void b.writeInt32BE(-20, at.length), "malformed-batch", "at least 61 bytes", -8],
    ["an offset that was there before", (b: Buffer) => void b.writeBigInt64BE(1n, 0), "malformed-batch", "2 or higher", 1n],
    ["an offset below zero", (b: Buffer) => void b.writeBigInt64BE(-5n, 0), "malformed-batch", "2 or higher", -5n],
    ["an offset too high", (b: Buffer) => void b.writeBigInt64BE(2n ** 63n - 1n, 0), "malformed-batch", expect.anything(), 2n ** 63n],
    ["a compression that does not exist", (b: Buffer) => withCrc(patched(b, at.attributes + 1, 6)), "unsupported-compression", "0 to 4", 6],
    ["a compression that it does not have", (b: Buffer) => withCrc(patched(b, at.attributes + 1, 1)), "damaged-compression", null, null],
    ["fewer offsets than records", (b: Buffer) => withCrc(patched(b, at.lastOffsetDelta + 3, 0)), "malformed-batch", "0 to 1", 2],
    [
      "more records than it has",
      (b: Buffer) => withCrc(patched(patched(b, at.recordCount + 3, 3), at.lastOffsetDelta + 3, 9)),
      "malformed-batch",
      "a varint",
      "the end of the batch",
    ],
    [
      "fewer records than it has",
      (b: Buffer) => withCrc(patched(b, at.recordCount + 3, 1)),
      "malformed-batch",
      expect.any(Number),
      expect.any(Number),
    ],
    ["a record longer than the batch", (b: Buffer) => withCrc(patched(b, at.records, 0x7e)), "malformed-batch", expect.any(String), 63],
    ["an offset outside of the batch", (b: Buffer) => withCrc(patched(b, at.records + 3, 0x0e)), "malformed-batch", "0 to 1", 7],
    ["a key longer than its record", (b: Buffer) => withCrc(patched(b, at.records + 4, 0x7e)), "malformed-batch", expect.any(String), 63],
  ] as const) {
    test(`${what}: what comes before is handed over, and the error names the offset`, async () => {
      const { offsets, error } = outcome(await two((second) => change(second) ?? second));
      expect(offsets).toEqual([0n, 1n]);
      expect(error).toMatchObject({ code, expected, found, topic: "orders", partition: 3 });
      expect(error.message).toMatch(/^\[[a-z-]+\] the record batch at offset -?\d+ of orders\[3\]: .+ .+\. ?.*/);
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code, offset: String(error.offset) });
    });
  }

  test("is handed over without a check of checksums, if it can be read", async () => {
    const bytes = await two((second) => void second.writeUInt8((second[second.length - 3] ?? 0) ^ 1, second.length - 3));
    expect(() => setsOf(fetched(bytes), { setBytes: 1 })).toThrow(expect.objectContaining({ code: "crc-mismatch", offset: 2n }));
    expect(recordsOf(setsOf(fetched(bytes), { checkCrcs: false }))).toHaveLength(4);
  });

  test("a record with so many headers that they would fill the memory", async () => {
    const withHeaders = (count: number): Promise<Buffer> => {
      const headers = Array<readonly [string, Buffer]>(count).fill(["h", Buffer.alloc(0)]);
      return writtenBatch({ records: [{ ...record(0n), headers }], compression: "gzip" });
    };
    expect(setsOf(fetched(await withHeaders(100_000)))).toHaveLength(1);
    const tooMany = await withHeaders(100_001);
    expect(() => setsOf(fetched(tooMany))).toThrow(expect.objectContaining({ code: "batch-too-large", found: 100_001 }));
  });

  test("a control record whose key is too short for its type", async () => {
    const records = [{ offset: 1n, timestamp: 0n, key: Buffer.alloc(3), value: null, headers: [] }];
    const bytes = await writtenBatch({ records, producerId: 5n, isTransactional: true, isControl: true });
    const abortedTransactions = [{ producerId: 5n, firstOffset: 0n }];
    expect(() => setsOf(fetched(bytes, { abortedTransactions }))).toThrow(expect.objectContaining({ code: "malformed-batch" }));
  });
});

describe("options", () => {
  for (const options of [
    { setBytes: 0 },
    { maxDecompressedBytes: Number.NaN },
    { maxDecompressedBytes: 2 ** 30 + 1 },
    { checkCrcs: 1 },
    { codecs: { gzip: "zlib" } },
    { codecs: { brotli: () => new Uint8Array(0) } },
    { codecs: null },
    { checkCRCs: false },
  ]) {
    test(`${JSON.stringify(options)} is refused`, () => {
      expect(() => createRecordSetReader(fetched(new Uint8Array(0)), options as never)).toThrow(
        expect.objectContaining({ code: "invalid-option", message: expect.stringContaining(Object.keys(options)[0] ?? "") }),
      );
    });
  }

  test("a codec of the caller's own is asked, and held to the limit", async () => {
    const bytes = await writtenBatch({ records: [record(0n)], compression: "gzip" });
    const open = (gzip: () => Uint8Array) => () => setsOf(fetched(bytes), { codecs: { gzip } });
    const plain = (await writtenBatch({ records: [record(0n)] })).subarray(at.records);
    expect(recordsOf(open(() => plain)())).toHaveLength(1);
    expect(open(() => new Uint8Array(20_000_000))).toThrow(expect.objectContaining({ code: "batch-too-large" }));
    expect(open(() => "text" as never)).toThrow(expect.objectContaining({ code: "damaged-compression" }));
    const broken = (): never => {
      throw new Error("broken");
    };
    expect(open(broken)).toThrow(expect.objectContaining({ code: "damaged-compression", cause: expect.any(Error) }));
  });

  test("a batch that becomes too large is refused", async () => {
    const bytes = await writtenBatch({ records: [record(0n, "x".repeat(5_000))], compression: "gzip" });
    expect(() => setsOf(fetched(bytes), { maxDecompressedBytes: 4_000 })).toThrow(
      expect.objectContaining({ code: "batch-too-large", offset: 0n }),
    );
  });
});

describe("fuzz", () => {
  test("mutated and cut responses give records or an error of the package, within bounds, checked or not", async () => {
    const mutation = fc.record({ at: fc.nat(), byte: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(
        mixedLogArbitrary,
        fc.array(mutation, { maxLength: 4 }),
        fc.nat(),
        fc.boolean(),
        fc.boolean(),
        async (log, mutations, cut, mends, cuts) => {
          const parts = [...(await Promise.all(log.map(bytesOfPart))), await marker("abort", 2n ** 62n, 9n)];
          for (const [i, change] of mutations.entries()) {
            const part = parts[change.at % parts.length] as Buffer;
            part[(change.at + i) % part.length] = change.byte;
            if (mends) {
              mend(part); // as a writer that has a bug, or means harm
            }
          }
          const whole = Buffer.concat(parts);
          const bytes = cuts ? whole.subarray(0, cut % (whole.length + 1)) : whole;
          judge(bytes, true);
          judge(bytes, false);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("mutated messages inside of a compressed one give records or an error of the package", () => {
    const mutation = fc.record({ at: fc.nat(), byte: fc.nat(255) });
    const messages = fc.array(fc.tuple(fc.constantFrom(0 as const, 1 as const), fc.nat(3)), { maxLength: 5 });
    const outer = fc.record({ format: fc.constantFrom(0 as const, 1 as const), offset: fc.bigInt(-1n, 9n), flag: fc.constantFrom(0, 8) });
    fc.assert(
      fc.property(
        outer,
        messages,
        fc.array(mutation, { maxLength: 3 }),
        fc.boolean(),
        ({ format, offset, flag }, inner, mutations, mends) => {
          const parts = inner.map(([innerFormat, gap], i) => writtenMessage(innerFormat, record(BigInt(i + gap))));
          for (const change of parts.length === 0 ? [] : mutations) {
            const part = parts[change.at % parts.length] as Buffer;
            part[change.at % part.length] = change.byte;
            if (mends) {
              mend(part);
            }
          }
          const bytes = compressedMessage(format, offset, "gzip", Buffer.concat(parts), flag);
          judge(bytes, true);
          judge(bytes, false);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("noise gives nothing or an error of the package", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => judge(Buffer.from(noise), true)));
  });
});

/** Gives the batch, or the first message, the checksum of its bytes as they are now. */
function mend(part: Buffer): void {
  if ((part[at.magic] ?? 2) >= 2) {
    withCrc(part);
    return;
  }
  const end = Math.min(part.length, Math.max(at.magic, 12 + part.readInt32BE(at.length)));
  withMessageCrc(part.subarray(0, end));
}

/** Reads everything that there is to read. Anything but the package's own error fails. */
function judge(bytes: Buffer, checkCrcs: boolean): void {
  const abortedTransactions = [{ producerId: 9n, firstOffset: 0n }];
  const reader = createRecordSetReader(fetched(bytes, { abortedTransactions, highWatermark: 0n }), { checkCrcs });
  let nextOffset = 0n;
  reader.end(); // never throws
  try {
    for (let set = reader.read(); set !== null; set = reader.read()) {
      const records = recordsOf([set]);
      expect(records).toHaveLength(set.recordCount);
      for (const { offset } of records) {
        expect(offset).toBeGreaterThanOrEqual(nextOffset);
        nextOffset = offset + 1n;
      }
      expect(set.nextOffset).toBeGreaterThanOrEqual(nextOffset);
      expect(set.byteLength).toBeLessThan(512 * bytes.length + 2 ** 25);
    }
  } catch (error) {
    if (!isRecordBatchError(error)) {
      throw error;
    }
    expect(error.code).not.toBe("invalid-option");
  }
}

function patched(bytes: Buffer, position: number, byte: number): Buffer {
  bytes[position] = byte;
  return bytes;
}
