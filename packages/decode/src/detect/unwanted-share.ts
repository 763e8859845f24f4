/** Of how many records the share is. */
const recent = 64;

/** Reading a row twice pays only if it is seldom done: skipping it takes about half as long as reading it. */
const large = 0.75;

/** The share of recent records of which nothing is wanted. */
export class UnwantedShare {
  #share = 0;

  /** Whether records should be read without columns at first. */
  get isLarge(): boolean {
    return this.#share > large;
  }

  count(isUnwanted: boolean): void {
    this.#share += ((isUnwanted ? 1 : 0) - this.#share) / recent;
  }
}
