import type { DriverSink, FetchedBatch, PartitionAssignment } from "@cdckit/consumer";

/** A batch that waits to be read; the driver goes on when it is released. */
export interface HandedBatch {
  readonly batch: FetchedBatch;
  release(): void;
}

/** Turns a driver that pushes batches into a reader that asks for them. */
export class BatchHandoff implements DriverSink {
  readonly #waiting: HandedBatch[] = [];
  readonly #taken = new WeakSet<PartitionAssignment>();
  #error: Error | undefined;
  #closed = false;
  #wake: () => void = () => {};

  /** The next batch; undefined once the handoff is closed. Rejects with what the driver failed with. */
  async next(): Promise<HandedBatch | undefined> {
    for (;;) {
      if (this.#error !== undefined) {
        throw this.#error;
      }
      const handed = this.#closed ? undefined : this.#waiting.shift();
      if (handed !== undefined || this.#closed) {
        return handed;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Nothing more is read; a driver that waits is let go. */
  close(): void {
    this.#closed = true;
    for (const { release } of this.#waiting.splice(0)) {
      release();
    }
    this.#wake();
  }

  assigned(): void {}

  /** What waits of these partitions is let go of unread: whoever reads them next gets it. */
  async revoked(assignments: readonly PartitionAssignment[]): Promise<void> {
    assignments.forEach((assignment) => this.#taken.add(assignment));
    for (const handed of this.#waiting.splice(0)) {
      if (this.holds(handed.batch.assignment)) {
        this.#waiting.push(handed);
      } else {
        handed.release();
      }
    }
  }

  /** Whether the partition has not been taken away since. */
  holds(assignment: PartitionAssignment): boolean {
    return !this.#taken.has(assignment);
  }

  batch(batch: FetchedBatch): Promise<void> | undefined {
    if (this.#closed) {
      return undefined;
    }
    return new Promise((release) => {
      this.#waiting.push({ batch, release });
      this.#wake();
    });
  }

  failed(error: Error): void {
    this.#error = error;
    this.#wake();
  }
}
