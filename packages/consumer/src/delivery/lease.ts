import type { Clock } from "../clock.ts";
import type { NextAcknowledgement } from "../driver.ts";
import type { OpenWait, WaitFor } from "../observe/waits.ts";

export interface LeaseParts {
  readonly clock: Clock;
  readonly wait: (wait: WaitFor) => OpenWait;
}

/** A silence of the group is not shown earlier, however short the intervals of the heartbeats are. */
const silentAfterMs = 5_000;
/** A heartbeat may be late by so much on a busy machine. With the usual intervals, the silence is shown after 5 s all the same. */
const slackMs = 1_500;

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

  /** Who acknowledges this member. Null if the driver does not say. */
  #host: string | null = null;
  /** Open while the acknowledgement that was expected has not come. */
  #silence: OpenWait | null = null;
  #cancelSilence: () => void = () => {};
  /** Counts the acknowledgements, also those that came too late. */
  #heard = 0;

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
  extend(validForMs: number, next: NextAcknowledgement | null = null): void {
    const { clock } = this.#parts;
    this.#untilMs = clock.nowMs() + validForMs;
    this.#untilWallMs = clock.wallMs() + validForMs;
    if (validForMs > 0) {
      this.#renewal?.wait.end();
      this.#renewal?.resolve();
      this.#renewal = null;
    }
    this.#heardFromGroup(next);
  }

  /** Nothing is waited for any more. */
  close(): void {
    this.#heardFromGroup(null);
  }

  #heardFromGroup(next: NextAcknowledgement | null): void {
    this.#heard++;
    this.#cancelSilence();
    this.#silence?.end();
    this.#silence = null;
    if (next !== null) {
      this.#host = next.host;
      const silentMs = Math.max(silentAfterMs, next.withinMs + slackMs);
      this.#cancelSilence = this.#parts.clock.after(silentMs, () => void this.#openSilence(this.#heard, silentMs));
    }
  }

  /**
   * The timer may have fired because this process stood still: timers come before sockets, and the acknowledgement may be in one. So the sockets
   * have their turn first.
   */
  async #openSilence(heard: number, silentMs: number): Promise<void> {
    await this.#parts.clock.yieldToEventLoop();
    if (heard === this.#heard) {
      this.#silence = this.#wait(silentError(silentMs));
    }
  }

  #wait(cause: Error): OpenWait {
    const host = this.#host === null ? {} : { host: this.#host };
    return this.#parts.wait({ what: "the group's acknowledgement of this member", ...host, cause });
  }

  /** Resolves at the next acknowledgement that is in time. */
  renewed(): Promise<void> {
    if (this.#renewal === null) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#renewal = { promise, resolve, wait: this.#wait(leaseOverError()) };
    }
    return this.#renewal.promise;
  }
}

function silentError(silentMs: number): Error {
  const text =
    `no heartbeat and no join of this member was answered for ${Math.round(silentMs / 1_000)} s: the broker that coordinates the group does not ` +
    "answer, the group waits for another member, or this process stood still";
  return Object.assign(new Error(`[unavailable] ${text}`), { code: "unavailable", retriable: true });
}

/** The error has the form in which sinks say that they cannot be reached: it is waited for, and no record is to blame. */
export function leaseOverError(): Error {
  const text =
    "no heartbeat of this member was acknowledged within its session; nothing is handed on or committed before one is. Either the brokers do " +
    "not answer, or this process stood still: it was paused, or a handler kept the event loop busy";
  return Object.assign(new Error(`[unavailable] ${text}`), { code: "unavailable", retriable: true });
}
