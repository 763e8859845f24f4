import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import type { Dispatcher, DrainKind, PauseAll } from "./dispatcher.ts";
import { InFlightBytes } from "./in-flight-bytes.ts";
import type { HeldPartition } from "./partition-ledgers.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { SerialBatchRunner } from "./serial-batch-runner.ts";

export interface SerialDispatcherParts extends RunnerParts {
  readonly maxInFlightBytes: number;
  readonly pauseAll: PauseAll;
}

/** Stands for a run whose first step is still on the stack: it is over, or has its own promise, when the stack is. */
const onStack: Promise<void> = Promise.resolve();

/**
 * Hands events to handlers, one batch of a partition after the other. Batches of several partitions that a driver hands over at the same
 * time interleave when their handlers wait.
 */
export class SerialDispatcher implements Dispatcher {
  readonly #parts: SerialDispatcherParts;
  readonly #inProgress = new Map<SerialBatchRunner, Promise<void>>();
  readonly #inFlightBytes: InFlightBytes;
  /** Counted in the bytes. */
  readonly #inMemory = new Set<FetchedBatch>();

  constructor(parts: SerialDispatcherParts) {
    this.#parts = parts;
    this.#inFlightBytes = new InFlightBytes(parts.maxInFlightBytes);
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const runner = new SerialBatchRunner(batch, held.ledger, this.#parts);
    // Known before its first step. A handler may stop the consumer while that step is on the stack, and the drain must find the run.
    this.#inProgress.set(runner, onStack);
    const running = this.#run(runner);
    if (running === null) {
      this.#inProgress.delete(runner);
      return undefined;
    }
    const finished = running
      .catch((error: unknown) => runner.fail(toError(error))) // as in #run
      .finally(() => {
        this.#inProgress.delete(runner);
        this.#release(batch);
      });
    this.#inProgress.set(runner, finished);
    this.#inMemory.add(batch);
    this.#inFlightBytes.add(batch);
    this.#pauseIfFull();
    return finished;
  }

  skipTo({ ledger }: HeldPartition, offset: bigint): void {
    ledger.continueAt(offset); // after all batches that were taken: each is in the ledger from then on
  }

  hasWork(assignment: PartitionAssignment): boolean {
    return [...this.#inProgress.keys()].some(({ batch }) => batch.assignment === assignment);
  }

  checkpoint(): void {
    for (const runner of this.#inProgress.keys()) {
      runner.checkpoint();
    }
  }

  async drain(how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void> {
    // Asked again after each wait: a batch that the driver handed over before it heard of the drain may have come meanwhile.
    for (let going = this.#inProgressOf(assignments); going.length > 0; going = this.#inProgressOf(assignments)) {
      for (const [runner] of going) {
        runner.end(how);
        if (how === "fence") {
          this.#release(runner.batch); // its handler may take for ever, and all that time it would hold up the other partitions
        }
      }
      await Promise.all(going.map(([, finished]) => finished));
    }
  }

  blockedBy(): string | null {
    return null;
  }

  *atWork(): Iterable<WorkInHand> {
    for (const runner of this.#inProgress.keys()) {
      yield* runner.atWork();
    }
  }

  /** Nothing in a run throws: it would be our own mistake, and a run that stayed in progress would hold up the stop for ever. */
  #run(runner: SerialBatchRunner): Promise<void> | null {
    try {
      return runner.run();
    } catch (error) {
      runner.fail(toError(error));
      return null;
    }
  }

  #inProgressOf(assignments: readonly PartitionAssignment[] | undefined): (readonly [SerialBatchRunner, Promise<void>])[] {
    return [...this.#inProgress].filter(([{ batch }]) => assignments === undefined || assignments.includes(batch.assignment));
  }

  #release(batch: FetchedBatch): void {
    if (this.#inMemory.delete(batch)) {
      this.#inFlightBytes.remove(batch);
      this.#pauseIfFull();
    }
  }

  #pauseIfFull(): void {
    this.#parts.pauseAll(this.#inFlightBytes.isFull);
  }
}
