/**
 * When failures look systemic. Then records must not be set aside any more: that would divert the whole stream instead of a few records.
 */
export interface BreakerPolicy {
  /** The largest share of the last 1,000 records that may be set aside. */
  readonly maxShare: number;
  /** How many records in a row may be set aside. */
  readonly maxInARow: number;
}

const windowRecords = 1_000;

/** Compares the records that are set aside with all records. A record that is handled costs nothing. */
export class PoisonBreaker {
  readonly #policy: BreakerPolicy | null;
  /** The ordinals of the latest that were set aside. */
  #setAsideAt: number[] = [];
  #inARow = 0;

  constructor(policy: BreakerPolicy | null) {
    this.#policy = policy;
  }

  /** A record was handled after a failure: the next one that is set aside starts a new row. */
  handled(): void {
    this.#inARow = 0;
  }

  /** The record of this ordinal is about to be set aside. Says why that is too much, or null. */
  setAside(ordinal: number): string | null {
    if (this.#policy === null) {
      return null;
    }
    const { maxShare, maxInARow } = this.#policy;
    const last = this.#setAsideAt.at(-1);
    this.#inARow = last !== undefined && ordinal - last > 1 ? 1 : this.#inARow + 1;
    this.#setAsideAt = this.#setAsideAt.filter((at) => at > ordinal - windowRecords);
    this.#setAsideAt.push(ordinal);
    if (this.#inARow > maxInARow) {
      return `${this.#inARow} records in a row could not be handled (failure.breaker.maxInARow is ${maxInARow})`;
    }
    if (this.#setAsideAt.length > maxShare * windowRecords) {
      return `${this.#setAsideAt.length} of the last ${windowRecords} records could not be handled (failure.breaker.maxShare is ${maxShare})`;
    }
    return null;
  }
}
