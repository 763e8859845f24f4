/** Something to wait for that happens again and again. Whoever waits looks again at what it waited for. */
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
