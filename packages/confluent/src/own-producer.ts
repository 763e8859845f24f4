import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OutgoingRecord } from "@cdckit/consumer";
import { bufferOf } from "@cdckit/driver";
import { type ClientLogLine, isOfConnection, textOf } from "./client-log.ts";
import { ConfluentDriverError } from "./errors.ts";
import { refusal } from "./explain-failure.ts";
import { toClientHeaders } from "./headers.ts";
import { type Answer, answerOf, type ClientError, codes, type LowLevelProducer, type Properties } from "./low-level-client.ts";
import { isUnanswered } from "./write-failures.ts";

/** Makes a producer that is not connected yet. */
export type MakeProducer = (properties: Properties) => LowLevelProducer;

/** How long a record may take until every in-sync replica has it. */
export const writeDeadlineMs = 20_000;
/** It takes a thread of libuv for so long at most, and a process that exits waits for that thread. */
const connectDeadlineMs = 5_000;
const closeDeadlineMs = 5_000;
const fullQueuePauseMs = 5;
/** The client takes a timestamp of 0 for none, and writes the time of the day instead. */
const nearestToZero = 1;
/** So long the reason of a producer that has given up may come after the first record that it refuses. */
const reasonDeadlineMs = 1_000;

const common: Properties = Object.freeze({
  "enable.idempotence": true,
  "delivery.timeout.ms": writeDeadlineMs,
  // How many answers are tried again that say that replicas are missing. The pauses between them take 14 to 18 seconds, in which a broker restarts, and
  // less than a record may take: the record then fails with this answer, and not because it took too long, which is what is said of brokers that are away.
  retries: 20,
  "linger.ms": 1,
  // A topic that does not exist is an error after this time, in place of 30 seconds.
  "topic.metadata.propagation.max.ms": 3_000,
  // As Java's producer and kafkajs choose the partition of a key.
  partitioner: "murmur2_random",
  "allow.auto.create.topics": false,
  dr_cb: true,
});

/** A connected producer, and the records that it has not delivered yet. */
export class OwnProducer {
  readonly client: LowLevelProducer;
  readonly #waiting = new Map<string, (error: ClientError | null) => void>();
  /** Resolves with why librdkafka has given up: the broker gives it no producer id. */
  readonly #refused: Promise<ClientError>;
  /** Why a connection has failed last, if no write has succeeded since. The errors of records say only that they took too long. */
  #lastFailure: string | null = null;

  constructor(makeProducer: MakeProducer, properties: Properties = {}) {
    this.client = makeProducer({ ...common, ...properties });
    this.#refused = new Promise((resolve) => {
      this.client.on("event.error", ({ message }: { readonly message: string }) => {
        if (/cluster authorization failed/i.test(message)) {
          const refusal = refusedByCluster(message);
          resolve(refusal);
          this.#settleAll(refusal); // of a record that was enqueued in the moment of the refusal, there is no report
        }
      });
    });
    this.client.on("event.log", (line: ClientLogLine) => {
      if (isOfConnection(line)) {
        this.#lastFailure = textOf(line);
      }
    });
    this.client.on("delivery-report", (error: ClientError | null, { opaque }: { readonly opaque: string }) => {
      this.#waiting.get(opaque)?.(error);
      this.#waiting.delete(opaque);
    });
  }

  async connect(): Promise<this> {
    await this.answer((done) => this.client.connect({ timeout: connectDeadlineMs, allTopics: false }, done));
    this.client.setPollInBackground(true);
    return this;
  }

  /** The answer of a call of the client. If it fails because no broker has answered, its error says why there is no connection. */
  async answer(ask: (done: Answer<unknown>) => void): Promise<void> {
    try {
      await answerOf<unknown>(ask);
    } catch (error) {
      throw this.#withReason(error);
    }
  }

  /** Resolves when each record is delivered, and rejects when one is not. */
  async write(records: readonly OutgoingRecord[]): Promise<void> {
    try {
      await this.#write(records);
      this.#lastFailure = null;
    } catch (error) {
      throw this.#withReason(await this.#explained(error));
    }
  }

  async #write(records: readonly OutgoingRecord[]): Promise<void> {
    const deadline = performance.now() + writeDeadlineMs;
    const delivered: Promise<void>[] = [];
    for (const record of records) {
      const opaque = randomUUID();
      const delivery = this.#deliveryOf(opaque);
      delivery.catch(ignore); // its report may come before all records are enqueued, or after one that the client does not take has ended this
      delivered.push(delivery);
      while (!this.#enqueue(record, opaque)) {
        if (performance.now() > deadline) {
          this.#waiting.delete(opaque);
          throw new ConfluentDriverError("send-failed", "the queue of the producer stayed full");
        }
        await delay(fullQueuePauseMs);
      }
    }
    await Promise.all(delivered);
  }

  /** Ends the connections. What is not delivered by then is given up. */
  async close(deadlineMs: number = closeDeadlineMs): Promise<void> {
    await answerOf<unknown>((done) => this.client.disconnect(Math.min(deadlineMs, closeDeadlineMs), done)).catch(() => {});
    this.client.removeAllListeners();
  }

  /** A producer that has given up purges its queue and takes no record any more. It says why in an event, which may come before that or after it. */
  async #explained(error: unknown): Promise<unknown> {
    const { code } = error as { readonly code?: unknown };
    const hasGivenUp = code === codes.purgedInQueue || code === codes.fatal;
    return hasGivenUp ? Promise.race([this.#refused, delay(reasonDeadlineMs, error)]) : error;
  }

  /**
   * Brokers may refuse the login of this producer alone, because the connections of the consumer were made before a password was changed. That is no
   * outage, and lasts for as long as the process has the old one.
   */
  #withReason(error: unknown): unknown {
    if (this.#lastFailure === null || !isUnanswered(error)) {
      return error;
    }
    const { code, message } = error as ClientError; // `isUnanswered` has found its code
    const why = refusal(this.#lastFailure, "a broker");
    return why?.code === "authentication-failed"
      ? new ConfluentDriverError(why.code, why.detail, { cause: error })
      : Object.assign(new Error(`${message}: ${this.#lastFailure}`, { cause: error }), { code });
  }

  #settleAll(error: ClientError): void {
    this.#waiting.forEach((settle) => settle(error));
    this.#waiting.clear();
  }

  #deliveryOf(opaque: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(opaque, (error) => (error === null || error === undefined ? resolve() : reject(error)));
    });
  }

  /** False if the queue is full. */
  #enqueue({ topic, partition, key, value, headers, timestamp }: OutgoingRecord, opaque: string): boolean {
    try {
      const time = timestamp === undefined ? Date.now() : Number(timestamp) || nearestToZero;
      this.client.produce(topic, partition ?? null, toClientBytes(value), toClientBytes(key), time, opaque, toClientHeaders(headers));
      return true;
    } catch (error) {
      if ((error as Partial<ClientError>).code === codes.queueFull) {
        return false;
      }
      this.#waiting.delete(opaque);
      throw error;
    }
  }
}

/** The broker gives no producer id to a user without the right to write. The event has no code of Kafka's. */
function refusedByCluster(message: string): ClientError {
  return Object.assign(new Error(message), { code: codes.clusterAuthorization });
}

function ignore(): void {}

/** The client takes a buffer without memory for null. This one has memory and no length. */
const emptyBuffer = Buffer.alloc(1).subarray(1);

function toClientBytes(bytes: Uint8Array | null): Buffer | null {
  return bytes?.length === 0 ? emptyBuffer : bufferOf(bytes);
}
