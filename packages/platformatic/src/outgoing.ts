import type { OutgoingRecord } from "@cdckit/consumer";
import { bufferOf, outgoingBytes } from "@cdckit/driver";

/** A record in the client's form, with its partition. */
export interface ClientRecord {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: ReadonlyMap<Buffer, Buffer | null>;
  readonly timestamp: bigint;
  /** About so many bytes in a batch. */
  readonly byteLength: number;
}

export function toClientRecord(record: OutgoingRecord, partition: number): ClientRecord {
  const { topic, key, value, headers, timestamp } = record;
  return {
    topic,
    partition,
    key: bufferOf(key),
    value: bufferOf(value),
    headers: toClientHeaders(headers),
    timestamp: timestamp ?? BigInt(Date.now()),
    byteLength: outgoingBytes(record),
  };
}

/** The client takes a map. Its keys are buffers here, so that names may repeat: two buffers are never the same key. */
export function toClientHeaders(headers: OutgoingRecord["headers"]): ReadonlyMap<Buffer, Buffer | null> {
  return new Map(headers.map(([name, value]) => [Buffer.from(name), bufferOf(value)]));
}
