import type { DriverSink, PartitionAssignment } from "@cdckit/consumer";
import { isRead } from "@cdckit/driver";
import type { RecordSet } from "@cdckit/record-batch";
import { advanceTo, type Held, type HeldPartitions } from "./assignments.ts";

export interface HandOverParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  /** The batch at `next` cannot be read. */
  readonly unreadable: (held: Held, error: unknown) => void;
  /** More of it can be fetched. */
  readonly wake: () => void;
}

/** Hands record sets to the consumer, one after the other for each partition. One that is not done holds up its own partition and no other. */
export class HandOver {
  readonly #parts: HandOverParts;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /** The consumer has resumed these partitions. */
  resume(assignments: readonly PartitionAssignment[]): void {
    for (const held of this.#parts.assignments.heldOf(assignments)) {
      this.goOn(held);
    }
    this.#parts.wake();
  }

  /** Hands over what was fetched of the partition, if the consumer is ready for it. */
  goOn(held: Held): void {
    while (!held.isAtWork && !held.isPaused && isRead(held)) {
      const set = this.#next(held);
      if (set === null) {
        break;
      }
      if (set.recordCount > 0 || set.nextOffset > held.next) {
        this.#give(set, held);
      }
    }
  }

  /** The next set, decompressed and checked; null if nothing is ready, or if it cannot be read. */
  #next(held: Held): RecordSet<PartitionAssignment> | null {
    for (let fetched = held.ahead[0]; fetched?.isReady === true; fetched = held.ahead[0]) {
      try {
        const set = fetched.sets.read();
        if (set !== null) {
          return set;
        }
      } catch (error) {
        this.#parts.unreadable(held, error);
        return null;
      }
      held.ahead.shift();
      if (fetched.end === null) {
        held.fetchFrom = held.next;
      }
      this.#parts.wake();
    }
    return null;
  }

  #give(set: RecordSet<PartitionAssignment>, held: Held): void {
    advanceTo(held, set.nextOffset, set.lastLeaderEpoch ?? -1);
    held.failedReads = 0;
    held.neededBytes = 0;
    const taken = this.#parts.sink.batch(set);
    if (taken !== undefined) {
      held.isAtWork = true;
      void taken.then(() => {
        held.isAtWork = false;
        this.goOn(held);
      });
    }
  }
}
