import type { DriverSink, PartitionAssignment } from "@cdckit/consumer";
import type { Held, HeldPartitions } from "./assignments.ts";
import type { MessageBatch } from "./message-batch.ts";
import type { PartitionControl } from "./partition-control.ts";

export interface HandOverParts {
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  /** How many bytes of a partition may wait for the consumer. */
  readonly maxAheadBytes: number;
}

/**
 * Hands batches to the consumer, one after the other for each partition. A batch that is not done holds up its own partition and no other. What
 * comes meanwhile waits here: a pause makes the client throw away what it has fetched, so a partition is paused only if much of it waits.
 */
export class HandOver {
  readonly #parts: HandOverParts;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /** Takes the next batch of the partition. */
  take(batch: MessageBatch, held: Held): void {
    if (!held.isAtWork && !held.isPaused) {
      this.#give(batch, held);
      return;
    }
    held.ahead.push(batch);
    held.aheadBytes += batch.byteLength;
    if (held.aheadBytes >= this.#parts.maxAheadBytes) {
      this.#parts.control.hold(held, true);
    }
  }

  /** The consumer has resumed these partitions. */
  resume(assignments: readonly PartitionAssignment[]): void {
    for (const held of this.#parts.assignments.heldOf(assignments)) {
      this.#goOn(held);
    }
  }

  /** Hands over the next batches of the partition if it is free, and resumes its fetches when none is left. */
  #goOn(held: Held): void {
    while (!held.isAtWork && !held.isPaused && !held.isGoing && !held.isOver) {
      const batch = held.ahead.shift();
      if (batch === undefined) {
        break;
      }
      held.aheadBytes -= batch.byteLength;
      this.#give(batch, held);
    }
    if (held.ahead.length === 0) {
      held.aheadBytes = 0;
      this.#parts.control.hold(held, false);
    }
  }

  #give(batch: MessageBatch, held: Held): void {
    const taken = this.#parts.sink.batch(batch);
    if (taken !== undefined) {
      held.isAtWork = true;
      void taken.then(() => {
        held.isAtWork = false;
        this.#goOn(held);
      });
    }
  }
}
