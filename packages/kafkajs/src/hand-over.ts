import type { DriverSink, FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { settledOrLate } from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import type { Fetched } from "./fetched.ts";
import type { PartitionControl } from "./partition-control.ts";

export interface HandOverParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  /** How long kafkajs' loop waits for a batch that is not handled yet. */
  readonly patienceMs: number;
  /** How many bytes may be fetched ahead of batches that are not handled, over all partitions. */
  readonly maxAheadBytes: number;
  /** A batch could not be read, or the work after it has failed. */
  readonly failed: (error: unknown) => void;
}

/**
 * Hands batches to the consumer, one after the other for each partition. kafkajs fetches nothing from a broker while a batch of that broker is
 * at work, so its loop waits for each batch only for a short time. Most batches are done by then. A batch that is not done holds up only its
 * own partition: one more batch is fetched ahead, then the partition is paused, and it is resumed when the work has ended. The more partitions
 * are at work, the shorter is the wait: if each of hundreds was waited for as long as the first, the last of a fetch would get its turn only
 * after minutes, and the watch over the logs would report that its client does not fetch.
 */
export class HandOver {
  readonly #parts: HandOverParts;
  /** Partitions whose batch is not handled yet. */
  #atWork = 0;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /** Whether a batch of the partition can be taken. A batch that is not taken must not count as read, so that it is fetched again. */
  hasRoom(held: Held, byteLength: number): boolean {
    if (held.isPaused || held.isGoing) {
      return false; // the batch was fetched before the pause
    }
    const hasRoom = held.atWork === undefined || (held.ahead.length === 0 && this.#isBounded(byteLength));
    if (!hasRoom) {
      this.#parts.control.hold(held, true);
    }
    return hasRoom;
  }

  /** Whether the consumer does not have all yet that was fetched: the rest of a fetch, whose first batch is at work, or what was fetched after it. */
  isBusy({ atWork, ahead }: Held): boolean {
    return atWork !== undefined || ahead.length > 0;
  }

  /** Takes the next fetch of the partition. kafkajs' loop waits for the returned promise. */
  take(fetched: Fetched, held: Held): Promise<void> | undefined {
    if (held.atWork === undefined && !held.isPaused) {
      return this.#give(fetched, held);
    }
    fetched.keep();
    held.ahead.push(fetched);
    this.#parts.control.hold(held, true);
    return undefined;
  }

  /** The consumer has resumed these partitions. */
  resume(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      const held = this.#parts.assignments.held(assignment);
      if (held !== undefined) {
        this.#goOn(held);
      }
    }
  }

  /** Hands over the next batches of the partition if it is free, and resumes its fetches when none is left. */
  #goOn(held: Held): void {
    while (held.atWork === undefined && !held.isPaused && !held.isGoing && !held.isOver) {
      const fetched = held.ahead.shift();
      if (fetched === undefined) {
        break;
      }
      void this.#give(fetched, held);
    }
    // A partition that goes, or whose session has failed, stays held: nothing that is fetched of it would be taken.
    if (held.ahead.length === 0 && !held.isGoing && !held.isOver) {
      this.#parts.control.hold(held, false);
    }
  }

  #give(fetched: Fetched, held: Held): Promise<void> | undefined {
    const { patienceMs } = this.#parts;
    if (held.isSlow) {
      fetched.keep();
    }
    const startedMs = performance.now();
    const taken = this.#giveAll(fetched, held);
    if (taken === undefined) {
      held.isSlow = false;
      return undefined;
    }
    const patience = patienceMs / ++this.#atWork;
    const work = taken
      .finally(() => this.#atWork--)
      .then(() => {
        held.atWork = undefined;
        held.isSlow = performance.now() - startedMs >= patienceMs;
        this.#goOn(held);
      })
      .catch((error: unknown) => this.#parts.failed(error)); // nobody waits for this work, so a rejection would end the process
    held.atWork = work;
    // kafkajs' loop waits once for a slow partition. Waiting for each of its batches would hold up the other partitions again.
    return held.isSlow ? undefined : settledOrLate(work, patience, () => {});
  }

  /** Hands over the batches of a fetch, one after another. What is left when the partition is paused waits until it is resumed. */
  #giveAll(fetched: Fetched, held: Held): Promise<void> | undefined {
    while (!held.isGoing && !held.isOver) {
      if (held.isPaused) {
        held.ahead.unshift(fetched);
        this.#parts.control.hold(held, true);
        return undefined;
      }
      const batch = this.#read(fetched);
      if (batch === null) {
        return undefined;
      }
      const taken = this.#parts.sink.batch(batch);
      if (taken !== undefined) {
        return taken.then(() => this.#giveAll(fetched, held));
      }
    }
    return undefined;
  }

  #read(fetched: Fetched): FetchedBatch | null {
    try {
      return fetched.next();
    } catch (error) {
      this.#parts.failed(error);
      return null;
    }
  }

  #isBounded(byteLength: number): boolean {
    const ahead = this.#parts.assignments
      .all()
      .reduce((bytes, held) => held.ahead.reduce((sum, fetched) => sum + fetched.byteLength, bytes), 0);
    return ahead === 0 || ahead + byteLength <= this.#parts.maxAheadBytes;
  }
}
