import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { DrainKind, PauseAll, Dispatcher } from "./dispatcher.ts";
import type { HeldPartition } from "./partition-ledgers.ts";
import { ConcurrentPartitionRunner, type ConcurrentPartitionRunnerParts } from "./concurrent-partition-runner.ts";
import { type AttachedSink, SinkStage } from "./sink-stage.ts";
import { emptyBatch } from "./empty-batch.ts";
import { InFlightBytes } from "./in-flight-bytes.ts";
import { Wakeup } from "./wakeup.ts";

export interface ConcurrentDispatcherParts extends Omit<ConcurrentPartitionRunnerParts, "released" | "inFlightBytes"> {
  readonly sinks: readonly AttachedSink[];
  /** The checkpoint of a sink in a partition that it has claimed. Null if it has none. */
  readonly checkpointOf: (sink: AttachedSink["sink"], assignment: PartitionAssignment) => bigint | null;
  /** The driver's capability of that name. */
  readonly awaitsRevoked: boolean;
  readonly pauseAll: PauseAll;
}

/**
 * Hands events to handlers and sinks, with many records of a partition in flight. A partition that has enough in memory is held, and the
 * others go on. All partitions are held when the bytes of all of them reach their limit.
 */
export class ConcurrentDispatcher implements Dispatcher {
  readonly #parts: ConcurrentDispatcherParts;
  readonly #runs = new Map<PartitionAssignment, ConcurrentPartitionRunner>();
  readonly #inFlightBytes: InFlightBytes;
  #closed = false;
  readonly #onRoom: Wakeup = new Wakeup();

  constructor(parts: ConcurrentDispatcherParts) {
    this.#parts = parts;
    this.#inFlightBytes = new InFlightBytes(parts.delivery.maxInFlightBytes);
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const run = this.#runs.get(held.assignment) ?? this.#open(held);
    if (run.life.fencedBecause !== null) {
      return this.#untilGoing(held); // not taken: the driver need fetch nothing more of a partition that is another member's
    }
    const wasFull = this.#inFlightBytes.isFull;
    run.take(batch);
    if (!this.#parts.awaitsRevoked) {
      return run.quiet();
    }
    if (run.batches.pauseIfFull()) {
      run.pump();
    }
    if (this.#inFlightBytes.isFull) {
      this.#parts.pauseAll(true);
      if (!wasFull) {
        this.#pumpAll();
      }
    }
    return run.batches.isPaused || this.#inFlightBytes.isFull ? this.#room(run) : undefined;
  }

  skipTo(held: HeldPartition, offset: bigint): void {
    void this.take(emptyBatch(held.assignment, offset), held);
  }

  /** What is handled is in the ledgers already. */
  checkpoint(): void {}

  async drain(how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void> {
    const going = [...this.#runs.values()].filter(({ assignment }) => assignments === undefined || assignments.includes(assignment));
    for (const run of going) {
      run.end(how);
    }
    this.#closed ||= assignments === undefined;
    this.#onRoom.wake();
    await Promise.all(going.map((run) => this.#forgetIdle(run)));
  }

  blockedBy(): string | null {
    for (const { life } of this.#runs.values()) {
      if (life.fencedBecause !== null) {
        return life.fencedBecause;
      }
    }
    return this.#inFlightBytes.isFull ? `${this.#inFlightBytes.total} bytes of events are not handled yet` : null;
  }

  *atWork(): Iterable<WorkInHand> {
    for (const run of this.#runs.values()) {
      yield* run.atWork();
    }
  }

  hasWork(assignment: PartitionAssignment): boolean {
    const run = this.#runs.get(assignment);
    return run !== undefined && (run.batches.count > 0 || run.life.fencedBecause !== null);
  }

  async #forgetIdle(run: ConcurrentPartitionRunner): Promise<void> {
    await run.idle();
    // It is fenced, and its batches are forgotten. Otherwise the driver would wait for records that are never read, and a client that waits
    // never joins the group again.
    run.finished();
    this.#runs.delete(run.assignment);
  }

  #open(held: HeldPartition): ConcurrentPartitionRunner {
    const parts: ConcurrentPartitionRunnerParts = { ...this.#parts, released: () => this.#madeRoom(), inFlightBytes: this.#inFlightBytes };
    const run = new ConcurrentPartitionRunner(held, parts, (own) => this.#parts.sinks.map((attached) => this.#stageOf(attached, own)));
    this.#runs.set(held.assignment, run);
    return run;
  }

  #stageOf(attached: AttachedSink, run: ConcurrentPartitionRunner): SinkStage {
    const { clock, turns, recovery, checkpointOf } = this.#parts;
    const {
      assignment,
      life: { fence },
    } = run;
    return new SinkStage({
      attached,
      assignment,
      finishes: this.#parts.hasHandlers,
      checkpoint: checkpointOf(attached.sink, assignment),
      clock,
      turns,
      recovery,
      fence,
      halt: (error) => run.halt(error),
      moved: () => run.moved(),
      rested: () => run.rested(),
      fenced: ({ name }) => run.close(`${assignment.topic}[${assignment.partition}] belongs to another member, says the sink ${name}`),
    });
  }

  #madeRoom(): void {
    if (!this.#inFlightBytes.isFull) {
      this.#parts.pauseAll(false);
    }
    this.#onRoom.wake();
  }

  /**
   * To be called when the limit of bytes is reached: nothing more is handed over, so no stage may wait for more events. Once is enough: while
   * it is reached, a partition that has read to the end of what it has flushes its stages by itself.
   */
  #pumpAll(): void {
    for (const run of this.#runs.values()) {
      run.pump();
    }
  }

  async #room(run: ConcurrentPartitionRunner): Promise<void> {
    while ((run.batches.isPaused || this.#inFlightBytes.isFull) && !run.life.isFenced && !this.#closed) {
      await this.#onRoom.wait();
    }
  }

  /** Resolves when the partition is about to go. */
  async #untilGoing(held: HeldPartition): Promise<void> {
    while (!held.isGoing && !this.#closed) {
      await this.#onRoom.wait();
    }
  }
}
