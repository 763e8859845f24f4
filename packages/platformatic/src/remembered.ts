/** Answers that are asked for once, and again after `forget`. A failure is not remembered. */
export class Remembered<T> {
  readonly #answers = new Map<string, Promise<T>>();

  get(name: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(name);
    if (known !== undefined) {
      return known;
    }
    const asked = ask();
    this.#answers.set(name, asked);
    asked.catch(() => {
      if (this.#answers.get(name) === asked) {
        this.#answers.delete(name);
      }
    });
    return asked;
  }

  forget(name: string): void {
    this.#answers.delete(name);
  }

  clear(): void {
    this.#answers.clear();
  }
}
