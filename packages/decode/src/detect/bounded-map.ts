/**
 * A map whose size is not the sender's to decide: what was added first makes room. Entries are counted, and weighed where `weightOf` says
 * how much a key stands for.
 */
export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #mostEntries: number;
  readonly #mostWeight: number;
  readonly #weightOf: (key: Key) => number;
  #weight = 0;

  constructor(mostEntries: number, mostWeight: number = Number.POSITIVE_INFINITY, weightOf: (key: Key) => number = () => 0) {
    this.#mostEntries = mostEntries;
    this.#mostWeight = mostWeight;
    this.#weightOf = weightOf;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (!this.#entries.has(key)) {
      this.#makeRoom(this.#weightOf(key));
    }
    this.#entries.set(key, value);
  }

  #makeRoom(weight: number): void {
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#mostEntries && this.#weight + weight <= this.#mostWeight) {
        break;
      }
      this.#entries.delete(oldest);
      this.#weight -= this.#weightOf(oldest);
    }
    this.#weight += weight;
  }
}
