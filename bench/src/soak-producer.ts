import { setTimeout as pass } from "node:timers/promises";
import type { KafkaRecord } from "@cdckit/decode";
import { CompressionTypes, Kafka, logLevel, type Message, Partitioners } from "kafkajs";
import { type CorpusName, loadCorpus } from "./corpus.ts";
import { inGeneration } from "./schema-server.ts";

/** How many of each format are written a second. */
const perSecond: Readonly<Partial<Record<CorpusName, number>>> = { "json-with-schema": 400, "confluent-avro": 800, json: 800 };
const tickMs = 200;
export const partitionsPerTopic = 2;
export const soakTopics: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(perSecond).map((name) => [`soak.${name}`, partitionsPerTopic]),
);

/** What no partition ever exceeds within so many minutes. */
export function maxRecordsPerPartition(minutes: number): number {
  return Math.ceil((Math.max(...Object.values(perSecond)) / partitionsPerTopic) * 60 * minutes) + 10_000;
}

/** Writes recorded messages at an even pace, compressed, until it is stopped. */
export class SoakProducer {
  /** Which ids the schemas of what is written have. */
  generation = 1;
  readonly #brokers: string;
  #written = 0;
  #bytes = 0;
  #isStopped = false;

  constructor(brokers: string) {
    this.#brokers = brokers;
  }

  get written(): { readonly records: number; readonly bytes: number } {
    return { records: this.#written, bytes: this.#bytes };
  }

  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    const sources = await Promise.all(
      Object.entries(perSecond).map(async ([name, rate]) => {
        const { records } = await loadCorpus(name as CorpusName);
        return { topic: `soak.${name}`, isFramed: name === "confluent-avro", perTick: (rate * tickMs) / 1000, records, next: 0 };
      }),
    );
    const client = new Kafka({ brokers: [this.#brokers], logLevel: logLevel.NOTHING });
    const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    let dueMs = performance.now();
    while (!this.#isStopped) {
      const topicMessages = sources.map((source) => {
        const messages = Array.from({ length: source.perTick }, () => this.#messageOf(source.records, source.next++, source.isFramed));
        return { topic: source.topic, messages };
      });
      await producer.sendBatch({ topicMessages, compression: CompressionTypes.GZIP });
      dueMs += tickMs;
      await pass(Math.max(0, dueMs - performance.now()));
    }
    await producer.disconnect();
  }

  #messageOf(records: readonly KafkaRecord[], count: number, isFramed: boolean): Message {
    const record = records[count % records.length] as KafkaRecord; // there are some
    const bytesOf = (side: Uint8Array | null): Buffer | null =>
      isFramed ? inGeneration(side, this.generation) : side === null ? null : Buffer.from(side);
    const [key, value] = [bytesOf(record.key), bytesOf(record.value)];
    this.#written++;
    this.#bytes += (key?.length ?? 0) + (value?.length ?? 0);
    return { key, value, partition: count % partitionsPerTopic };
  }
}
