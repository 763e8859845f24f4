import { settledOrLate } from "@cdckit/driver";
import type { Producer, ProducerConfig, RetryOptions } from "kafkajs";
import type { Partitions } from "./partitions.ts";

/** A kafkajs producer. `destroySockets` ends its sockets if the driver has made them. */
export interface OwnProducer {
  readonly producer: Producer;
  /** Those that it writes to. */
  readonly partitions: Partitions;
  readonly destroySockets: () => void;
}

export type MakeProducer = (config: ProducerConfig) => OwnProducer;

/**
 * Long enough for a leader to move, and bounded. kafkajs' own default for an idempotent producer is not bounded. The first pauses are short: a
 * transaction has to wait for the end of the one before it, which takes some milliseconds. kafkajs draws each pause from the one before, a fifth more
 * or less: with one retry fewer, one write in seventeen would be given up within six seconds, which a leader may take to move.
 */
export const producerRetry: RetryOptions = Object.freeze({ retries: 14, initialRetryTime: 5, maxRetryTime: 1_000 });
/** How long a write may take in all. After that its producer is given up, and the brokers end its transaction by then, too. */
export const writeDeadlineMs = 60_000;
/** How long a producer may take to disconnect. */
const goodbyeMs = 2_000;

/** The same producer, connected. If that fails, it is given up: it has a connection already when it is given no producer id. */
export async function connected(own: OwnProducer): Promise<OwnProducer> {
  try {
    await own.producer.connect();
    return own;
  } catch (error) {
    void letGo(own, 0); // it has written nothing that would be worth a wait
    throw error;
  }
}

/**
 * Gives a producer up. If a write has failed, the brokers may have its records or not. The next write of the same producer would get the same
 * sequence number, and the brokers would drop it as a duplicate. A new producer has new sequence numbers. Never rejects.
 */
export async function letGo({ producer, destroySockets }: OwnProducer, deadlineMs: number = goodbyeMs): Promise<void> {
  const disconnected = producer.disconnect().catch(() => {}); // its sockets are ended in any case
  await settledOrLate(disconnected, deadlineMs, () => {});
  destroySockets(); // those of an application's client are not the driver's to end
}

/** The same for one that may still be connecting, which may take for ever: not awaited for longer, it is given up when it has connected. */
export async function letGoOpening(opening: Promise<OwnProducer> | undefined, deadlineMs: number = goodbyeMs): Promise<void> {
  const gone = opening?.then((own) => letGo(own, deadlineMs)).catch(() => {}); // a failed one is given up already
  await settledOrLate(gone ?? Promise.resolve(), deadlineMs, () => {});
}
