/** A batch and where it goes. */
export interface PlacedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

/** What a broker did with one batch. */
export interface BatchAnswer {
  readonly topic: string;
  readonly partition: number;
  /** 0: it was written. */
  readonly errorCode: number;
  readonly baseOffset: bigint;
}

export type Acks = -1 | 0 | 1;

const apiKey = 0;
/** The first version in which brokers take zstd: every broker since 2.1 has it. */
const apiVersion = 7;
const brokerTimeoutMs = 30_000;

/** A request in the form in which kafkajs sends them. */
export interface WireRequest {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    expectResponse(): boolean;
    encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    decode(bytes: Buffer): Promise<readonly BatchAnswer[]>;
    parse(answers: readonly BatchAnswer[]): Promise<readonly BatchAnswer[]>;
  };
}

/** Kafka's Produce request with batches that are bytes already. A topic's partition may appear once. */
export function produceRequest(batches: readonly PlacedBatch[], acks: Acks): WireRequest {
  return {
    request: {
      apiKey,
      apiVersion,
      apiName: "Produce",
      expectResponse: () => acks !== 0,
      encode: async () => {
        const buffer = encode(batches, acks);
        return { buf: buffer, buffer };
      },
    },
    response: { decode: async (bytes) => decode(bytes), parse: async (answers) => answers },
  };
}

function encode(batches: readonly PlacedBatch[], acks: Acks): Buffer {
  const byTopic = groupByTopic(batches);
  const parts: Buffer[] = [int16(-1), int16(acks), int32(brokerTimeoutMs), int32(byTopic.size)]; // -1: no transaction
  for (const [topic, placed] of byTopic) {
    const name = Buffer.from(topic);
    parts.push(int16(name.length), name, int32(placed.length));
    for (const { partition, bytes } of placed) {
      parts.push(int32(partition), int32(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function groupByTopic(batches: readonly PlacedBatch[]): Map<string, PlacedBatch[]> {
  const byTopic = new Map<string, PlacedBatch[]>();
  for (const batch of batches) {
    const placed = byTopic.get(batch.topic) ?? [];
    byTopic.set(batch.topic, placed);
    placed.push(batch);
  }
  return byTopic;
}

function decode(bytes: Buffer): readonly BatchAnswer[] {
  const answers: BatchAnswer[] = [];
  let at = 4;
  for (let topics = bytes.readInt32BE(0); topics > 0; topics--) {
    const nameEnd = at + 2 + bytes.readInt16BE(at);
    const topic = bytes.toString("utf8", at + 2, nameEnd);
    at = nameEnd + 4;
    for (let partitions = bytes.readInt32BE(nameEnd); partitions > 0; partitions--) {
      answers.push({
        topic,
        partition: bytes.readInt32BE(at),
        errorCode: bytes.readInt16BE(at + 4),
        baseOffset: bytes.readBigInt64BE(at + 6),
      });
      at += 30; // and the time of the append, and where the log starts
    }
  }
  return answers;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
