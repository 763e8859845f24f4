import type { FetchedBatch } from "../driver.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { DrainKind } from "./dispatcher.ts";
import { HeldEvents } from "./held-events.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";
import { PartitionLife } from "./partition-life.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { SerialGroups } from "./serial-groups.ts";
import type { SerialPhase } from "./serial-phase.ts";
import { SerialRecords } from "./serial-records.ts";

/** A promise costs nothing if there is nothing to wait for. */
const resolved: Promise<void> = Promise.resolve();

/** Takes one fetched batch through its two phases, sees to what fails in them, and settles it. */
export class SerialBatchRunner {
  readonly batch: FetchedBatch;
  readonly #life: PartitionLife;
  readonly #parts: RunnerParts;
  readonly #ledger: OffsetLedger;
  readonly #span: OffsetSpan;
  readonly #held: HeldEvents = new HeldEvents();
  readonly #records: SerialRecords;
  readonly #groups: SerialGroups;
  #phase: SerialPhase;
  #outcome: "settled" | "halted" | null = null;
  /** A handler has failed, and the next attempt has not begun. */
  #isResting = false;

  constructor(batch: FetchedBatch, ledger: OffsetLedger, parts: RunnerParts) {
    this.batch = batch;
    this.#life = new PartitionLife(parts.clock, parts.lease);
    this.#parts = parts;
    this.#ledger = ledger;
    this.#span = ledger.take();
    this.#records = new SerialRecords(batch, this.#life, this.#held, parts);
    this.#groups = new SerialGroups(batch, this.#life, this.#held, parts);
    this.#phase = this.#records;
  }

  /** Runs to the end. Null if nothing must be awaited on the way there. */
  run(): Promise<void> | null {
    const pending = this.#advanceOrRecover();
    return pending === null ? null : this.#goOn(pending);
  }

  /**
   * As `Dispatcher.drain`. What is handled by then can be committed, and the rest comes again. With `"finish"`, a record is handled to its
   * end if some of its events are handled; so is what is held for batch handlers, because records after it may be handled already.
   */
  end(how: DrainKind): void {
    this.#life.finish();
    if (how === "fence") {
      this.#life.fenceOff();
    }
    this.#leaveWhatMayComeAgain();
  }

  /** Ends the run at this point. */
  halt(): void {
    this.checkpoint();
    this.#outcome ??= "halted";
  }

  /** Ends the run, and halts the consumer. */
  fail(error: Error): void {
    this.halt();
    this.#parts.fail(error);
  }

  /** Brings the ledger up to what is handled by now. */
  checkpoint(): void {
    if (this.#outcome === null && this.#records.hasBegun) {
      this.#ledger.advance(this.#span, this.#held.firstOffset ?? this.#records.handledTo);
    }
  }

  /** The record in hand, and whether the decoder or a handler has it. */
  atWork(): Iterable<WorkInHand> {
    return this.#phase.atWork();
  }

  /** Ends what finishes if nothing must be handled any more. What rests between two attempts may come again if nothing after it is handled. */
  #leaveWhatMayComeAgain(): void {
    const isHeldLeft = this.#isResting && !this.#held.areSomeTaken && !this.#records.isHeldOvertaken;
    if (this.#life.isFinishing && this.#records.isUntouched && (!this.#held.areSomeLeft || isHeldLeft)) {
      this.#life.finished();
    }
  }

  async #goOn(first: PromiseLike<unknown>): Promise<void> {
    for (let pending: PromiseLike<unknown> | null = first; pending !== null; pending = this.#advanceOrRecover()) {
      try {
        await pending;
        this.#phase.resumed();
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  /** One synchronous part of the run. What it throws is recovered from, or halts the consumer. */
  #advanceOrRecover(): PromiseLike<unknown> | null {
    try {
      const pending = this.#advance();
      this.#parts.progress();
      if (pending === null) {
        this.checkpoint();
      }
      return pending;
    } catch (error) {
      return this.#recover(error);
    }
  }

  /** Goes on until something must be awaited. Null if the run is over. Throws what failed. */
  #advance(): PromiseLike<unknown> | null {
    this.#isResting = false;
    if (this.#outcome !== null) {
      return null;
    }
    // What was awaited may have taken longer than the session: the process was frozen, or a handler has held up the event loop.
    const { fence } = this.#life;
    if (fence.mustWait) {
      return fence.leased();
    }
    const reading = this.#phase === this.#records ? this.#records.advance() : null;
    if (reading !== null || this.#life.isFenced) {
      return reading;
    }
    this.#phase = this.#groups;
    const pending = this.#groups.advance();
    if (pending === null) {
      if (this.#records.isOver) {
        this.#ledger.settle(this.#span, this.#records.handledTo);
      } else {
        this.#ledger.advance(this.#span, this.#records.handledTo); // what is left comes again: what is after the batch, such as a lost range, must not be committed
      }
      this.#outcome = "settled";
    }
    return pending;
  }

  /** Prepares the next attempt of what failed, or ends the run. Null if there is nothing to wait for. */
  #recover(error: unknown): Promise<void> | null {
    const { recovery } = this.#parts;
    const phase = this.#phase;
    const { fence } = this.#life;
    const { failure, tries, isolate } = phase.failureOf(error);
    return recovery.recover<Promise<void> | null>({
      failure,
      tries,
      fence,
      giveUp: () => {
        this.halt();
        return null;
      },
      retryAfter: (delayMs) => {
        const pause = phase.retryAfter(delayMs);
        this.#isResting = failure.stage === "handle";
        this.#leaveWhatMayComeAgain(); // a stop has waited for this attempt, and need not wait for the next one
        return pause;
      },
      isolate:
        isolate === null
          ? null
          : () => {
              isolate();
              return resolved;
            },
      setAside: () =>
        recovery.setAside(failure, tries, fence).then(
          (isWritten) => (isWritten ? phase.skip() : this.halt()),
          (fatal: Error) => this.fail(fatal),
        ),
      halt: (fatal) => {
        this.fail(fatal);
        return null;
      },
    });
  }
}
