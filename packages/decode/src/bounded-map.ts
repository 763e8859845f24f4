/**
 * A map of bounded size, so that senders cannot make it grow. The entry that was added first is removed first. Entries are counted, or
 * measured if `costOf` gives the cost of an entry.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;
  readonly #maxCost: number;
  readonly #costOf: (key: Key, value: Value) => number;
  #cost = 0;

  constructor(maxEntries: number, maxCost: number = Number.POSITIVE_INFINITY, costOf: (key: Key, value: Value) => number = () => 0) {
    this.#maxEntries = maxEntries;
    this.#maxCost = maxCost;
    this.#costOf = costOf;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    const cost = this.#costOf(key, value);
    const replaced = this.#entries.get(key);
    if (replaced === undefined) {
      this.#makeRoom(cost);
    } else {
      this.#cost -= this.#costOf(key, replaced);
    }
    this.#entries.set(key, value);
    this.#cost += cost;
  }

  get size(): number {
    return this.#entries.size;
  }

  #makeRoom(cost: number): void {
    for (const [oldest, value] of this.#entries) {
      if (this.#entries.size < this.#maxEntries && this.#cost + cost <= this.#maxCost) {
        return;
      }
      this.#entries.delete(oldest);
      this.#cost -= this.#costOf(oldest, value);
    }
  }
}
