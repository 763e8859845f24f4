import type { Clock } from "../clock.ts";
import type { Fence } from "./fence.ts";

/** Reading the clock costs a good part of what routing an event costs, so it is read once in so many records. */
const recordsPerClockReading = 16;

/** A turn of the event loop in which records are handled. It ends when others need the event loop, or when the lease is over. */
export class Turn {
  readonly #clock: Clock;
  readonly #fence: Fence;
  readonly #maxBlockMs: number;
  #untilClock = recordsPerClockReading;
  #startedAtMs: number;

  constructor(clock: Clock, fence: Fence, maxBlockMs: number) {
    this.#clock = clock;
    this.#fence = fence;
    this.#maxBlockMs = maxBlockMs;
    this.#startedAtMs = clock.nowMs();
  }

  /** Asked before every record: what to await first. Null if the record may follow at once. */
  restWhereDue(): Promise<void> | null {
    if (--this.#untilClock > 0) {
      return null;
    }
    this.#untilClock = recordsPerClockReading;
    const nowMs = this.#clock.nowMs();
    if (this.#fence.lease.isOverAt(nowMs)) {
      return this.#fence.leased();
    }
    return nowMs - this.#startedAtMs >= this.#maxBlockMs ? this.#yieldToEventLoop() : null;
  }

  async #yieldToEventLoop(): Promise<void> {
    await this.#clock.yieldToEventLoop();
    this.#startedAtMs = this.#clock.nowMs();
  }
}
