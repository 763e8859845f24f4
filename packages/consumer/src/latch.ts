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

  open(): void {
    this.#isOpen = true;
    this.#resolve();
    for (const end of this.#onOpen) {
      end();
    }
  }

  /**
   * Resolves when `work` does, or when this is opened. Rejects as `work` does. A race with `opened` would leave something behind in it for
   * each work, for as long as this is not opened.
   */
  orOpened(work: PromiseLike<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#onOpen.delete(end);
        resolve();
      };
      if (this.#isOpen) {
        resolve();
      } else {
        this.#onOpen.add(end);
      }
      work.then(end, (error: unknown) => {
        this.#onOpen.delete(end);
        reject(error as Error);
      });
    });
  }
}
