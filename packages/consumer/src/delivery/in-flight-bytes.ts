import type { FetchedBatch } from "../driver.ts";

/**
 * The bytes of the fetched batches that are in memory, over all partitions. They are counted as batches come and go: the limit is looked at
 * after every handler call, and a sum over all partitions would cost more than the call.
 */
export class InFlightBytes {
  readonly #max: number;
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get total(): number {
    return this.#total;
  }

  /** The limit is reached: no more batches are to be taken. */
  get isFull(): boolean {
    return this.#total >= this.#max;
  }

  add({ byteLength }: FetchedBatch): void {
    this.#total += byteLength;
  }

  /** To be called once for each batch that was added. */
  remove({ byteLength }: FetchedBatch): void {
    this.#total -= byteLength;
  }
}
