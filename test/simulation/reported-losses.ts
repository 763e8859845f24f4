import type { LostRange } from "@cdckit/consumer";
import type { MemoryBroker } from "@cdckit/testkit";

/**
 * What members are told of records that are gone. It is compared with the log in the moment in which it is told: by the time at which the
 * member has drained and halted, retention may have taken more, and the topic may be another one.
 */
export class ReportedLosses {
  readonly #broker: MemoryBroker;
  readonly #true = new WeakSet<object>();

  constructor(broker: MemoryBroker) {
    this.#broker = broker;
  }

  /** A driver fails with this, or cannot connect because of it. */
  reported(error: unknown): void {
    const { lost } = error as { readonly lost?: LostRange | null };
    if (lost !== undefined && lost !== null && this.isGone(lost)) {
      this.#true.add(error as object);
    }
  }

  /** The error was true when it was told. */
  isTrue(error: Error): boolean {
    return this.#true.has(error);
  }

  /** What is said to be gone is what is gone, and the topic that is told of is the one that there is. */
  isGone({ topic, partition, firstMissing, firstAvailable, end, recreated }: LostRange): boolean {
    const { start, stableEnd } = this.#broker.log(topic, partition);
    const isOfThisLog = firstAvailable === start && end === stableEnd;
    const isGone =
      recreated === undefined ? firstMissing < start : recreated.to === this.#broker.topicId(topic) && recreated.from !== recreated.to;
    return isOfThisLog && isGone;
  }
}
