import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import { toError } from "../user-code/user-value.ts";
import { SerialBatchRunner, type SerialBatchRunnerParts } from "./serial-batch-runner.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { DrainKind, HoldAll, Dispatcher } from "./dispatcher.ts";
import type { HeldPartition } from "./partition-ledgers.ts";

export interface SerialDispatcherParts {
  readonly maxInFlightBytes: number;
  readonly holdAll: HoldAll;
}

/** Stands for a run whose first step is still on the stack: it is over, or has its own promise, when the stack is. */
const settled: Promise<void> = Promise.resolve();

/**
 * Hands events to handlers, one batch of a partition after the other. Batches of several partitions that a driver hands over at the same
 * time interleave where their handlers wait.
 */
export class SerialDispatcher implements Dispatcher {
  readonly #parts: SerialBatchRunnerParts & SerialDispatcherParts;
  readonly #fail: (error: Error) => void;
  readonly #progress: () => void;
  readonly #underWay = new Map<SerialBatchRunner, Promise<void>>();

  constructor(parts: SerialBatchRunnerParts & SerialDispatcherParts, fail: (error: Error) => void, progress: () => void) {
    this.#parts = parts;
    this.#fail = fail;
    this.#progress = progress;
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const run = new SerialBatchRunner(batch, held.ledger, this.#parts);
    // Known before its first step: a handler may stop the consumer while the step is still on the stack.
    this.#underWay.set(run, settled);
    const pending = this.#stepOf(run);
    if (pending === null) {
      this.#underWay.delete(run);
      return undefined;
    }
    const finished = this.#finish(run, pending)
      .catch((error: unknown) => this.#halt(run, toError(error))) // nothing in it throws: it would be our own mistake
      .finally(() => {
        this.#underWay.delete(run);
        this.#holdWhereFull();
      });
    this.#underWay.set(run, finished);
    this.#holdWhereFull();
    return finished;
  }

  hasWork(assignment: PartitionAssignment): boolean {
    return [...this.#underWay.keys()].some(({ batch }) => batch.assignment === assignment);
  }

  #holdWhereFull(): void {
    let bytes = 0;
    for (const { batch } of this.#underWay.keys()) {
      bytes += batch.byteLength;
    }
    this.#parts.holdAll(bytes >= this.#parts.maxInFlightBytes);
  }

  checkpoint(): void {
    for (const run of this.#underWay.keys()) {
      run.checkpoint();
    }
  }

  async drain(how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void> {
    const goes = ([run]: readonly [SerialBatchRunner, unknown]): boolean =>
      assignments === undefined || assignments.includes(run.batch.assignment);
    for (let going = [...this.#underWay].filter(goes); going.length > 0; going = [...this.#underWay].filter(goes)) {
      for (const [run] of going) {
        run.end(how);
      }
      await Promise.all(going.map(([, finished]) => finished));
    }
  }

  blockedBy(): string | null {
    return null;
  }

  *atWork(): Iterable<WorkInHand> {
    for (const run of this.#underWay.keys()) {
      yield* run.atWork();
    }
  }

  /** One synchronous stretch of the run. What it throws is recovered from, or halts the consumer. */
  #stepOf(run: SerialBatchRunner): PromiseLike<unknown> | null {
    try {
      const pending = run.step();
      this.#progress();
      if (pending === null) {
        run.checkpoint();
      }
      return pending;
    } catch (error) {
      return this.#recover(run, error);
    }
  }

  async #finish(run: SerialBatchRunner, first: PromiseLike<unknown>): Promise<void> {
    for (let pending: PromiseLike<unknown> | null = first; pending !== null; pending = this.#stepOf(run)) {
      try {
        await pending;
      } catch (error) {
        await this.#recover(run, error);
      }
    }
  }

  /** Leaves the run so that its next step goes on from what failed, or ends it. Null where there is nothing to wait for. */
  #recover(run: SerialBatchRunner, error: unknown): Promise<void> | null {
    const { recovery } = this.#parts;
    if (run.fence.isClosed) {
      run.halt(); // it comes again, to whoever holds the partition next
      return null;
    }
    const { failure, tries } = run.failureOf(error);
    const decision = recovery.judge(failure, tries);
    if (decision.kind === "halt") {
      this.#halt(run, decision.error);
      return null;
    }
    if (decision.kind === "retry") {
      run.retry();
      return run.pause(decision.delayMs);
    }
    if (run.isolate()) {
      return settled;
    }
    return recovery.setAside(failure, tries, run.fence).then(
      (isSetAside) => (isSetAside ? run.skip() : run.halt()),
      (fatal: Error) => this.#halt(run, fatal),
    );
  }

  #halt(run: SerialBatchRunner, error: Error): void {
    run.halt();
    this.#fail(error);
  }
}
