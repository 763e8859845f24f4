import * as zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { checkedFrom } from "./batch-header.ts";
import { createRecordSetReader } from "./record-set-reader.ts";
import { fetched, logArbitrary, record, recordsOf, setsOf, type WrittenBatch, writtenBatch } from "./written-batches.contract.ts";

async function bytesOf(batches: readonly WrittenBatch[]): Promise<Buffer> {
  return Buffer.concat(await Promise.all(batches.map(writtenBatch)));
}

describe("what kafkajs writes is read", () => {
  test("in every compression, with gaps, whatever the sets hold", async () => {
    await fc.assert(
      fc.asyncProperty(logArbitrary, fc.integer({ min: 1, max: 3_000 }), async (log, setBytes) => {
        const bytes = await bytesOf(log);
        const sets = setsOf(fetched(bytes), { setBytes });
        expect(sets.reduce((sum, { wireBytes }) => sum + wireBytes, 0)).toBe(bytes.length);
        const written = log.flatMap(({ records }) => records);
        expect(recordsOf(sets)).toEqual(written);
        expect(sets.reduce((sum, { recordCount }) => sum + recordCount, 0)).toBe(written.length);
        expect(sets.at(-1)?.nextOffset).toBe((written.at(-1)?.offset ?? 0n) + 1n);
        expect(sets.at(-1)?.lastLeaderEpoch).toBe(log.at(-1)?.leaderEpoch);
      }),
      { numRuns: 60 },
    );
  });

  test("records are asked for by their handle in any order", async () => {
    await fc.assert(
      fc.asyncProperty(logArbitrary, async (log) => {
        const [set] = setsOf(fetched(await bytesOf(log)));
        const handles: number[] = [];
        for (const walk = set?.walk(); walk?.next() === true; ) {
          handles.push(walk.record);
        }
        const written = log.flatMap(({ records }) => records);
        for (const i of handles.map((_, at) => at).reverse()) {
          const handle = handles[i] ?? -1;
          const { key, value, offset, timestamp, headers } = written[i] ?? record(-1n);
          expect([set?.keyAt(handle), set?.valueAt(handle)]).toEqual([key, value]);
          expect([set?.offsetAt(handle), set?.timestampAt(handle)]).toEqual([offset, timestamp]);
          expect(set?.headersAt(handle)).toEqual(headers);
          const names = headers.map(([name]) => name);
          expect(set?.headerNamesAre(handle, names)).toBe(true);
          expect(set?.headerNamesAre(handle, [...names, "more"])).toBe(false);
          expect(
            set?.headerNamesAre(
              handle,
              names.map((name) => `${name}.`),
            ),
          ).toBe(names.length === 0);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("a fetch", () => {
  test("of records whose times are out of the range of 64 bits gives them as Java adds them", async () => {
    const last = 2n ** 63n - 1n;
    const bytes = await bytesOf([
      {
        records: [
          { ...record(0n), timestamp: last },
          { ...record(1n), timestamp: last + 1n },
        ],
      },
    ]);
    expect(recordsOf(setsOf(fetched(bytes))).map(({ timestamp }) => timestamp)).toEqual([last, -last - 1n]);
  });

  test("that begins inside of a batch gives the records from its offset on", async () => {
    const bytes = await bytesOf([{ records: [record(10n), record(12n), record(13n)] }, { records: [record(14n)] }]);
    for (const [fromOffset, offsets] of [
      [10n, [10n, 12n, 13n, 14n]],
      [11n, [12n, 13n, 14n]],
      [13n, [13n, 14n]],
      [14n, [14n]],
      [15n, []],
    ] as const) {
      const sets = setsOf(fetched(bytes, { fromOffset }));
      expect(recordsOf(sets).map(({ offset }) => offset)).toEqual(offsets);
      expect(sets.at(-1)?.nextOffset).toBe(15n);
    }
  });

  test("whose last batch is cut gives the batches before it", async () => {
    const first = await bytesOf([{ records: [record(0n), record(1n)] }]);
    const bytes = await bytesOf([{ records: [record(0n), record(1n)] }, { records: [record(2n)] }]);
    for (let end = first.length; end < bytes.length; end++) {
      const sets = setsOf(fetched(bytes.subarray(0, end)));
      expect(recordsOf(sets).map(({ offset }) => offset)).toEqual([0n, 1n]);
      expect(sets.at(-1)?.nextOffset).toBe(2n);
    }
  });

  test("that holds a part of one batch says how many bytes are needed", async () => {
    const bytes = await bytesOf([{ records: [record(7n)] }]);
    for (let end = 1; end < bytes.length; end++) {
      expect(() => setsOf(fetched(bytes.subarray(0, end), { fromOffset: 7n }))).toThrow(
        expect.objectContaining({ code: "incomplete-batch", offset: 7n, neededBytes: end < 17 ? null : bytes.length }),
      );
    }
  });

  test("is prepared by loading what its compression needs, once, where Node does not have it", async () => {
    vi.resetModules(); // another test may have loaded it
    const { createRecordSetReader } = await import("./record-set-reader.ts");
    const bytes = await bytesOf([{ records: [record(0n)], compression: "gzip" }]);
    expect(createRecordSetReader(fetched(bytes)).prepare()).toBeNull();
    bytes.writeInt16BE(4, checkedFrom); // the attributes: zstd
    expect(createRecordSetReader(fetched(bytes), { codecs: { zstd: () => new Uint8Array(0) } }).prepare(), "it is not asked").toBeNull();
    const reader = createRecordSetReader(fetched(bytes));
    expect(reader.prepare() === null).toBe("zstdDecompressSync" in zlib);
    await reader.prepare();
    expect(reader.prepare()).toBeNull();
    expect(createRecordSetReader(fetched(bytes.subarray(0, 60))).prepare()).toBeNull();
  });

  test("ends after its last batch, and a damaged header does not move that end out of the log", async () => {
    const bytes = await bytesOf([{ records: [record(0n), record(1n)] }, { records: [record(2n)] }, { records: [record(3n)] }]);
    const second = (await bytesOf([{ records: [record(0n), record(1n)] }])).length;
    const endOf = (highWatermark: bigint | null, checkCrcs = true): bigint | undefined =>
      createRecordSetReader(fetched(bytes, { highWatermark }), { checkCrcs }).end()?.nextOffset;
    // Brokers look at the high watermark before they read the log: it may be below what they send.
    expect([endOf(null), endOf(4n), endOf(3n)]).toEqual([4n, 4n, 4n]);
    bytes.writeInt32BE(0x7fff_ffff, second + 23); // the offset of its last record, from its first
    expect([endOf(4n), endOf(4n, false), endOf(null)]).toEqual([2n, 2_147_483_650n, 2_147_483_650n]);
  });

  test("ends with the leader epoch of its last whole batch", async () => {
    const last = await bytesOf([{ records: [record(9n)], leaderEpoch: 4 }]);
    const bytes = Buffer.concat([await bytesOf([{ records: [record(7n)], leaderEpoch: 3 }]), last, last.subarray(0, -1)]);
    expect(createRecordSetReader(fetched(bytes)).end()).toEqual({ nextOffset: 10n, leaderEpoch: 4 });
  });

  test.each<[string, bigint, (bytes: Buffer) => unknown]>([
    ["a message format that does not exist", 0n, (bytes) => bytes.writeInt8(3, 16)],
    ["a length that is too small", 0n, (bytes) => bytes.writeInt32BE(3, 8)],
    ["a length below zero", 0n, (bytes) => bytes.writeInt32BE(-200, 8)],
    ["a last offset before the first", 0n, (bytes) => bytes.writeInt32BE(-1, 23)],
    ["an offset after which there is none", 0n, (bytes) => bytes.writeBigInt64BE(2n ** 63n - 1n, 0)],
    ["offsets below the one that was asked for", 100n, (bytes) => bytes.writeBigInt64BE(36n, 0)],
  ])(
    "has no end if its first batch has %s: what was read would be read again, or the offset could not be asked for",
    async (_, fromOffset, damage) => {
      const bytes = await bytesOf([{ records: [record(fromOffset)] }]);
      damage(bytes);
      expect(createRecordSetReader(fetched(bytes, { fromOffset })).end()).toBeNull();
    },
  );

  test("has no end if no batch is whole", async () => {
    const bytes = await bytesOf([{ records: [record(0n)] }]);
    const ends = [0, 8, 60, bytes.length - 1].map((length) => createRecordSetReader(fetched(bytes.subarray(0, length))).end());
    expect(ends).toEqual([null, null, null, null]);
  });

  test("without bytes has no sets", () => {
    expect(createRecordSetReader(fetched(new Uint8Array(0))).read()).toBeNull();
  });

  test("takes a batch without records as a gap", async () => {
    const bytes = await bytesOf([{ records: [], baseOffset: 5n, lastOffset: 20n }]);
    const [set] = setsOf(fetched(bytes, { fromOffset: 6n }));
    expect([set?.recordCount, set?.nextOffset]).toEqual([0, 21n]);
    expect(set?.walk().next()).toBe(false);
  });

  test("has the broker's time where the topic says so", async () => {
    const [set] = setsOf(fetched(await bytesOf([{ records: [record(0n), record(1n)], isLogAppendTime: true, maxTimestamp: 99n }])));
    expect(recordsOf(set === undefined ? [] : [set]).map(({ timestamp }) => timestamp)).toEqual([99n, 99n]);
  });

  test("that unpacks to many bytes is unpacked in parts", async () => {
    const large = { records: [record(0n, "x".repeat(10_000))], compression: "gzip" } as const;
    const bytes = await bytesOf([large, { ...large, records: [record(1n, "y".repeat(10_000))] }]);
    const sets = setsOf(fetched(bytes), { setBytes: 5_000 });
    expect(sets.map(({ recordCount, nextOffset }) => [recordCount, nextOffset])).toEqual([
      [1, 1n],
      [1, 2n],
    ]);
    expect(sets[0]?.byteLength).toBeGreaterThan(10_000);
  });

  test("keeps what the driver gave it", async () => {
    const assignment = { epoch: 4 };
    const [set] = setsOf(fetched(await bytesOf([{ records: [record(0n)] }]), { assignment, highWatermark: 88n }));
    expect(set).toMatchObject({ assignment, topic: "orders", partition: 3, highWatermark: 88n });
  });

  test("a handle that is none of its records is refused", async () => {
    const [set] = setsOf(fetched(await bytesOf([{ records: [record(0n)] }])));
    for (const handle of [-1, 10_000, Number.NaN]) {
      expect(() => set?.keyAt(handle)).toThrow(RangeError);
      expect(() => set?.offsetAt(handle)).toThrow(RangeError);
    }
  });
});
