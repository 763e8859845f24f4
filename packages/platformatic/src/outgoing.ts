import type { OutgoingRecord } from "@cdckit/consumer";
import { bufferOf } from "@cdckit/driver";

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

const bytesPerRecord = 64;
const bytesPerHeader = 16;

export function toClientRecord({ topic, key, value, headers, timestamp }: OutgoingRecord, partition: number): ClientRecord {
  const bytes = (key?.length ?? 0) + (value?.length ?? 0);
  return {
    topic,
    partition,
    key: bufferOf(key),
    value: bufferOf(value),
    headers: toClientHeaders(headers),
    timestamp: timestamp ?? BigInt(Date.now()),
    byteLength: headers.reduce((sum, [name, one]) => sum + bytesPerHeader + name.length + (one?.length ?? 0), bytes + bytesPerRecord),
  };
}

/** The client takes a map. Its keys are buffers here, so that names may repeat: two buffers are never the same key. */
export function toClientHeaders(headers: OutgoingRecord["headers"]): ReadonlyMap<Buffer, Buffer | null> {
  return new Map(headers.map(([name, value]) => [Buffer.from(name), bufferOf(value)]));
}
