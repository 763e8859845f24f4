import type { RegistryClock } from "./clock.ts";

export interface BreakerBounds {
  readonly failures: number;
  readonly coolDownMs: number;
}

/**
 * Leaves one address alone while it is down: after so many requests in a row that had no answer, none goes there for a while, and then one,
 * whose outcome decides for all. An outage costs those who wait no time-outs, and a registry that comes back no flood.
 */
export class Breaker {
  readonly #bounds: BreakerBounds;
  readonly #clock: RegistryClock;
  readonly #random: () => number;
  #failures = 0;
  #closedUntilMs = 0;
  #isTrying = false;

  constructor(bounds: BreakerBounds, clock: RegistryClock, random: () => number) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#random = random;
  }

  /** How long no request may go there; 0 where one may, which must then be told to `succeeded` or `failed`. */
  waitMs(): number {
    if (this.#failures < this.#bounds.failures) {
      return 0;
    }
    const waitMs = this.#closedUntilMs - this.#clock.nowMs();
    if (waitMs > 0 || this.#isTrying) {
      return Math.max(1, Math.ceil(waitMs));
    }
    this.#isTrying = true;
    return 0;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#isTrying = false;
  }

  failed(): void {
    this.#failures++;
    this.#isTrying = false;
    // Up to a quarter longer, never shorter: consumers that failed together must not come back together.
    this.#closedUntilMs = this.#clock.nowMs() + this.#bounds.coolDownMs * (1 + this.#random() / 4);
  }

  /** The request had no outcome: it was given up, not answered. */
  abandoned(): void {
    this.#isTrying = false;
  }
}
