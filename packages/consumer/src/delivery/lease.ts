import type { Clock } from "../clock.ts";
import type { OpenWait, WaitFor } from "../observe/waits.ts";

export interface LeaseParts {
  readonly clock: Clock;
  readonly wait: (wait: WaitFor) => OpenWait;
}

/**
 * For how long the group is known to keep this member. After a process was frozen, or cut off from the brokers, for longer than its
 * session, its partitions may belong to another member. So nothing starts before the group has answered.
 *
 * It is over if either of two clocks says so. The one that only goes forward stands still while the machine is suspended, and the wall clock
 * does not. If the wall clock is set forward, that costs the wait for one acknowledgement.
 *
 * A driver that reports no acknowledgements gives no lease, and such a lease never runs out.
 */
export class Lease {
  readonly #parts: LeaseParts;
  #untilMs = Infinity;
  #untilWallMs = Infinity;
  /** Of those who wait for the next acknowledgement. Null while nobody does. */
  #renewal: { readonly promise: Promise<void>; readonly resolve: () => void; readonly wait: OpenWait } | null = null;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
  }

  get #isGiven(): boolean {
    return this.#untilMs !== Infinity;
  }

  /**
   * The lease has run out. This reads the clock, which costs a good part of what a record costs: ask after every wait, and not for every
   * record.
   */
  get isOver(): boolean {
    return this.#isGiven && this.isOverAt(this.#parts.clock.nowMs());
  }

  /** The same, for a caller that has just read the clock. */
  isOverAt(nowMs: number): boolean {
    return this.#isGiven && (nowMs >= this.#untilMs || this.#parts.clock.wallMs() >= this.#untilWallMs);
  }

  /** The group has acknowledged this member, for this long from now on. If the answer came late, that may be no time at all. */
  extend(validForMs: number): void {
    const { clock } = this.#parts;
    this.#untilMs = clock.nowMs() + validForMs;
    this.#untilWallMs = clock.wallMs() + validForMs;
    if (validForMs > 0) {
      this.#renewal?.wait.end();
      this.#renewal?.resolve();
      this.#renewal = null;
    }
  }

  /** Resolves at the next acknowledgement that is in time. */
  renewed(): Promise<void> {
    if (this.#renewal === null) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      const wait = this.#parts.wait({ what: "the group's acknowledgement of this member", cause: leaseOverError() });
      this.#renewal = { promise, resolve, wait };
    }
    return this.#renewal.promise;
  }
}

/** The error has the form in which sinks say that they cannot be reached: it is waited for, and no record is to blame. */
export function leaseOverError(): Error {
  const text =
    "no heartbeat of this member was acknowledged within its session; nothing is handed on or committed before one is. Either the brokers do " +
    "not answer, or this process stood still: it was paused, or a handler kept the event loop busy";
  return Object.assign(new Error(`[unavailable] ${text}`), { code: "unavailable", retriable: true });
}
