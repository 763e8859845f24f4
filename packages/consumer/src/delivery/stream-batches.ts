import type { PartitionAssignment } from "../driver.ts";
import { Queue } from "./queue.ts";
import type { StreamBatch } from "./stream-reader.ts";

/**
 * The batches of a stream that are in memory: those that wait in the queue to be handed out, and those that are handed out and not done. A
 * topic of small batches has tens of thousands of them in memory, so only a drain goes through all of the queue.
 */
export class StreamBatches {
  readonly #inMemory = new Set<StreamBatch>();
  readonly #countOf = new Map<PartitionAssignment, number>();
  #queue: Queue<StreamBatch> = new Queue();

  /** How many are in memory. */
  get count(): number {
    return this.#inMemory.size;
  }

  /** The batch that is handed out now, or next. */
  get head(): StreamBatch | undefined {
    return this.#queue.head;
  }

  /** All that are in memory, in the order in which they came. */
  all(): Iterable<StreamBatch> {
    return this.#inMemory;
  }

  /** Some of the partition are in memory. */
  has(assignment: PartitionAssignment): boolean {
    return this.#countOf.has(assignment);
  }

  add(taken: StreamBatch): void {
    const { assignment } = taken.batch;
    this.#inMemory.add(taken);
    this.#countOf.set(assignment, (this.#countOf.get(assignment) ?? 0) + 1);
    this.#queue.push(taken);
  }

  /** Takes the head off the queue. It stays in memory. */
  shiftHead(): void {
    this.#queue.shift();
  }

  /** Takes the batches of these partitions (of all, if null) off the queue, and returns them. They stay in memory. */
  dequeue(assignments: ReadonlySet<PartitionAssignment> | null): readonly StreamBatch[] {
    const gone: StreamBatch[] = [];
    const rest = new Queue<StreamBatch>();
    for (const taken of this.#queue.all()) {
      const goes = assignments === null || assignments.has(taken.batch.assignment);
      (goes ? gone : rest).push(taken);
    }
    this.#queue = rest;
    return gone;
  }

  /** The batch leaves memory. False if it has left already. */
  delete(taken: StreamBatch): boolean {
    const wasInMemory = this.#inMemory.delete(taken);
    if (wasInMemory) {
      const { assignment } = taken.batch;
      const count = (this.#countOf.get(assignment) ?? 1) - 1;
      if (count === 0) {
        this.#countOf.delete(assignment);
      } else {
        this.#countOf.set(assignment, count);
      }
    }
    return wasInMemory;
  }
}
