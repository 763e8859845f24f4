/** When failures look systemic, so that setting records aside would divert a stream instead of an exception. */
export interface BreakerPolicy {
  /** Most of the last 1,000 records that may be set aside, as a share of them. */
  readonly maxShare: number;
  /** Most records in a row that may be set aside. */
  readonly maxInARow: number;
}

const windowRecords = 1_000;

/** Judges the records that are set aside against all of them. It costs nothing for a record that is handled. */
export class PoisonBreaker {
  readonly #policy: BreakerPolicy | null;
  /** How many records had been taken when each of the latest was set aside. */
  #setAsideAt: number[] = [];
  #inARow = 0;

  constructor(policy: BreakerPolicy | null) {
    this.#policy = policy;
  }

  /** A record was handled after trouble: whatever comes next starts a row of its own. */
  handled(): void {
    this.#inARow = 0;
  }

  /** A record is about to be set aside, the `records`-th that was taken. Why that is too much, or null. */
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
