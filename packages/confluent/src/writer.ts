import type { OutgoingRecord } from "@cdckit/consumer";
import { bounded, topicsText } from "@cdckit/driver";
import { ConfluentDriverError } from "./errors.ts";
import { type MakeProducer, OwnProducer, writeDeadlineMs } from "./own-producer.ts";
import { writeFailures } from "./write-failures.ts";

/** A producer that is made first has this much more time. */
const sendDeadlineMs = writeDeadlineMs + 5_000;

/** Writes records. Its producer is made with the first write, and again after a failed one. */
export class Writer {
  readonly #makeProducer: MakeProducer;
  readonly #ended: AbortSignal;
  #own: Promise<OwnProducer> | undefined;
  #isClosed = false;

  /** `ended`: nothing is waited for after it. */
  constructor(makeProducer: MakeProducer, ended: AbortSignal) {
    this.#makeProducer = makeProducer;
    this.#ended = ended;
  }

  async send(records: readonly OutgoingRecord[]): Promise<void> {
    if (this.#isClosed) {
      throw new ConfluentDriverError("send-failed", `the session is closed; nothing was written to ${topicsText(records)}`);
    }
    this.#own ??= new OwnProducer(this.#makeProducer).connect();
    const own = this.#own;
    const late = (): Error => writeFailures.lateSend(sendDeadlineMs);
    try {
      await bounded(
        own.then((producer) => producer.write(records)),
        sendDeadlineMs,
        late,
        this.#ended,
      );
    } catch (error) {
      if (this.#own === own) {
        this.#own = undefined;
      }
      void letGo(own);
      throw writeFailures.ofSend(error, records);
    }
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosed = true;
    const own = this.#own;
    this.#own = undefined;
    await letGo(own, deadlineMs);
  }
}

async function letGo(own: Promise<OwnProducer> | undefined, deadlineMs?: number): Promise<void> {
  await own?.then((producer) => producer.close(deadlineMs)).catch(() => {});
}
