/** A promise that is resolved from outside, once. */
export class Latch {
  readonly opened: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  open(): void {
    this.#resolve();
  }
}
