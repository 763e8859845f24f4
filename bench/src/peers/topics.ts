import type { SchemaSource } from "@cdckit/decode";
import kafkajs, { type Admin, type Producer } from "kafkajs";
import { recorded } from "../corpus.ts";
import type { PeerFormat } from "./pass.ts";

export const peerFormats: readonly PeerFormat[] = ["json-with-schema", "json", "confluent-avro"];
export type PeerCompression = "none" | "lz4" | "zstd" | "gzip" | "snappy";

/** Of a record batch before it is compressed. */
export const bytesPerBatch = 65_536;
/** Sends that are under way at a time. */
const sendsAtOnce = 8;

const { Kafka, logLevel, Partitioners } = kafkajs;

export interface FilledTopic {
  readonly topic: string;
  readonly format: PeerFormat;
  readonly compression: PeerCompression;
  /** One that is read by few sides, to see what a long run makes of their rates. */
  readonly isLong: boolean;
  readonly partitions: number;
  /** In all partitions together. */
  readonly messages: number;
}

/** Fills topics with the recorded messages of a real Debezium, over and over. The broker compresses them, with the libraries that Java's clients use. */
export async function fillTopics(brokers: string, topics: readonly FilledTopic[], signal: AbortSignal): Promise<void> {
  const client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING });
  const [admin, producer] = [client.admin(), client.producer({ createPartitioner: Partitioners.DefaultPartitioner })];
  await Promise.all([admin.connect(), producer.connect()]);
  try {
    for (const topic of topics) {
      signal.throwIfAborted();
      await createTopic(admin, topic);
      await fill(producer, topic, signal);
    }
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()]);
  }
}

export async function createTopic(admin: Admin, topic: Pick<FilledTopic, "topic" | "compression" | "partitions">): Promise<void> {
  const compressionType = topic.compression === "none" ? "uncompressed" : topic.compression;
  await admin.createTopics({
    topics: [
      {
        topic: topic.topic,
        numPartitions: topic.partitions,
        configEntries: [{ name: "compression.type", value: compressionType }],
      },
    ],
    waitForLeaders: true,
  });
}

async function fill(producer: Producer, { topic, format, partitions, messages }: FilledTopic, signal: AbortSignal): Promise<void> {
  const { records } = await recorded(format);
  let next = 0;
  const takeBatch = (): (typeof records)[number][] => {
    const batch = [];
    for (let bytes = 0; next < messages && bytes < bytesPerBatch; next++) {
      const record = records[next % records.length] as (typeof records)[number]; // within bounds
      batch.push(record);
      bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0);
    }
    return batch;
  };
  let sent = 0;
  const send = async (): Promise<void> => {
    for (let batch = takeBatch(); batch.length > 0 && !signal.aborted; batch = takeBatch()) {
      const partition = sent++ % partitions;
      await producer.send({
        topic,
        messages: batch.map(({ key, value }) => ({ key: key as Buffer | null, value: value as Buffer | null, partition })), // as recordings are read
      });
    }
  };
  await Promise.all(Array.from({ length: sendsAtOnce }, send));
}

/** The schemas of the messages in Avro. */
export async function recordedSchemas(): Promise<SchemaSource> {
  return (await recorded("confluent-avro")).schemas;
}
