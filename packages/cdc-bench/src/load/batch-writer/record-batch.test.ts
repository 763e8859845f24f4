import { createRequire } from "node:module";
import fc from "fast-check";
import { Partitioners } from "kafkajs";
import { describe, expect, test } from "vitest";
import { loadCompression } from "./compression.ts";
import { partitionOf } from "./murmur2.ts";
import { RecordBatchBuilder, type RecordHeader } from "./record-batch.ts";

// kafkajs' own code is the other side here: what reads batches, and what made checksums and partitions before.
const require = createRequire(import.meta.url);
const Decoder = require("kafkajs/src/protocol/decoder.js") as new (bytes: Buffer) => object;
const decodeBatch = require("kafkajs/src/protocol/recordBatch/v0/decoder.js") as (decoder: object) => Promise<DecodedBatch>;
const kafkaJsCrc = require("kafkajs/src/protocol/recordBatch/crc32C/crc32C.js") as (bytes: Buffer) => number;

interface DecodedBatch {
  readonly lastOffsetDelta: number;
  readonly maxTimestamp: string;
  readonly records: readonly {
    readonly timestamp: string;
    readonly offset: string;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly headers: Readonly<Record<string, Buffer>>;
  }[];
}

const bytes = fc.uint8Array({ maxLength: 300 }).map((part) => Buffer.from(part));
const record = fc.record({
  timestampMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.uniqueArray(fc.tuple(fc.stringMatching(/^h\.[a-z.]{1,20}$/), bytes), { maxLength: 3, selector: ([name]) => name }),
});

describe("record batches", () => {
  for (const name of ["none", "gzip"] as const) {
    test(`what kafkajs reads is what was added, ${name}`, async () => {
      const compression = await loadCompression(name);
      const builder = new RecordBatchBuilder();
      await fc.assert(
        fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 40 }), async (records) => {
          for (const { timestampMs, key, value, headers } of records) {
            builder.add(
              timestampMs,
              key,
              value,
              headers.map(([header, content]): RecordHeader => [Buffer.from(header), content]),
            );
          }
          const batch = await builder.finish(compression);
          expect(builder.count).toBe(0);
          const read = await decodeBatch(new Decoder(batch));
          expect(read.lastOffsetDelta).toBe(records.length - 1);
          expect(read.maxTimestamp).toBe(String(Math.max(...records.map(({ timestampMs }) => timestampMs))));
          expect(read.records.map(({ timestamp, offset, key, value, headers }) => ({ timestamp, offset, key, value, headers }))).toEqual(
            records.map(({ timestampMs, key, value, headers }, i) => ({
              timestamp: String(timestampMs),
              offset: String(i),
              key,
              value,
              headers: Object.fromEntries(headers),
            })),
          );
          expect(batch.readInt32BE(8)).toBe(batch.length - 12);
          expect(batch.readUInt32BE(17)).toBe(kafkaJsCrc(batch.subarray(21)));
          builder.recycle(batch); // the next batch is written over this one
        }),
        { numRuns: 60 },
      );
    });
  }
});

test("partitions are those of kafkajs, which are Java's", () => {
  const theirs = Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 50 }), (key, partitions) => {
      const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionId, leader: 0 })) as never;
      expect(partitionOf(key, partitions)).toBe(theirs({ topic: "t", partitionMetadata, message: { key, value: null } }));
    }),
  );
});
