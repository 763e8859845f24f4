/** A promise that is resolved from outside, once. */
export class Latch {
  readonly opened: Promise<void>;
  readonly #onOpen = new Set<() => void>();
  #isOpen = false;
  #resolve: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    this.#resolve();
    for (const end of this.#onOpen) {
      end();
    }
    this.#onOpen.clear(); // an open latch may live on, and what waited for it must not
  }

  /** Calls back when this is opened: never, if it is open already. Returns what takes the call back. */
  onOpen(call: () => void): () => void {
    if (!this.#isOpen) {
      this.#onOpen.add(call);
    }
    return () => this.#onOpen.delete(call);
  }

  /**
   * Resolves when `work` does, or when this is opened. Rejects as `work` does. A race with `opened` would leave something behind in it for
   * each work, for as long as this is not opened.
   */
  orOpened(work: PromiseLike<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const takeBack = this.onOpen(resolve);
      if (this.#isOpen) {
        resolve();
      }
      work.then(
        () => {
          takeBack();
          resolve();
        },
        (error: unknown) => {
          takeBack();
          reject(error as Error);
        },
      );
    });
  }
}
