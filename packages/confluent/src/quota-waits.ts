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

interface Pause extends Throttling {
  readonly untilMs: number;
  /** Of which nothing comes because of it, as was reported. */
  readonly waiting: Set<Held>;
}

/**
 * Reports partitions of which a quota lets nothing come. librdkafka names the broker alone: it may be any that is fetched from this one. It says it
 * once, which may be before it is known what is fetched from where.
 */
export class QuotaWaits {
  readonly #assignments: HeldPartitions;
  readonly #waits: PartitionWaits;
  readonly #pauses = new Map<number, Pause>();
  /** Of which records have come since. */
  readonly #come = new WeakSet<Held>();
  #sources: ReadonlyMap<string, number> = new Map();

  constructor(sink: Pick<DriverSink, "waiting">, brokers: string, assignments: HeldPartitions) {
    this.#assignments = assignments;
    this.#waits = new PartitionWaits({ sink, what: "a fetch", host: brokers });
  }

  throttled(throttling: Throttling): void {
    const { brokerId, throttleTime } = throttling;
    this.#fetchedFrom(brokerId).forEach((held) => this.#come.delete(held));
    const waiting = this.#pauses.get(brokerId)?.waiting ?? new Set();
    this.#pauses.set(brokerId, { ...throttling, untilMs: performance.now() + throttleTime, waiting });
    this.#report();
  }

  /** A report of librdkafka. `sources`: the ids of the brokers from which partitions are fetched, by `placeOf`. */
  take(sources: ReadonlyMap<string, number>): void {
    this.#sources = sources;
    this.#report();
  }

  /** Records of it have come. */
  end(held: Held): void {
    if (this.#pauses.size > 0) {
      this.#come.add(held);
    }
    this.#waits.end(held);
  }

  #report(): void {
    for (const { brokerId, throttleTime, untilMs, waiting } of this.#pauses.values()) {
      const isOver = performance.now() >= untilMs;
      const held = new Set(isOver ? [] : this.#fetchedFrom(brokerId).filter((one) => !this.#come.has(one)));
      for (const one of waiting) {
        if (!held.has(one)) {
          waiting.delete(one);
          this.#waits.end(one); // also if it is fetched from another broker by now, which may let it come
        }
      }
      for (const one of held) {
        waiting.add(one);
        this.#waits.failed(one, quotaError(makeError, one.assignment, throttleTime), throttleTime);
      }
      if (isOver) {
        this.#pauses.delete(brokerId);
      }
    }
  }

  #fetchedFrom(brokerId: number): readonly Held[] {
    const isFetched = ({ assignment: { topic, partition } }: Held): boolean => this.#sources.get(placeOf(topic, partition)) === brokerId;
    return this.#assignments.all().filter((held) => isRead(held) && isFetched(held));
  }
}
