import type { DriverSink, PartitionAssignment } from "@cdckit/consumer";
import type { Assignments, Held } from "./assignments.ts";
import type { MessageBatch } from "./message-batch.ts";
import type { PartitionControl } from "./partition-control.ts";

export interface HandOverParts {
  readonly sink: DriverSink;
  readonly assignments: Assignments;
  readonly control: PartitionControl;
  /** How long kafkajs' loop waits for a batch that is not handled. */
  readonly patienceMs: number;
  /** What may be fetched ahead of batches that are not handled, over all partitions. */
  readonly maxAheadBytes: number;
}

/**
 * Hands batches to the consumer, those of a partition one after the other. kafkajs fetches nothing from a broker while any batch of that
 * broker is at work, so its loop waits for one a short while only. Most batches are done by then. One that is not holds up its own
 * partition: one batch more of it is fetched ahead, then the partition is paused, and it goes on when the work has ended.
 */
export class HandOver {
  readonly #parts: HandOverParts;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /** Whether a batch of the partition can be taken. What is not taken must not count as read: it is fetched again. */
  hasRoom(held: Held, byteLength: number): boolean {
    if (held.isPaused || held.isGoing) {
      return false; // fetched before that was said
    }
    const hasRoom = held.atWork === undefined || (held.ahead.length === 0 && this.#isBounded(byteLength));
    if (!hasRoom) {
      this.#parts.control.hold(held, true);
    }
    return hasRoom;
  }

  /** Takes the next batch of the partition. A promise: kafkajs' loop waits so long. */
  take(batch: MessageBatch, held: Held): Promise<void> | undefined {
    if (held.atWork === undefined && !held.isPaused) {
      return this.#give(batch, held);
    }
    held.ahead.push(batch);
    this.#parts.control.hold(held, true);
    return undefined;
  }

  /** The consumer wants more of these again. */
  resume(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      const held = this.#parts.assignments.held(assignment);
      if (held !== undefined) {
        this.#goOn(held);
      }
    }
  }

  /** The partition goes on, where it can. */
  #goOn(held: Held): void {
    while (held.atWork === undefined && !held.isPaused && !held.isGoing && !held.isOver) {
      const batch = held.ahead.shift();
      if (batch === undefined) {
        break;
      }
      void this.#give(batch, held);
    }
    if (held.ahead.length === 0) {
      this.#parts.control.hold(held, false);
    }
  }

  #give(batch: MessageBatch, held: Held): Promise<void> | undefined {
    const { sink, patienceMs } = this.#parts;
    const startedMs = performance.now();
    const taken = sink.batch(batch);
    if (taken === undefined) {
      held.isSlow = false;
      return undefined;
    }
    const work = taken.then(() => {
      held.atWork = undefined;
      held.isSlow = performance.now() - startedMs >= patienceMs;
      this.#goOn(held);
    });
    held.atWork = work;
    // Once is enough: the others need not wait again for a partition that takes its time.
    return held.isSlow ? undefined : settledOrLate(work, patienceMs);
  }

  #isBounded(byteLength: number): boolean {
    const ahead = this.#parts.assignments
      .all()
      .reduce((bytes, held) => held.ahead.reduce((sum, batch) => sum + batch.byteLength, bytes), 0);
    return ahead === 0 || ahead + byteLength <= this.#parts.maxAheadBytes;
  }
}

function settledOrLate(work: Promise<void>, patienceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs).unref();
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
