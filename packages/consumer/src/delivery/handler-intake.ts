import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import { BatchRun, type BatchRunParts } from "./batch-run.ts";
import type { Intake } from "./intake.ts";
import type { HeldPartition } from "./partition-ledgers.ts";

/**
 * Hands events to handlers, one batch of a partition after the other. Batches of several partitions that a driver hands over at the same
 * time interleave where their handlers wait.
 */
export class HandlerIntake implements Intake {
  readonly #parts: BatchRunParts;
  readonly #fail: (error: Error) => void;
  readonly #progress: () => void;
  readonly #underWay = new Map<BatchRun, Promise<void>>();

  constructor(parts: BatchRunParts, fail: (error: Error) => void, progress: () => void) {
    this.#parts = parts;
    this.#fail = fail;
    this.#progress = progress;
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const run = new BatchRun(batch, held.ledger, this.#parts);
    const pending = this.#stepOf(run);
    if (pending === null) {
      return undefined;
    }
    const finished = this.#finish(run, pending).finally(() => this.#underWay.delete(run));
    this.#underWay.set(run, finished);
    return finished;
  }

  checkpoint(): void {
    for (const run of this.#underWay.keys()) {
      run.checkpoint();
    }
  }

  async drain(assignments?: readonly PartitionAssignment[]): Promise<void> {
    const ending: Promise<void>[] = [];
    for (const [run, finished] of this.#underWay) {
      if (assignments === undefined || assignments.includes(run.batch.assignment)) {
        run.cancel();
        ending.push(finished);
      }
    }
    await Promise.all(ending);
  }

  blockedBy(): string | null {
    return null;
  }

  /** One synchronous stretch of the run; what it throws halts the consumer. */
  #stepOf(run: BatchRun): PromiseLike<unknown> | null {
    try {
      const pending = run.step();
      this.#progress();
      if (pending === null) {
        run.checkpoint();
      }
      return pending;
    } catch (error) {
      run.checkpoint();
      this.#fail(error as Error); // a step throws errors only
      return null;
    }
  }

  async #finish(run: BatchRun, first: PromiseLike<unknown>): Promise<void> {
    for (let pending: PromiseLike<unknown> | null = first; pending !== null; pending = this.#stepOf(run)) {
      try {
        await pending;
      } catch (error) {
        run.checkpoint();
        this.#fail(run.failureOf(error));
        return;
      }
    }
  }
}
