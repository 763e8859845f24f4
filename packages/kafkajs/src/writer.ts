import type { OutgoingRecord } from "@cdckit/consumer";
import { bounded, RequestLine, topicsText } from "@cdckit/driver";
import { KafkaJsDriverError } from "./errors.ts";
import { connected, letGoOpening, type MakeProducer, type OwnProducer, producerRetry, writeDeadlineMs } from "./own-producer.ts";
import { writeFailures } from "./write-failures.ts";
import { writeRecords } from "./write-records.ts";

/** Writes records. Its producer is made with the first write. */
export class Writer {
  readonly #makeProducer: MakeProducer;
  readonly #line: RequestLine = new RequestLine();
  readonly #ended: AbortSignal;
  #own: Promise<OwnProducer> | undefined;
  #isClosed = false;

  /** `ended`: nothing is waited for after it. */
  constructor(makeProducer: MakeProducer, ended: AbortSignal) {
    this.#makeProducer = makeProducer;
    this.#ended = ended;
  }

  /** One write after the other, because kafkajs does not keep the order of parallel writes. */
  send(records: readonly OutgoingRecord[]): Promise<void> {
    return this.#line.send(() => this.#send(records));
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    await this.#letGo(deadlineMs);
  }

  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#isClosed) {
      throw new KafkaJsDriverError("send-failed", `the session is closed; nothing was written to ${topicsText(records)}`);
    }
    const givenUp = new AbortController();
    try {
      const written = this.#write(records, givenUp.signal);
      await bounded(written, writeDeadlineMs, () => writeFailures.lateSend(writeDeadlineMs), this.#ended);
    } catch (error) {
      givenUp.abort(error);
      await this.#letGo();
      throw writeFailures.ofSend(error, records);
    }
  }

  /** `givenUp`: its caller was told that it failed, and may have written the same records by another producer since. */
  async #write(records: readonly OutgoingRecord[], givenUp: AbortSignal): Promise<void> {
    this.#own ??= this.#connect();
    const { producer, partitions } = await this.#own;
    givenUp.throwIfAborted();
    await writeRecords(producer, partitions, records);
  }

  #connect(): Promise<OwnProducer> {
    return connected(this.#makeProducer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false, retry: producerRetry }));
  }

  async #letGo(deadlineMs?: number): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    await letGoOpening(own, deadlineMs);
  }
}
