import { seededScheduler } from "@cdckit/testkit";

/** Choices that one seed decides. */
export class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededScheduler(seed).random;
  }

  /** From `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.#random() * (max - min + 1));
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<T>(...choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)] as T; // within bounds
  }

  list<T>(count: number, make: (at: number) => T): T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }
}
