import type { OutgoingRecord } from "@cdckit/consumer";
import { bounded, RequestLine } from "@cdckit/driver";
import type { Cluster } from "./cluster.ts";
import { PlatformaticDriverError } from "./errors.ts";
import { topicsOf } from "./outgoing.ts";
import { initProducer, RecordSender, writeDeadlineMs } from "./record-sender.ts";

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
    const topics = topicsOf(records);
    if (this.#isClosed) {
      throw new PlatformaticDriverError("send-failed", `the session is closed; nothing was written to ${topics}`);
    }
    const late = (): Error => new PlatformaticDriverError("send-failed", `no answer within ${writeDeadlineMs} ms`);
    try {
      const written = this.#line.send(() => bounded(this.#write(records), 2 * writeDeadlineMs, late, this.#ended));
      await written;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new PlatformaticDriverError("send-failed", `writing to ${topics} failed: ${reason}`, { cause: error });
    }
  }

  /** Resolves when nothing is being written any more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#line.send(async () => {});
  }

  async #write(records: readonly OutgoingRecord[]): Promise<void> {
    this.#sender ??= new RecordSender(this.#cluster, await initProducer(this.#cluster, null, writeDeadlineMs));
    const sender = this.#sender;
    const placed = await sender.place(records);
    try {
      await sender.write(placed);
    } catch (error) {
      this.#sender = undefined; // it is not known what the brokers have of it
      throw error;
    }
  }
}
