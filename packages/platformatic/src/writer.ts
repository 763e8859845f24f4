import type { OutgoingRecord } from "@cdckit/consumer";
import { bounded, RequestLine, topicsText } from "@cdckit/driver";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { initProducer, RecordSender, writeDeadlineMs } from "./record-sender.ts";
import { writeFailures } from "./write-failures.ts";

/** Writes records, in the order in which they are given. Its producer is made with the first write, and again after a failed one. */
export class Writer {
  readonly #cluster: Cluster;
  readonly #ended: AbortSignal;
  readonly #line: RequestLine = new RequestLine();
  #sender: RecordSender | undefined;
  #isClosed = false;

  /** `ended`: nothing is waited for after it. */
  constructor(cluster: Cluster, ended: AbortSignal) {
    this.#cluster = cluster;
    this.#ended = ended;
  }

  async send(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#isClosed) {
      throw new PlatformaticDriverError("send-failed", `the session is closed; nothing was written to ${topicsText(records)}`);
    }
    try {
      await this.#line.send(() => this.#send(records));
    } catch (error) {
      throw writeFailures.ofSend(error, records);
    }
  }

  /** Resolves when nothing is being written any more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#line.send(async () => {});
  }

  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    const late = (): Error => writeFailures.lateSend(2 * writeDeadlineMs);
    const givenUp = new AbortController();
    try {
      await bounded(this.#write(records, givenUp.signal), 2 * writeDeadlineMs, late, this.#ended);
    } catch (error) {
      givenUp.abort(error);
      // It is not known what the brokers have of it. They would take the next write of the same producer for a repetition, and drop its records.
      this.#sender = undefined;
      throw error;
    }
  }

  /** `givenUp`: its caller was told that it failed. */
  async #write(records: readonly OutgoingRecord[], givenUp: AbortSignal): Promise<void> {
    const sender = this.#sender ?? new RecordSender(this.#cluster, await initProducer(this.#cluster));
    givenUp.throwIfAborted(); // the next write has a producer of its own, which must not be replaced by this one
    this.#sender = sender;
    await sender.write(await sender.place(records), givenUp);
  }
}
