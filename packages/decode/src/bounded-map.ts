/**
 * A map of bounded size, so that senders cannot make it grow. The entry that was added first is removed first. Entries are counted, or
 * measured if `costOf` gives the cost of a key.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxEntries: number;
  readonly #maxCost: number;
  readonly #costOf: (key: Key) => number;
  #cost = 0;

  constructor(maxEntries: number, maxCost: number = Number.POSITIVE_INFINITY, costOf: (key: Key) => number = () => 0) {
    this.#maxEntries = maxEntries;
    this.#maxCost = maxCost;
    this.#costOf = costOf;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (!this.#entries.has(key)) {
      this.#makeRoom(this.#costOf(key));
    }
    this.#entries.set(key, value);
  }

  #makeRoom(cost: number): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries && this.#cost + cost <= this.#maxCost) {
        break;
      }
      this.#entries.delete(oldest);
      this.#cost -= this.#costOf(oldest);
    }
    this.#cost += cost;
  }
}
