import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import type { BatchStage } from "./batch-stage.ts";
import type { ResolvedDeliveryOptions } from "./delivery-options.ts";
import type { DrainKind } from "./dispatcher.ts";
import { handlerStage } from "./handler-stage.ts";
import type { InFlightBytes } from "./in-flight-bytes.ts";
import type { HeldPartition } from "./partition-ledgers.ts";
import { PartitionLife } from "./partition-life.ts";
import { PartitionReader } from "./partition-reader.ts";
import { PartitionStages } from "./partition-stages.ts";
import { PumpLoop } from "./pump-loop.ts";
import { RecordFanOut } from "./record-fan-out.ts";
import { type LaneOwner, RecordLanes } from "./record-lanes.ts";
import type { BatchHandler } from "./route-events.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { SinkStage } from "./sink-stage.ts";
import { TakenBatches } from "./taken-batches.ts";
import { Wakeup } from "./wakeup.ts";

export interface ConcurrentPartitionRunnerParts extends RunnerParts {
  readonly delivery: ResolvedDeliveryOptions & { readonly maxInFlight: number };
  /** Some handlers are registered. Without any, records are the sinks' alone. */
  readonly hasHandlers: boolean;
  /** A fetched batch has left memory. */
  readonly released: () => void;
  /** Of all partitions. When they reach their limit, the driver is held: it hands nothing over, of any partition. */
  readonly inFlightBytes: InFlightBytes;
}

type SinkStagesOf = (runner: ConcurrentPartitionRunner) => readonly SinkStage[];

/** Records are decoded ahead of the handlers, so that a hot key does not keep the others idle. They are not decoded so far ahead that they fill the memory. */
const minReadAhead = 64;

/**
 * Decides when the work on one partition goes on, during one assignment and with many records in flight: when the next record is read, when
 * the next handler starts, and when nothing is left to do. The parts do the work: the reader, the fan-out, the lanes and the stages.
 */
export class ConcurrentPartitionRunner implements LaneOwner {
  readonly assignment: PartitionAssignment;
  readonly life: PartitionLife;
  /** What is in memory. */
  readonly batches: TakenBatches;
  readonly #parts: ConcurrentPartitionRunnerParts;
  readonly #lanes: RecordLanes;
  readonly #stages: PartitionStages;
  readonly #fanOut: RecordFanOut;
  readonly #reader: PartitionReader;
  readonly #loop: PumpLoop;
  /** Something has ended. */
  readonly #onChange: Wakeup = new Wakeup();

  constructor({ assignment, ledger }: HeldPartition, parts: ConcurrentPartitionRunnerParts, sinkStagesOf: SinkStagesOf) {
    const { decoder, recovery, counters, router, clock, turns, inFlightBytes, released } = parts;
    this.assignment = assignment;
    this.#parts = parts;
    const life = new PartitionLife(clock, parts.lease);
    const batches = new TakenBatches({ ledger, counters, maxInFlight: parts.delivery.maxInFlight, inFlightBytes, released });
    this.life = life;
    this.batches = batches;
    const lanes = new RecordLanes(parts, this);
    const { hasBatchHandlers } = router;
    const stages = new PartitionStages({ sinks: sinkStagesOf(this), hasBatchHandlers, stageOf: (handle) => this.#stageOf(handle) });
    const fanOut = new RecordFanOut({ ...parts, life, lanes, stages });
    const halt = (error: Error): void => this.halt(error);
    this.#lanes = lanes;
    this.#stages = stages;
    this.#fanOut = fanOut;
    this.#reader = new PartitionReader({ decoder, recovery, life, turns, batches, fanOut, pump: () => this.pump(), halt });
    this.#loop = new PumpLoop(
      life,
      turns,
      () => this.#startOrRead(),
      () => this.pump(),
    );
  }

  /** What is decoded, and what handlers and sinks have in hand. */
  *atWork(): Iterable<WorkInHand> {
    yield* this.#reader.atWork();
    yield* this.#lanes.atWork();
    yield* this.#stages.atWork();
  }

  take(batch: FetchedBatch): void {
    this.batches.add(batch);
    this.pump();
  }

  /** As `Dispatcher.drain`. */
  end(how: DrainKind): void {
    if (how === "fence") {
      this.close();
      return;
    }
    this.#finish();
    this.#fanOut.finish();
    this.pump();
    this.#onChange.wake();
  }

  /** Lets nothing start any more. What is under way ends, and is settled if it ends well. `because`: another member has the partition. */
  close(because?: string): void {
    this.life.fenceOff(because);
    this.#release();
    if (because !== undefined) {
      this.#parts.recovery.awaitRevocation(this.assignment);
    }
  }

  /** The work has come to its end, after {@link end} and {@link idle}. What is not handled comes again, to the next owner. */
  finished(): void {
    this.life.finished();
    this.#release();
  }

  /** Resolves when everything that was taken is handled, or waits for the next batch of a handler or sink; or when nothing starts any more. */
  async quiet(): Promise<void> {
    while (!this.life.isFenced && this.#isAtWork()) {
      await this.#onChange.wait();
    }
  }

  /** Resolves when nothing is under way, and nothing is left that must still be handled. */
  async idle(): Promise<void> {
    while (this.#lanes.active > 0 || this.#stages.isBusy || this.#mustFinish()) {
      await this.#onChange.wait();
    }
  }

  /** Starts and reads whatever may be started and read. */
  pump(): void {
    try {
      if (!this.#loop.run()) {
        return;
      }
    } catch (error) {
      this.halt(toError(error)); // what it calls does not throw: this is our own mistake, and the partition must not stop in silence
    }
    this.#flushIfNothingMoreComes();
    this.#onChange.wake();
    this.#parts.progress();
  }

  /**
   * While the partition finishes, less may have to be finished after an attempt has failed: record 5 rests, 6 is in hand at a stop, so 5 must
   * be handled before 6 is committed. Then 6 fails and rests, too. Now both may come again, and the stop waits for neither.
   */
  rested(): void {
    if (this.life.isFinishing) {
      this.#finish();
      this.#onChange.wake();
    }
  }

  halt(error: Error): void {
    this.close();
    this.#parts.fail(error);
  }

  /** Something was handled outside of the loop. */
  moved(): void {
    this.#onChange.wake();
    this.#fanOut.setAsidePostponed();
    this.pump();
  }

  #finish(): void {
    const [byLanes, byStages] = [this.#lanes.inHandUpTo, this.#stages.inHandUpTo];
    this.life.finish(byLanes > byStages ? byLanes : byStages);
    this.#stages.finish(this.life.finishesUpTo);
  }

  /**
   * What is in memory is dropped. What is under way may take for ever, and the group may take the partition away much later: all that time it
   * would count against the other partitions, and could hold them up.
   */
  #release(): void {
    this.#stages.close();
    this.#parts.recovery.endWaits(this.assignment);
    this.batches.drop();
    this.#onChange.wake();
  }

  /** One step of the loop: handlers first, so that what is read does not pile up. */
  #startOrRead(): boolean {
    return this.#lanes.startNext() || (this.#wantsMore() && !this.#isWindowFull() && this.#reader.readNext());
  }

  /** Something before a record that is handled or in hand is still to be handled. */
  #mustFinish(): boolean {
    return !this.life.isFenced && (this.#lanes.isBusy || !this.#stages.isEmpty);
  }

  #isAtWork(): boolean {
    const { active, isBusy } = this.#lanes;
    return this.#reader.isAtWork || this.#loop.isPaused || active > 0 || isBusy || this.#stages.isBusy;
  }

  #wantsMore(): boolean {
    const { concurrency } = this.#parts.delivery;
    return !this.#lanes.isFull || this.#stages.hasSinks || this.#lanes.waiting < Math.max(minReadAhead, 4 * concurrency);
  }

  /** Reading is as far ahead of the first record that is not handled as it may be. */
  #isWindowFull(): boolean {
    return this.batches.ledger.open >= this.#parts.delivery.maxOutOfOrder;
  }

  /**
   * Stages must not wait for events that cannot come before they hand on what they have. Without this the partition would stand still: a
   * stage collects up to its limit, the window or the memory is full of what it has collected, and so nothing more is read or fetched.
   */
  #flushIfNothingMoreComes(): void {
    if (this.life.isFenced) {
      return;
    }
    const isFetchHeld = this.batches.isPaused || this.#parts.inFlightBytes.isFull;
    if (this.#isWindowFull() || (isFetchHeld && this.batches.head === undefined)) {
      this.#stages.flush();
    }
  }

  #stageOf(handle: BatchHandler): BatchStage {
    const { delivery, clock, turns, recovery, counters } = this.#parts;
    return handlerStage(handle, counters, {
      limits: delivery.batch,
      clock,
      turns,
      recovery,
      fence: this.life.fence,
      halt: (error) => this.halt(error),
      moved: () => this.moved(),
      handles: (offset) => this.life.handles(offset),
      rested: () => this.rested(),
    });
  }
}
