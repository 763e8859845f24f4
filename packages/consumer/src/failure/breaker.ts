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
  /** For each of the latest that were set aside: how many records had been taken by then. */
  #setAsideAt: number[] = [];
  #inARow = 0;

  constructor(policy: BreakerPolicy | null) {
    this.#policy = policy;
  }

  /** A record was handled after a failure: the next one that is set aside starts a new row. */
  handled(): void {
    this.#inARow = 0;
  }

  /** A record is about to be set aside, when `records` were taken in all. Says why that is too much, or null. */
  setAside(records: number): string | null {
    if (this.#policy === null) {
      return null;
    }
    const { maxShare, maxInARow } = this.#policy;
    const last = this.#setAsideAt.at(-1);
    this.#inARow = last !== undefined && records - last > 1 ? 1 : this.#inARow + 1;
    this.#setAsideAt = this.#setAsideAt.filter((at) => at > records - windowRecords);
    this.#setAsideAt.push(records);
    if (this.#inARow > maxInARow) {
      return `${this.#inARow} records in a row could not be handled (failure.breaker.maxInARow is ${maxInARow})`;
    }
    if (this.#setAsideAt.length > maxShare * windowRecords) {
      return `${this.#setAsideAt.length} of the last ${windowRecords} records could not be handled (failure.breaker.maxShare is ${maxShare})`;
    }
    return null;
  }
}
