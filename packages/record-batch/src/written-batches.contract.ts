/** Record batches for tests. kafkajs writes them, and foreign libraries compress them: what reads them has no part in it. */
import fc from "fast-check";
import lz4 from "lz4-napi";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import snappy from "snappyjs";
import type { FetchedRecords } from "./fetched-records.ts";
import type { RecordSet } from "./record-set.ts";
import { createRecordSetReader } from "./record-set-reader.ts";
import type { RecordBatchOptions } from "./options.ts";

const require = createRequire(import.meta.url);

interface Encoder {
  readonly buffer: Buffer;
}
const encodeRecord = require("kafkajs/src/protocol/recordBatch/record/v0/index.js") as (record: object) => Encoder;
const { RecordBatch: encodeBatch } = require("kafkajs/src/protocol/recordBatch/v0/index.js") as {
  readonly RecordBatch: (batch: object) => Promise<Encoder>;
};
const crcOf = require("kafkajs/src/protocol/recordBatch/crc32C/crc32C.js") as (bytes: Buffer) => number;
const Long = require("kafkajs/src/utils/long.js") as { readonly fromValue: (value: string) => unknown };

/** The compressions that a library at hand writes. Others are in the vectors, and on the real Kafka. */
export const writtenCompressions = { none: 0, gzip: 1, snappy: 2, lz4: 3 } as const;
export type WrittenCompression = keyof typeof writtenCompressions;

export const compressors: Readonly<Record<WrittenCompression, (records: Buffer) => Buffer>> = {
  none: (records) => records,
  gzip: (records) => gzipSync(records),
  snappy: (records) => snappy.compress(records),
  lz4: (records) => Buffer.from(lz4.compressFrameSync(records)),
};

export interface WrittenRecord {
  readonly offset: bigint;
  readonly timestamp: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [name: string, value: Buffer])[];
}

export interface WrittenBatch {
  readonly records: readonly WrittenRecord[];
  readonly compression?: WrittenCompression;
  readonly baseOffset?: bigint;
  readonly lastOffset?: bigint;
  readonly leaderEpoch?: number;
  readonly producerId?: bigint;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
  readonly isLogAppendTime?: boolean;
  readonly maxTimestamp?: bigint;
}

/** The bytes of one batch, as kafkajs writes it. Flags that kafkajs never writes are set afterwards. */
export async function writtenBatch(batch: WrittenBatch): Promise<Buffer> {
  const { records, compression = "none", leaderEpoch = 0, producerId = -1n, isTransactional = false } = batch;
  const baseOffset = batch.baseOffset ?? records[0]?.offset ?? 0n;
  const lastOffset = batch.lastOffset ?? records.at(-1)?.offset ?? baseOffset;
  const firstTimestamp = records[0]?.timestamp ?? 0n;
  const { buffer } = await encodeBatch({
    firstOffset: Long.fromValue(String(baseOffset)),
    firstTimestamp: String(firstTimestamp),
    maxTimestamp: String(batch.maxTimestamp ?? firstTimestamp),
    partitionLeaderEpoch: leaderEpoch,
    lastOffsetDelta: Number(lastOffset - baseOffset),
    transactional: isTransactional,
    producerId: Long.fromValue(String(producerId)),
    records: records.map((record) => encodedRecord(record, baseOffset, firstTimestamp)),
  });
  const flags = (batch.isControl === true ? 0x20 : 0) | (batch.isLogAppendTime === true ? 0x08 : 0);
  buffer.writeInt16BE(buffer.readInt16BE(21) | flags | writtenCompressions[compression], 21);
  const whole = Buffer.concat([
    buffer.subarray(0, 61),
    records.length === 0 ? Buffer.alloc(0) : compressors[compression](buffer.subarray(61)),
  ]);
  whole.writeInt32BE(whole.length - 12, 8);
  return withCrc(whole);
}

/** The batch with the checksum of its bytes as they are now. */
export function withCrc(batch: Buffer): Buffer {
  batch.writeUInt32BE(crcOf(batch.subarray(21)), 17);
  return batch;
}

/** The batch that ends a transaction. */
export async function marker(type: "abort" | "commit", offset: bigint, producerId: bigint): Promise<Buffer> {
  const key = Buffer.from([0, 0, 0, type === "abort" ? 0 : 1]);
  const records = [{ offset, timestamp: 5n, key, value: Buffer.alloc(6), headers: [] }];
  return writtenBatch({ records, producerId, isTransactional: true, isControl: true });
}

function encodedRecord({ offset, timestamp, key, value, headers }: WrittenRecord, baseOffset: bigint, firstTimestamp: bigint): Encoder {
  const byName = Object.create(null) as Record<string, Buffer[]>; // "constructor" is a header like any other
  for (const [name, bytes] of headers) {
    (byName[name] ??= []).push(bytes);
  }
  const timestampDelta = String(timestamp - firstTimestamp);
  return encodeRecord({ offsetDelta: Number(offset - baseOffset), timestampDelta, key, value, headers: byName });
}

export function record(offset: bigint, text = `value ${offset}`): WrittenRecord {
  return { offset, timestamp: 1_700_000_000_000n + offset, key: Buffer.from(`key ${offset}`), value: Buffer.from(text), headers: [] };
}

export function fetched(bytes: Uint8Array, more: Partial<FetchedRecords> = {}): FetchedRecords {
  return { topic: "orders", partition: 3, assignment: null, bytes, fromOffset: 0n, abortedTransactions: [], highWatermark: null, ...more };
}

/** All sets of a response. An error ends them, and is thrown. */
export function setsOf(records: FetchedRecords, options: RecordBatchOptions = {}): RecordSet[] {
  const reader = createRecordSetReader(records, options);
  const sets: RecordSet[] = [];
  for (let set = reader.read(); set !== null; set = reader.read()) {
    sets.push(set);
  }
  return sets;
}

/** What a walk over the sets gives, with copies of the bytes. */
export function recordsOf(sets: readonly RecordSet[]): WrittenRecord[] {
  const records: WrittenRecord[] = [];
  for (const set of sets) {
    const walk = set.walk();
    while (walk.next()) {
      const { record: handle, keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = walk;
      records.push({
        offset: set.offsetAt(handle),
        timestamp: set.timestampAt(handle),
        key: keyBytes === null ? null : Buffer.from(keyBytes.subarray(keyStart, keyEnd)),
        value: valueBytes === null ? null : Buffer.from(valueBytes.subarray(valueStart, valueEnd)),
        headers: set.headersAt(handle).map(([name, value]) => [name, Buffer.from(value ?? [])] as const),
      });
    }
  }
  return records;
}

const bytes = fc.uint8Array({ maxLength: 300 }).map((part) => Buffer.from(part));
const headerName = fc.oneof(fc.stringMatching(/^[a-z.]{1,20}$/), fc.constantFrom("é", "naïve", "表", "x".repeat(200)));
const body = fc.record({
  gap: fc.oneof(fc.constant(1n), fc.constant(1n), fc.bigInt(1n, 100_000n)),
  timestamp: fc.oneof(fc.bigInt(0n, 2n ** 45n), fc.bigInt(-1n, 2n ** 53n)),
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.uniqueArray(fc.tuple(headerName, bytes), { maxLength: 3, selector: ([name]) => name }),
});

/** Several batches of consecutive offsets, with gaps, as a log after compaction has them. */
export const logArbitrary: fc.Arbitrary<readonly WrittenBatch[]> = fc
  .tuple(
    fc.bigInt(0n, 2n ** 60n),
    fc.array(
      fc.record({
        compression: fc.constantFrom(...(Object.keys(writtenCompressions) as WrittenCompression[])),
        bodies: fc.array(body, { minLength: 1, maxLength: 12 }),
        leaderEpoch: fc.nat(1_000),
      }),
      { minLength: 1, maxLength: 5 },
    ),
  )
  .map(([first, parts]) => {
    let offset = first;
    return parts.map(({ compression, bodies, leaderEpoch }) => {
      const records = bodies.map(({ gap, ...rest }) => {
        offset += gap;
        return { ...rest, offset };
      });
      return { compression, leaderEpoch, records };
    });
  });
