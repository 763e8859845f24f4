import type { DriverSession, DriverSink, OffsetCommit, PartitionAssignment, Subscription } from "@cdckit/consumer";
import type { MemoryBroker } from "./memory-broker.ts";
import { RecordArrayBatch } from "./record-array-batch.ts";

/** One member of a group: it fetches from its partitions in turn and hands the batches over. */
export class MemoryMember implements DriverSession {
  readonly #broker: MemoryBroker;
  readonly #subscription: Subscription;
  readonly #sink: DriverSink;
  readonly #maxBatchRecords: number;
  readonly #positions = new Map<PartitionAssignment, bigint>();
  readonly #paused = new Set<PartitionAssignment>();
  #wake: () => void = () => {};
  #isWoken = false;
  #closing: Promise<void> | undefined;

  constructor(broker: MemoryBroker, subscription: Subscription, sink: DriverSink, maxBatchRecords: number) {
    this.#broker = broker;
    this.#subscription = subscription;
    this.#sink = sink;
    this.#maxBatchRecords = maxBatchRecords;
  }

  /** Hands over batches until it is closed. */
  async fetchUntilClosed(): Promise<void> {
    while (this.#closing === undefined) {
      this.#isWoken = false;
      if (!(await this.#fetchOnce())) {
        await this.#sleep();
      }
    }
  }

  subscribes(topic: string): boolean {
    return this.#subscription.topics.some((wanted) => (typeof wanted === "string" ? wanted === topic : topic.search(wanted) !== -1));
  }

  assignments(): readonly PartitionAssignment[] {
    return [...this.#positions.keys()];
  }

  assign(assignments: readonly PartitionAssignment[]): void {
    if (assignments.length === 0) {
      return;
    }
    for (const assignment of assignments) {
      this.#positions.set(assignment, this.#startOf(assignment));
    }
    this.#sink.assigned(assignments);
    this.wake();
  }

  async revoke(assignments: readonly PartitionAssignment[]): Promise<void> {
    if (assignments.length === 0) {
      return;
    }
    this.pause(assignments);
    await this.#sink.revoked(assignments, "revoked");
    this.#drop(assignments);
  }

  async lose(assignments: readonly PartitionAssignment[]): Promise<void> {
    this.#drop(assignments);
    if (assignments.length > 0) {
      await this.#sink.revoked(assignments, "lost");
    }
  }

  /** There may be something to fetch. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** The driver's end, as when a client gives up. */
  fail(error: Error): void {
    if (this.#closing === undefined) {
      this.#sink.failed(error);
    }
  }

  async commit(offsets: readonly OffsetCommit[]): Promise<void> {
    for (const { assignment, offset } of offsets) {
      if (this.#positions.has(assignment)) {
        const { topic, partition } = assignment;
        this.#broker.commit({ groupId: this.#subscription.groupId, topic, partition, offset });
      }
    }
  }

  pause(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#paused.add(assignment);
    }
  }

  resume(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#paused.delete(assignment);
    }
    this.wake();
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  async #leave(): Promise<void> {
    this.#drop(this.assignments());
    this.wake();
    await this.#broker.group(this.#subscription.groupId).leave(this);
  }

  /** One batch of each partition that has something. */
  async #fetchOnce(): Promise<boolean> {
    let fetched = false;
    for (const [assignment, position] of [...this.#positions]) {
      const records = this.#isFetched(assignment) ? this.#recordsFrom(assignment, position) : [];
      if (records.length > 0) {
        fetched = true;
        const highWatermark = this.#broker.endOffset(assignment.topic, assignment.partition);
        const batch = new RecordArrayBatch({ assignment, records, highWatermark });
        this.#positions.set(assignment, batch.nextOffset);
        // A turn of the event loop between batches, as a fetch from a socket would give.
        await (this.#sink.batch(batch) ?? new Promise((resolve) => setImmediate(resolve)));
      }
    }
    return fetched;
  }

  #recordsFrom({ topic, partition }: PartitionAssignment, position: bigint): ReturnType<MemoryBroker["read"]> {
    return this.#broker.read(topic, partition, position, this.#maxBatchRecords);
  }

  #isFetched(assignment: PartitionAssignment): boolean {
    return this.#closing === undefined && this.#positions.has(assignment) && !this.#paused.has(assignment);
  }

  #startOf({ topic, partition }: PartitionAssignment): bigint {
    const committed = this.#broker.committed(this.#subscription.groupId, topic, partition);
    return committed ?? (this.#subscription.from === "earliest" ? 0n : this.#broker.endOffset(topic, partition));
  }

  #drop(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#positions.delete(assignment);
      this.#paused.delete(assignment);
    }
  }

  #sleep(): Promise<void> {
    // What came while the last look was under way must not be slept through.
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isWoken) {
        resolve();
      }
    });
  }
}
