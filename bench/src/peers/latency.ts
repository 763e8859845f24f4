import kafkajs from "kafkajs";
import { recorded } from "../corpus.ts";
import type { LatencyOptions, LatencyResult, PacedOptions, PacedResult } from "./job.ts";
import { subscribed } from "./kafkajs-by-hand.ts";
import { consumerOf, readEvent } from "./ours.ts";

const { Kafka, logLevel, Partitioners } = kafkajs;

/** So many are sent at once at most, also if the machine stood still: Kafka refuses more than a mebibyte. */
const maxAtOnce = 500;

/** The header with the time at which a message was handed to the producer. */
const sentHeader = "sent";

/** The clock of the machine: the same in all processes. */
function nowNs(): bigint {
  return process.hrtime.bigint();
}

/** Writes recorded messages at a steady rate, each with the time at which it is sent. */
export async function producePaced({ brokers, topic, perSecond, messages }: PacedOptions): Promise<PacedResult> {
  const { records } = await recorded("confluent-avro");
  const producer = new Kafka({ brokers: [brokers], logLevel: logLevel.ERROR }).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  const startedAt = performance.now();
  const unanswered = new Set<Promise<unknown>>();
  for (let sent = 0; sent < messages; ) {
    const due = Math.min(messages, sent + maxAtOnce, Math.ceil(((performance.now() - startedAt) * perSecond) / 1_000));
    if (due > sent) {
      const headers = { [sentHeader]: String(nowNs()) };
      const batch = Array.from({ length: due - sent }, (_, i) => {
        const { key, value } = records[(sent + i) % records.length] as (typeof records)[number]; // within bounds
        return { key: key as Buffer | null, value: value as Buffer | null, headers }; // as recordings are read
      });
      sent = due;
      const sending: Promise<unknown> = producer.send({ topic, messages: batch }).finally(() => unanswered.delete(sending));
      unanswered.add(sending);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(unanswered);
  await producer.disconnect();
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

/** The times from the producer to the handler. */
class Latencies {
  readonly finished: Promise<LatencyResult>;
  readonly #options: LatencyOptions;
  readonly #ms: number[] = [];
  #finish: (result: LatencyResult) => void = () => {};
  #seen = 0;

  constructor(options: LatencyOptions) {
    this.#options = options;
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  handled(sentNs: string): void {
    const { messages, warmUpMessages } = this.#options;
    if (++this.#seen > warmUpMessages) {
      this.#ms.push(Number(nowNs() - BigInt(sentNs)) / 1e6);
    }
    if (this.#seen === messages) {
      const sorted = this.#ms.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
      this.#finish({ messages: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) });
    }
  }
}

/** From the producer to a handler of ours. Says on standard output when it reads. */
export async function latencyOfOurs(driver: string, options: LatencyOptions): Promise<LatencyResult> {
  const latencies = new Latencies(options);
  let read = 0;
  const consumer = await consumerOf(driver, options);
  consumer.on("*", (event) => {
    read += readEvent(event);
    const sent = event.record.headers.find(([name]) => name === sentHeader)?.[1];
    latencies.handled(Buffer.from(sent ?? []).toString());
  });
  const running = consumer.run();
  const result = await Promise.race([latencies.finished, running.then(() => Promise.reject(new Error("the consumer stopped by itself")))]);
  await consumer.stop();
  await running;
  return result;
}

/** From the producer to kafkajs alone, which decodes nothing: what the broker and the client take. */
export async function latencyOfKafkaJs(options: LatencyOptions): Promise<LatencyResult> {
  const latencies = new Latencies(options);
  const consumer = await subscribed(options);
  await consumer.run({
    eachBatch: ({ batch }) => {
      for (const { headers } of batch.messages) {
        latencies.handled(String(headers?.[sentHeader]));
      }
      return Promise.resolve();
    },
  });
  const result = await latencies.finished;
  await consumer.disconnect();
  return result;
}
