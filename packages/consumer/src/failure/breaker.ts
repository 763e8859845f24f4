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

/** Records that were read one after the other, and set aside: the ordinals of the first and the last. */
interface Row {
  readonly first: number;
  readonly last: number;
}

/**
 * Compares the records that are set aside with all records, in the order in which they were read: with concurrency, a record may be set aside
 * long after later ones. A record that is handled costs nothing. It ends a row, because its ordinal is missing there.
 */
export class PoisonBreaker {
  readonly #policy: BreakerPolicy | null;
  /** Of the last records, by their ordinals. */
  #rows: readonly Row[] = [];

  constructor(policy: BreakerPolicy | null) {
    this.#policy = policy;
  }

  /** The record of this ordinal is about to be set aside. Says why that is too much, or null. */
  setAside(ordinal: number): string | null {
    if (this.#policy === null) {
      return null;
    }
    const { maxShare, maxInARow } = this.#policy;
    const row = this.#add(ordinal);
    const inARow = lengthOf(row);
    if (inARow > maxInARow) {
      return `${inARow} records in a row could not be handled (failure.breaker.maxInARow is ${maxInARow})`;
    }
    const before = (this.#rows.at(-1)?.last ?? ordinal) - windowRecords;
    this.#rows = this.#rows.filter(({ last }) => last > before);
    const inWindow = this.#rows.reduce((sum, { first, last }) => sum + lengthOf({ first: Math.max(first, before + 1), last }), 0);
    if (inWindow > maxShare * windowRecords) {
      return `${inWindow} of the last ${windowRecords} records could not be handled (failure.breaker.maxShare is ${maxShare})`;
    }
    return null;
  }

  /** The row that the record is in. It may join two. */
  #add(ordinal: number): Row {
    const isBeside = ({ first, last }: Row): boolean => ordinal >= first - 1 && ordinal <= last + 1;
    const joined = [...this.#rows.filter(isBeside), { first: ordinal, last: ordinal }];
    const row = { first: Math.min(...joined.map(({ first }) => first)), last: Math.max(...joined.map(({ last }) => last)) };
    this.#rows = [...this.#rows.filter((other) => !isBeside(other)), row].sort((a, b) => a.first - b.first);
    return row;
  }
}

function lengthOf({ first, last }: Row): number {
  return last - first + 1;
}
