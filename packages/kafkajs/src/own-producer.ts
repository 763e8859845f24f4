import type { Producer, ProducerConfig, RetryOptions } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";

/** A kafkajs producer, and the end of its sockets where the driver has made them. */
export interface OwnProducer {
  readonly producer: Producer;
  readonly destroySockets: () => void;
}

export type MakeProducer = (config: ProducerConfig) => OwnProducer;

/** Long enough for a leader to move, and bounded: kafkajs' own default for such a producer is for ever. */
export const producerRetry: RetryOptions = Object.freeze({ retries: 9, initialRetryTime: 100, maxRetryTime: 1_000 });
/** How long a write may take in all; after that its producer is given up. */
export const writeDeadlineMs = 60_000;
/** How long a producer may take to say good-bye. */
const goodbyeMs = 2_000;

/** The same producer, connected; where that fails, nothing of it stays. */
export async function connected(own: OwnProducer): Promise<OwnProducer> {
  try {
    await own.producer.connect();
    return own;
  } catch (error) {
    own.destroySockets();
    throw error;
  }
}

/**
 * Gives a producer up. Where a write has failed, the brokers may have it or not: a next write from the same producer would have the same
 * sequence number, and be taken for a repetition and thrown away. A new producer starts anew.
 */
export async function letGo({ producer, destroySockets }: OwnProducer, deadlineMs: number = goodbyeMs): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([producer.disconnect().catch(() => {}), late]);
  clearTimeout(timer);
  destroySockets();
}

/** The names of the topics, for messages. */
export function topicsOf(records: readonly { readonly topic: string }[]): string {
  return [...new Set(records.map(({ topic }) => topic))].join(", ") || "no topic";
}

export function lateError(code: "send-failed" | "transaction-failed", topics: string): KafkaJsDriverError {
  return new KafkaJsDriverError(code, `writing to ${topics} did not end within ${writeDeadlineMs} ms; whether it was written is not known`);
}
