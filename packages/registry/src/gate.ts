/** Lets so many tasks run at once. The others wait, and start in order. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) {
      this.#running++;
    } else {
      // The task that ends hands its place over itself, so that a new task cannot take it in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#running--;
      } else {
        next();
      }
    }
  }
}
