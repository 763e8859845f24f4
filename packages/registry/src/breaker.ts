import type { RegistryClock } from "./clock.ts";

export interface BreakerBounds {
  readonly failures: number;
  readonly coolDownMs: number;
}

/**
 * Stops requests to one address while it is down. After so many requests in a row without an answer, none is sent for a while. Then one
 * request is sent, and its outcome decides for all. So callers do not wait for time-outs during an outage, and a registry that comes back is
 * not flooded.
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

  /** How long no request may be sent; 0 if one may. The outcome of that one must be reported to `succeeded` or `failed`. */
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
    // Up to a quarter longer, never shorter, so that consumers that failed together do not come back together.
    this.#closedUntilMs = this.#clock.nowMs() + this.#bounds.coolDownMs * (1 + this.#random() / 4);
  }

  /** The request was given up, and says nothing about the address. */
  abandoned(): void {
    this.#isTrying = false;
  }
}
