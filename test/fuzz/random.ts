/** Numbers that a seed repeats (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The numbers of one message: it can be made again without those before it. */
  static of(seed: number, message: number): Random {
    const random = new Random(seed);
    random.#state = (random.#next() ^ Math.imul(message + 1, 0x9e3779b1)) >>> 0;
    random.#state = random.#next();
    return random;
  }

  /** From 0 (inclusive) to `below` (exclusive). */
  below(below: number): number {
    return Math.floor((this.#next() / 2 ** 32) * below);
  }

  chance(probability: number): boolean {
    return this.below(1_000_000) < probability * 1_000_000;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const left = [...items];
    return items.map(() => left.splice(this.below(left.length), 1)[0] as Item);
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
}
