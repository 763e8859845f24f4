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
  /** The highest offset of which anything has been handed on. It is below all offsets while nothing has. */
  #startedUpTo = -1n;
  #fencedBecause: string | null = null;

  constructor(clock: Clock, lease: Lease) {
    this.reading = new Fence(clock, lease);
    this.fence = new Fence(clock, lease);
  }

  /** Records are read, and handed on. */
  get isOpen(): boolean {
    return this.#state === "open";
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
  get startedUpTo(): bigint {
    return this.#startedUpTo;
  }

  /** Whether the record at this offset may be handed on. */
  mayStart(offset: bigint): boolean {
    return this.isOpen || (this.#state === "finishing" && offset <= this.#startedUpTo);
  }

  /** Records up to this offset are being handed on. Once the partition finishes, the bound stays: what starts then lies below it. */
  startsUpTo(offset: bigint): void {
    if (this.isOpen && offset > this.#startedUpTo) {
      this.#startedUpTo = offset;
    }
  }

  /** Reads nothing more, and still handles what must not come twice. */
  finish(): void {
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
