import { bindMethods } from "../bind-methods.ts";
import { nameOf, toError } from "../user-code/user-value.ts";

/**
 * An iteration that can be left while its next item is awaited. A generator answers `return()` and `throw()` only after that item, which may
 * never come: a stream that was destroyed on a quiet topic would keep its consumer in the group.
 */
export class LeavableIteration<Item> implements AsyncGenerator<Item, void, void> {
  readonly #items: AsyncGenerator<Item, void, void>;
  readonly #leave: (error: Error | null) => Promise<void>;

  /** `leave` makes the generator end soon, with or without an error. It resolves or rejects as what feeds the generator ends. */
  constructor(items: AsyncGenerator<Item, void, void>, leave: (error: Error | null) => Promise<void>) {
    this.#items = items;
    this.#leave = leave;
    bindMethods(this);
  }

  next(): Promise<IteratorResult<Item, void>> {
    return this.#items.next();
  }

  async return(): Promise<IteratorResult<Item, void>> {
    const left = this.#leave(null);
    const result = await this.#items.return();
    await left; // if a next() was under way, it was that one that got the failure
    return result;
  }

  /** Node's streams throw an `AbortError` if their reader leaves a loop, or if a signal ends the pipeline. Nothing has failed then. */
  async throw(error: unknown): Promise<IteratorResult<Item, void>> {
    if (nameOf(error) === "AbortError") {
      return this.return();
    }
    void this.#leave(toError(error)).catch(ignore); // the generator rejects with the same
    return this.#items.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

function ignore(): void {}
