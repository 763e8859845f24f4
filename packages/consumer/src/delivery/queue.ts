/**
 * First in, first out. The head index moves instead of the array: shifting the array for each item would take quadratic time when many wait.
 */
export class Queue<Item> {
  /** Undefined before the head: what was taken must not be kept alive by what waits. */
  #items: (Item | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** The item that was added first. Undefined if there is none. */
  get head(): Item | undefined {
    return this.#items[this.#head];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Takes the head. Undefined if there is none. */
  shift(): Item | undefined {
    const item = this.head;
    if (this.#head < this.#items.length) {
      this.#items[this.#head++] = undefined;
      // Not each time: that would cost more than all the rest.
      if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#head);
        this.#head = 0;
      }
    }
    return item;
  }

  /** All items, in the order in which they were added. */
  all(): readonly Item[] {
    return this.#items.slice(this.#head) as Item[]; // only those before the head are undefined
  }
}
