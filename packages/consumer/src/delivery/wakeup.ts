/** Wakes all code that waits, any number of times. After each wake-up, the waiting code checks its own condition again. */
export class Wakeup {
  #waiters: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  wake(): void {
    if (this.#waiters.length === 0) {
      return;
    }
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) {
      resolve();
    }
  }
}
