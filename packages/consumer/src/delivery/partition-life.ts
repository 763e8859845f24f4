import type { Clock } from "../clock.ts";
import { Fence } from "./fence.ts";
import type { Lease } from "./lease.ts";
import { type PartitionEvent, type PartitionState, partitionStateAfter } from "./partition-state.ts";

/**
 * What may start of the work on one partition during one assignment. The state machine decides; this class closes a fence at each step of
 * it, so that whatever waits for its turn hears of it.
 */
export class PartitionLife {
  /** Closed when nothing more is read: with `finish`, or with `fence`. */
  readonly reading: Fence;
  /** Closed when nothing starts any more. */
  readonly fence: Fence;
  #state: PartitionState = "open";
  /** The highest offset of which anything is handled. It is below all offsets while nothing is. */
  #handledUpTo = -1n;
  #finishesUpTo = -1n;
  #fencedBecause: string | null = null;

  constructor(clock: Clock, lease: Lease) {
    this.reading = new Fence(clock, lease);
    this.fence = new Fence(clock, lease);
  }

  /** Records are read, and handed on. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Nothing is read any more, and what must not come twice is still handled. */
  get isFinishing(): boolean {
    return this.#state === "finishing";
  }

  /** Nothing starts any more. */
  get isFenced(): boolean {
    return this.#state === "fenced";
  }

  /** Why nothing of the partition starts, if that was not the consumer's own decision. */
  get fencedBecause(): string | null {
    return this.#fencedBecause;
  }

  /** While the partition finishes, nothing above this offset starts. */
  get finishesUpTo(): bigint {
    return this.#finishesUpTo;
  }

  /** Whether the record at this offset may be handed on. */
  mayStart(offset: bigint): boolean {
    return this.isOpen || (this.#state === "finishing" && offset <= this.#finishesUpTo);
  }

  /** Something of the record at this offset is handled, or is becoming a dead letter: the record must not come again. */
  handles(offset: bigint): void {
    if (offset > this.#handledUpTo) {
      this.#handledUpTo = offset;
    }
  }

  /**
   * Reads nothing more, and still handles what must not come twice: everything up to the highest record that is handled or in hand. To be
   * called again when something in hand has failed and rests until its next attempt, because less may have to be finished then. The bound
   * never rises: a record that was given up above it must not be overtaken by a later one of its key.
   */
  finish(inHandUpTo: bigint = -1n): void {
    const upTo = inHandUpTo > this.#handledUpTo ? inHandUpTo : this.#handledUpTo;
    if (this.isOpen || upTo < this.#finishesUpTo) {
      this.#finishesUpTo = upTo;
    }
    this.#enter("finish");
  }

  /** Nothing is left that must still be handled. */
  finished(): void {
    this.#enter("finished");
  }

  /** Lets nothing start any more. */
  fenceOff(because?: string): void {
    this.#fencedBecause = because ?? this.#fencedBecause;
    this.#enter("fence");
  }

  #enter(event: PartitionEvent): void {
    this.#state = partitionStateAfter(this.#state, event);
    if (this.#state !== "open") {
      this.reading.close();
    }
    if (this.#state === "fenced") {
      this.fence.close();
    }
  }
}
