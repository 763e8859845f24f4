import { setTimeout as pass } from "node:timers/promises";
import type { RecordHeaders } from "@cdckit/decode";
import { type IHeaders, Kafka, logLevel, type Message } from "kafkajs";
import { brokersText } from "../../leftovers/removers/kafka.ts";
import type { Leftovers } from "../../leftovers/leftovers.ts";
import { clientConfigOf } from "../../load/connection.ts";
import { logSizes } from "../../load/log-sizes.ts";
import { openRecordFeed } from "../../load/record-feed.ts";
import type { ClusterSource } from "../../load/source.ts";
import { createTopics } from "../../load/topics.ts";
import type { CompressionMeasure, CompressionName } from "./result.ts";

const compressions: readonly CompressionName[] = ["uncompressed", "gzip", "snappy", "lz4", "zstd"];
const sizeDeadlineMs = 10_000;

export interface CompressionOptions {
  readonly source: ClusterSource;
  /** A prefix for topics that nobody else has. */
  readonly topicPrefix: string;
  readonly maxMessages: number;
  /** How large the batches are that are compressed: as the connector's producer makes them. */
  readonly batchBytes: number;
  readonly leftovers: Leftovers;
  readonly interrupt: AbortSignal;
}

/**
 * What the records of a topic take after each compression: the first of them are written again, in batches of the connector's size, into a
 * topic for each compression, whose broker compresses them with the libraries that every Java client uses. Their sizes are what the broker
 * has then stored. Null if the broker does not tell.
 */
export async function measureCompression(options: CompressionOptions): Promise<readonly CompressionMeasure[] | null> {
  const { source, topicPrefix, leftovers } = options;
  const batches = await readBatches(options);
  const sampleMessages = batches.reduce((sum, batch) => sum + batch.length, 0);
  if (sampleMessages === 0) {
    return null;
  }
  const topics = compressions.map((compression) => ({
    compression,
    thing: { kind: "topic", name: `${topicPrefix}.${compression}`, at: brokersText(source.connection) } as const,
  }));
  const kafka = new Kafka({ clientId: "cdc-bench", ...clientConfigOf(source.connection), logLevel: logLevel.NOTHING });
  try {
    for (const { thing } of topics) {
      await leftovers.making(thing);
    }
    await createTopics(
      source.connection,
      topics.map(({ compression, thing }) => ({ topic: thing.name, partitions: 1, config: { "compression.type": compression } })),
    );
    const producer = kafka.producer();
    await producer.connect();
    try {
      for (const messages of batches) {
        await producer.sendBatch({ topicMessages: topics.map(({ thing }) => ({ topic: thing.name, messages })) });
      }
    } finally {
      await producer.disconnect();
    }
    const sizes = await settledSizes(
      options,
      topics.map(({ thing }) => thing.name),
    );
    return sizes === null
      ? null
      : measuresOf(
          topics.map(({ compression, thing }) => [compression, sizes.get(thing.name) ?? 0]),
          sampleMessages,
        );
  } finally {
    for (const { thing } of topics) {
      await leftovers.remove(thing).catch(() => {}); // tried again, and told, at the end
    }
  }
}

function measuresOf(sizes: readonly (readonly [CompressionName, number])[], sampleMessages: number): readonly CompressionMeasure[] {
  const plain = sizes.find(([compression]) => compression === "uncompressed")?.[1] ?? 0;
  return sizes.map(([compression, bytes]) => ({
    compression,
    sampleMessages,
    bytesPerMessage: bytes / sampleMessages,
    share: bytes / plain,
  }));
}

async function readBatches({ source, maxMessages, batchBytes, interrupt }: CompressionOptions): Promise<readonly Message[][]> {
  const batches: Message[][] = [];
  let batch: Message[] = [];
  let bytes = 0;
  let count = 0;
  for await (const { key, value, headers, timestamp } of openRecordFeed(source, { interrupt })) {
    // The feed lends its bytes; a batch outlives them.
    batch.push({ key: copyOf(key), value: copyOf(value), headers: headersOf(headers), timestamp: String(timestamp), partition: 0 });
    bytes += (key?.length ?? 0) + (value?.length ?? 0);
    count++;
    if (bytes >= batchBytes || count === maxMessages) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    if (count === maxMessages) {
      break;
    }
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** Each value in a list of one: kafkajs takes names that repeat so. */
function headersOf(headers: RecordHeaders): IHeaders {
  const grouped: Record<string, Buffer[]> = {};
  for (const [name, value] of headers) {
    grouped[name] = [...(grouped[name] ?? []), value === null ? Buffer.alloc(0) : Buffer.from(value)];
  }
  return grouped;
}

function copyOf(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes);
}

/** The broker's answer to a write may be ahead of what it tells about its files. */
async function settledSizes(
  { source, interrupt }: CompressionOptions,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number> | null> {
  const deadlineMs = performance.now() + sizeDeadlineMs;
  while (true) {
    const sizes = await logSizes(source.connection, topics);
    const isThere = sizes !== null && topics.every((topic) => (sizes.get(topic) ?? 0) > 0);
    if (isThere) {
      return sizes;
    }
    if (sizes === null || interrupt.aborted || performance.now() > deadlineMs) {
      return null;
    }
    await pass(200);
  }
}
