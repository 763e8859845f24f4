import { createRequire } from "node:module";
import type { KafkaRecord } from "@cdckit/decode";

const require = createRequire(import.meta.url);

interface Encoder {
  readonly buffer: Buffer;
}
const encodeRecord = require("kafkajs/src/protocol/recordBatch/record/v0/index.js") as (record: object) => Encoder;
const { RecordBatch: encodeBatch } = require("kafkajs/src/protocol/recordBatch/v0/index.js") as {
  readonly RecordBatch: (batch: object) => Promise<Encoder>;
};
const Long = require("kafkajs/src/utils/long.js") as { readonly fromValue: (value: string) => unknown };
const Decoder = require("kafkajs/src/protocol/decoder.js") as new (bytes: Buffer) => object;
const decodeBatch = require("kafkajs/src/protocol/recordBatch/v0/decoder.js") as (
  decoder: object,
) => Promise<{ readonly records: readonly { readonly value: Buffer | null }[] }>;

/** Where the checksum of a batch, and where its records begin. */
export const checkedFrom = 21;
export const recordsFrom = 61;

/** The records as kafkajs writes them: uncompressed batches of consecutive offsets, of at most so many bytes. */
export async function writeBatches(records: readonly KafkaRecord[], maxBatchBytes: number): Promise<readonly Buffer[]> {
  const batches: Buffer[] = [];
  let waiting: Encoder[] = [];
  let bytes = 0;
  let first = 0;
  for (const [i, { key, value }] of records.entries()) {
    const encoded = encodeRecord({ offsetDelta: i - first, timestampDelta: 0, key, value, headers: {} });
    waiting.push(encoded);
    bytes += encoded.buffer.length;
    if (bytes >= maxBatchBytes || i === records.length - 1) {
      const batch = {
        firstOffset: Long.fromValue(String(first)),
        lastOffsetDelta: i - first,
        firstTimestamp: "0",
        maxTimestamp: "0",
        records: waiting,
      };
      batches.push((await encodeBatch(batch)).buffer);
      [waiting, bytes, first] = [[], 0, i + 1];
    }
  }
  return batches;
}

/** What kafkajs makes of the same bytes: an object for each record. Returns the bytes of the values. */
export async function readByKafkaJs(batches: readonly Buffer[]): Promise<number> {
  let bytes = 0;
  for (const batch of batches) {
    const { records } = await decodeBatch(new Decoder(batch));
    for (const { value } of records) {
      bytes += value === null ? 0 : value.length;
    }
  }
  return bytes;
}
