/** Messages of the formats 0 and 1 for tests. kafkajs writes them: what reads them has no part in it. */
import fc from "fast-check";
import { createRequire } from "node:module";
import {
  compressors,
  logArbitrary,
  type WrittenBatch,
  writtenBatch,
  type WrittenCompression,
  writtenCompressions,
  type WrittenRecord,
} from "./written-batches.contract.ts";

const require = createRequire(import.meta.url);

interface MessageContent {
  readonly compression: number;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}
interface Encoder {
  readonly buffer: Buffer;
}
const encoders = [0, 1].map(
  (format) => require(`kafkajs/src/protocol/message/v${format}/index.js`) as (content: MessageContent) => Encoder,
);
const crcOf = require("kafkajs/src/protocol/crc32.js") as (bytes: Encoder) => number;

export type OldFormat = 0 | 1;
/** What one message of a set is: its records have no headers. */
export type WrittenMessage = Omit<WrittenRecord, "headers">;

/** Messages of one format, each for itself or inside of one compressed message. */
export interface WrittenMessages {
  readonly format: OldFormat;
  readonly compression?: WrittenCompression;
  readonly isLogAppendTime?: boolean;
  readonly records: readonly WrittenMessage[];
}

/** The bytes of one message. `bits`: its attributes. */
export function writtenMessage(format: OldFormat, { offset, timestamp, key, value }: WrittenMessage, bits = 0): Buffer {
  const content = encoders[format]?.({ compression: 0, timestamp: String(timestamp), key, value }).buffer ?? Buffer.alloc(0);
  const message = Buffer.alloc(12 + content.length);
  message.writeBigInt64BE(offset);
  message.writeInt32BE(content.length, 8);
  content.copy(message, 12);
  message.writeInt8(bits, 17);
  return withMessageCrc(message);
}

/** The bytes of such messages, as a broker keeps them: offsets inside of a compressed message begin at 0 in format 1. */
export function writtenMessages({ format, compression = "none", isLogAppendTime = false, records }: WrittenMessages): Buffer {
  const flag = isLogAppendTime ? 0x08 : 0;
  if (compression === "none") {
    return Buffer.concat(records.map((record) => writtenMessage(format, record, flag)));
  }
  const first = format === 0 ? 0n : (records[0]?.offset ?? 0n);
  const inside = Buffer.concat(records.map((record) => writtenMessage(format, { ...record, offset: record.offset - first })));
  return compressedMessage(format, records.at(-1)?.offset ?? 0n, compression, inside, flag);
}

/** One compressed message with these bytes inside. */
export function compressedMessage(format: OldFormat, offset: bigint, compression: WrittenCompression, inside: Buffer, flag = 0): Buffer {
  const outer = { offset, timestamp: appendTime, key: null, value: compressors[compression](inside) };
  return writtenMessage(format, outer, writtenCompressions[compression] | flag);
}

/** The time of every compressed message. */
export const appendTime = 1_480_000_000_000n;

/** The message with the checksum of its bytes as they are now. */
export function withMessageCrc(message: Buffer): Buffer {
  message.writeInt32BE(crcOf({ buffer: message.subarray(16) }), 12);
  return message;
}

/** What a reader must find in them. */
export function readableOf({ format, compression = "none", isLogAppendTime = false, records }: WrittenMessages): WrittenRecord[] {
  const timeOf = (record: WrittenMessage): bigint => {
    const isOuter = isLogAppendTime && compression !== "none";
    return format === 0 ? -1n : isOuter ? appendTime : record.timestamp;
  };
  return records.map((record) => ({ ...record, timestamp: timeOf(record), headers: [] }));
}

/** The batches of a log, some of them as messages of an older format. */
export const mixedLogArbitrary: fc.Arbitrary<readonly MixedPart[]> = logArbitrary.chain((log) =>
  fc
    .array(fc.tuple(fc.constantFrom(0 as const, 1 as const, 2 as const), fc.boolean()), { minLength: log.length, maxLength: log.length })
    .map((kinds) =>
      log.map((batch, i): MixedPart => {
        const [format, isLogAppendTime] = kinds[i] ?? [2, false];
        return format === 2
          ? { format, batch }
          : { format, messages: { ...batch, format, isLogAppendTime: format === 1 && isLogAppendTime } };
      }),
    ),
);

export type MixedPart =
  | { readonly format: 2; readonly batch: WrittenBatch }
  | { readonly format: OldFormat; readonly messages: WrittenMessages };

export async function bytesOfPart(part: MixedPart): Promise<Buffer> {
  return part.format === 2 ? writtenBatch(part.batch) : writtenMessages(part.messages);
}

export function recordsOfPart(part: MixedPart): readonly WrittenRecord[] {
  return part.format === 2 ? part.batch.records : readableOf(part.messages);
}
