import type { AbortedTransaction } from "./fetched-records.ts";

/**
 * Which producers' records are aborted, as far as the batches have been read. It does what Kafka's Java client does: a transaction of the
 * list begins when the batches reach its first offset, and the abort marker of its producer ends it. The list of a response is complete for
 * its offsets. So a transaction whose marker is in a later response is in both lists, and nothing is remembered in between.
 * `CompletedFetch` in https://github.com/apache/kafka/tree/trunk/clients/src/main/java/org/apache/kafka/clients/consumer/internals
 */
export class AbortedProducers {
  /** By first offset, the lowest last. */
  readonly #waiting: AbortedTransaction[];
  readonly #aborted = new Set<bigint>();

  /** `transactions`: the list of a response, in any order. */
  constructor(transactions: readonly AbortedTransaction[]) {
    this.#waiting = [...transactions].sort((a, b) => (a.firstOffset < b.firstOffset ? 1 : a.firstOffset > b.firstOffset ? -1 : 0));
  }

  /** Begins the transactions whose first offset is not above this one, the last offset of the batch that is read next. */
  reach(lastOffset: bigint): void {
    for (let next = this.#waiting.at(-1); next !== undefined && next.firstOffset <= lastOffset; next = this.#waiting.at(-1)) {
      this.#aborted.add(next.producerId);
      this.#waiting.pop();
    }
  }

  /** Whether the producer's records are aborted here. Only those of transactions: a producer may also have written without one. */
  has(producerId: bigint): boolean {
    return this.#aborted.has(producerId);
  }

  /** The producer's abort marker was read. */
  end(producerId: bigint): void {
    this.#aborted.delete(producerId);
  }
}
