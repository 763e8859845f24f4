import type { DriverSink } from "@cdckit/consumer";
import { isRead, PartitionWaits, placeOf, quotaError } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import { makeError } from "./errors.ts";

/** What librdkafka says when a broker holds the client to its quota, or does so no longer. */
export interface Throttling {
  readonly brokerId: number;
  /** Milliseconds; 0 if it holds it back no longer. */
  readonly throttleTime: number;
}

/**
 * Reports partitions of which a quota lets nothing come. librdkafka names the broker alone: it may be any that this one leads. It says it once, which
 * may be before it is known who leads what.
 */
export class QuotaWaits {
  readonly #assignments: HeldPartitions;
  readonly #waits: PartitionWaits;
  readonly #throttlings = new Map<number, Throttling & { readonly untilMs: number }>();
  /** Of which records have come since. */
  readonly #come = new WeakSet<Held>();
  #leaders: ReadonlyMap<string, number> = new Map();

  constructor(sink: Pick<DriverSink, "waiting">, brokers: string, assignments: HeldPartitions) {
    this.#assignments = assignments;
    this.#waits = new PartitionWaits({ sink, what: "a fetch", host: brokers });
  }

  throttled(throttling: Throttling): void {
    this.#ledBy(throttling.brokerId).forEach((held) => this.#come.delete(held));
    this.#throttlings.set(throttling.brokerId, { ...throttling, untilMs: performance.now() + throttling.throttleTime });
    this.#report();
  }

  /** A report of librdkafka. `leaders`: the ids of the brokers that lead partitions, by `placeOf`. */
  take(leaders: ReadonlyMap<string, number>): void {
    this.#leaders = leaders;
    this.#report();
  }

  /** Records of it have come. */
  end(held: Held): void {
    if (this.#throttlings.size > 0) {
      this.#come.add(held);
    }
    this.#waits.end(held);
  }

  #report(): void {
    for (const { brokerId, throttleTime, untilMs } of this.#throttlings.values()) {
      const isOver = performance.now() >= untilMs;
      for (const held of this.#ledBy(brokerId)) {
        if (isOver) {
          this.#waits.end(held);
        } else if (!this.#come.has(held)) {
          this.#waits.failed(held, quotaError(makeError, held.assignment, throttleTime), throttleTime);
        }
      }
      if (isOver) {
        this.#throttlings.delete(brokerId);
      }
    }
  }

  #ledBy(brokerId: number): readonly Held[] {
    const isLed = ({ assignment: { topic, partition } }: Held): boolean => this.#leaders.get(placeOf(topic, partition)) === brokerId;
    return this.#assignments.all().filter((held) => isRead(held) && isLed(held));
  }
}
