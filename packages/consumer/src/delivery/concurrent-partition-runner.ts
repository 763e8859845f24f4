import type { CdcEvent } from "@cdckit/decode";
import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { Failure, RecordPlace } from "../failure/failure.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { toError } from "../user-code/user-value.ts";
import type { SerialBatchRunnerParts } from "./serial-batch-runner.ts";
import type { BatchStage } from "./batch-stage.ts";
import type { ResolvedDeliveryOptions } from "./delivery-options.ts";
import { Fence } from "./fence.ts";
import { handlerStage } from "./handler-stage.ts";
import type { DrainKind } from "./dispatcher.ts";
import { isThenable } from "./is-thenable.ts";
import { RecordLanes } from "./record-lanes.ts";
import { type BatchHandler, refuseUnhandled, routeEvents } from "./route-events.ts";
import type { OffsetLedger } from "./offset-ledger.ts";
import { InFlightRecord, type RecordOwner, type TakenBatch } from "./in-flight-record.ts";
import { shareWith, sharesOf, type SinkShares, type SinkStage } from "./sink-stage.ts";
import { countTaken } from "./sink-counts.ts";
import { Turn } from "./turn.ts";
import { Wakeup } from "./wakeup.ts";

export interface ConcurrentPartitionRunnerParts extends SerialBatchRunnerParts {
  readonly delivery: ResolvedDeliveryOptions & { readonly maxInFlight: number };
  /** Some handlers are registered; without, records are the sinks' alone. */
  readonly hasHandlers: boolean;
  /** Halts the consumer. */
  readonly fail: (error: Error) => void;
  readonly progress: () => void;
  /** The batches that are in memory may have become fewer. */
  readonly moved: (run: ConcurrentPartitionRunner) => void;
  /** The driver is held: nothing is handed over, of any partition. */
  readonly isHeldBack: () => boolean;
}

type SinksOf = (run: ConcurrentPartitionRunner) => readonly SinkStage[];

/** Records are decoded ahead of the handlers, so that a hot key does not keep the others idle; not so far that memory is filled with them. */
const minReadAhead = 64;

/**
 * The work on one partition during one assignment, where more than one record may be open at a time. It reads records in order and hands
 * each to its lane, to its batch handlers and to the sinks; what all of them have handled is settled in the ledger.
 */
export class ConcurrentPartitionRunner implements RecordOwner {
  readonly assignment: PartitionAssignment;
  readonly ledger: OffsetLedger;
  /** Closed when nothing of this assignment may start any more. */
  readonly fence: Fence;
  /** It has enough in memory: the driver hands over no more of it. */
  isPaused = false;
  readonly #parts: ConcurrentPartitionRunnerParts;
  readonly #lanes: RecordLanes;
  readonly #stages = new Map<BatchHandler, BatchStage>();
  readonly #sinks: readonly SinkStage[];
  readonly #batches = new Set<TakenBatch>();
  readonly #queue: TakenBatch[] = [];
  #walk: ReturnType<FetchedBatch["walk"]> | null = null;
  /** Of the record that is being decoded. */
  #readTries: Tries | null = null;
  #isReading = false;
  /** What the record holds is not known yet: a schema is loaded. */
  #isDecoding = false;
  /** A record that is to be set aside when the stages have handled what came before it. */
  #pendingDeadLetter: { readonly record: InFlightRecord; readonly failure: Failure; readonly tries: Tries } | null = null;
  readonly #hasStages: boolean;
  #isPumping = false;
  #isResting = false;
  readonly #turn: Turn;
  /** The highest offset of which anything has been handed on; below all where nothing has. */
  #highest = -1n;
  #ceiling: bigint | null = null;
  #byteLength = 0;
  #closedBecause: string | null = null;
  readonly #onIdle: Wakeup = new Wakeup();

  constructor(assignment: PartitionAssignment, ledger: OffsetLedger, parts: ConcurrentPartitionRunnerParts, sinksOf: SinksOf) {
    this.assignment = assignment;
    this.fence = new Fence(parts.clock, parts.lease);
    this.#parts = parts;
    this.ledger = ledger;
    this.#lanes = new RecordLanes(parts, this);
    this.#turn = new Turn(parts.clock, this.fence, parts.maxBlockMs);
    this.#sinks = sinksOf(this);
    this.#hasStages = this.#sinks.length > 0 || parts.router.hasBatchHandlers;
  }

  /** Where the run is ending: nothing above it is handed on. */
  get ceiling(): bigint | null {
    return this.#ceiling;
  }

  /** Fetched batches in memory. */
  get batches(): number {
    return this.#batches.size;
  }

  /** What they hold. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Why nothing of it starts any more, where that is not the consumer's own doing. */
  get closedBecause(): string | null {
    return this.#closedBecause;
  }

  /** What is decoded, and what handlers and sinks have in hand. */
  *atWork(): Iterable<WorkInHand> {
    const [taken] = this.#queue;
    if (this.#isDecoding && taken !== undefined) {
      yield this.#parts.recovery.workOn("decode", this.#placeIn(taken.batch, this.#walk?.record ?? 0), null);
    }
    yield* this.#lanes.atWork();
    for (const stage of this.#allStages()) {
      yield* stage.atWork();
    }
  }

  take(batch: FetchedBatch): void {
    const taken: TakenBatch = { batch, open: 0, walked: false };
    this.#batches.add(taken);
    this.#byteLength += batch.byteLength;
    this.#queue.push(taken);
    this.pump();
  }

  /** As `Dispatcher.drain`. */
  end(how: DrainKind): void {
    if (how === "fence") {
      this.close();
      return;
    }
    this.#ceiling ??= this.#highest;
    for (const stage of this.#allStages()) {
      stage.finish(this.#ceiling);
    }
    this.#pendingDeadLetter = null;
    this.pump();
    this.#onIdle.wake();
  }

  /** Nothing starts any more. What is under way ends, and is settled where it ends well. */
  close(why?: string): void {
    this.fence.close();
    for (const stage of this.#allStages()) {
      stage.close();
    }
    this.#closedBecause = why ?? this.#closedBecause;
    this.#parts.recovery.endWaits(this.assignment);
    this.#onIdle.wake();
  }

  /** Resolves when everything that was taken is handled, or held for the next batch of a handler or sink; or when the run is over. */
  async quiet(): Promise<void> {
    while (!this.fence.isClosed && this.#isAtWork()) {
      await this.#onIdle.wait();
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#lanes.active > 0 || this.#allStages().some(({ isBusy }) => isBusy) || this.#mustFinish()) {
      await this.#onIdle.wait();
    }
  }

  /** Starts and reads whatever may be started and read. */
  pump(): void {
    if (this.#isPumping || this.#isResting) {
      return;
    }
    if (this.fence.mustWait) {
      this.#rest(this.fence.leased());
      return;
    }
    this.#isPumping = true;
    try {
      while (!this.fence.isClosed && !this.#isTimeToRest()) {
        if (!this.#lanes.startNext() && !this.#readNext()) {
          break;
        }
      }
    } catch (error) {
      this.halt(toError(error)); // what it calls does not throw: it would be our own mistake, and must not leave a partition that stands still
    } finally {
      this.#isPumping = false;
    }
    this.#flushWhereNothingMoreComes();
    this.#onIdle.wake();
    this.#parts.progress();
  }

  halt(error: Error): void {
    this.close();
    this.#parts.fail(error);
  }

  /** Something was handled outside of the lanes. */
  moved(): void {
    this.#onIdle.wake();
    this.#setAsidePending();
    this.pump();
  }

  /** Something in front of a handled record is still to be handled. */
  #mustFinish(): boolean {
    return !this.fence.isClosed && (this.#lanes.isWaiting || this.#allStages().some(({ isEmpty }) => !isEmpty));
  }

  #isAtWork(): boolean {
    const { active, isWaiting } = this.#lanes;
    const isReading = this.#isReading || this.#isResting || this.#queue.length > 0;
    return isReading || active > 0 || isWaiting || this.#allStages().some(({ isBusy }) => isBusy);
  }

  #allStages(): readonly (BatchStage | SinkStage)[] {
    return [...this.#stages.values(), ...this.#sinks];
  }

  /** Reads one record, or ends a fetched batch. False where there is nothing to read now. */
  #readNext(): boolean {
    const taken = this.#queue[0];
    if (taken === undefined || this.#isReading || this.#ceiling !== null || !this.#wantsMore() || this.#isWindowFull()) {
      return false;
    }
    this.#walk ??= taken.batch.walk();
    let more: boolean;
    try {
      more = this.#walk.next();
    } catch (error) {
      this.halt(toError(error));
      return false;
    }
    if (more) {
      this.#decode(taken);
    } else {
      this.#endBatch(taken);
    }
    return true;
  }

  #wantsMore(): boolean {
    const { concurrency } = this.#parts.delivery;
    return !this.#lanes.isFull || this.#sinks.length > 0 || this.#lanes.waiting < Math.max(minReadAhead, 4 * concurrency);
  }

  #isWindowFull(): boolean {
    return this.ledger.open >= this.#parts.delivery.maxOutOfOrder;
  }

  #endBatch(taken: TakenBatch): void {
    this.#queue.shift();
    this.#walk = null;
    taken.walked = true;
    const { batch } = taken;
    // Control records, and gaps of compaction, at the end of the batch are passed here.
    const end = new InFlightRecord(taken, -1, batch.nextOffset, 0, this);
    for (const sink of this.#sinks) {
      sink.add(end, []);
    }
    for (const stage of this.#allStages()) {
      stage.fetchEnded();
    }
    end.done();
  }

  #decode(taken: TakenBatch): void {
    const walk = this.#walk as ReturnType<FetchedBatch["walk"]>; // it stands at a record
    try {
      const decoded = this.#parts.decoder.decodeAt(walk);
      if (isThenable(decoded)) {
        this.#awaitEvents(taken, decoded);
      } else {
        this.#accept(taken, decoded);
      }
    } catch (error) {
      this.#notDecoded(taken, error);
    }
  }

  /** The records behind this one wait: they need the same schema more often than not. */
  #awaitEvents(taken: TakenBatch, decoding: Promise<readonly CdcEvent[]>): void {
    this.#isReading = true;
    this.#isDecoding = true;
    decoding.then(
      (events) => {
        this.#isReading = false;
        this.#isDecoding = false;
        if (!this.fence.isClosed && this.#ceiling === null) {
          this.#accept(taken, events);
          this.pump();
        }
      },
      (error: unknown) => {
        this.#isReading = false;
        this.#isDecoding = false;
        if (!this.fence.isClosed && this.#ceiling === null) {
          this.#notDecoded(taken, error);
          this.pump();
        }
      },
    );
  }

  #notDecoded(taken: TakenBatch, error: unknown): void {
    const { recovery } = this.#parts;
    const place = this.#placeIn(taken.batch, this.#walk?.record ?? 0);
    const failure: Failure = { stage: "decode", error, place, event: null, sink: null, through: null };
    this.#readTries ??= noTries();
    const tries = this.#readTries;
    const decision = recovery.judge(failure, tries);
    if (decision.kind === "halt") {
      this.halt(decision.error);
      return;
    }
    if (decision.kind === "set-aside") {
      this.#awaitDeadLetter(taken, failure, tries);
      return;
    }
    this.#isReading = true;
    void this.fence.pause(decision.delayMs).then(() => {
      this.#isReading = false;
      if (!this.fence.isClosed && this.#ceiling === null) {
        this.#decode(taken);
        this.pump();
      }
    });
  }

  /**
   * The record is set aside in its lane. Where batch handlers or sinks are attached, which have no lanes, it is when they have handled
   * what came before it, and they get nothing behind it earlier: else a checkpoint would move past it, or its key overtake it.
   */
  #awaitDeadLetter(taken: TakenBatch, failure: Failure, tries: Tries): void {
    const record = this.#inFlightRecord(taken);
    this.#readTries = null;
    const pendingDeadLetter = { failure, tries };
    if (!this.#hasStages) {
      this.#lanes.add(record, [], pendingDeadLetter);
      return;
    }
    this.#isReading = true;
    this.#pendingDeadLetter = { record, ...pendingDeadLetter };
    for (const stage of this.#allStages()) {
      stage.flush();
    }
    this.#setAsidePending();
  }

  #setAsidePending(): void {
    const pendingDeadLetter = this.#pendingDeadLetter;
    if (pendingDeadLetter === null || this.fence.isClosed || this.#allStages().some(({ isEmpty }) => !isEmpty)) {
      return;
    }
    this.#pendingDeadLetter = null;
    this.startsUpTo(pendingDeadLetter.record.offset);
    this.#lanes.setAside(pendingDeadLetter.failure, pendingDeadLetter.tries, () => {
      this.#isReading = false;
      shareWith(this.#sinks, pendingDeadLetter.record, []);
      pendingDeadLetter.record.done();
      this.#flushWhereEnding();
    });
  }

  /** A checkpoint moves past what was set aside also where the run ends by now: the end of the fetched batch will not come. */
  #flushWhereEnding(): void {
    for (const stage of this.#ceiling === null ? [] : this.#allStages()) {
      stage.flush();
    }
  }

  #accept(taken: TakenBatch, events: readonly CdcEvent[]): void {
    let shares: SinkShares;
    try {
      shares = sharesOf(this.#sinks, events);
      refuseUnhandled(this.#parts, events, shares);
    } catch (error) {
      // Before the record is opened: an open one would never be settled.
      this.#notDecoded(taken, error);
      return;
    }
    if (this.#readTries !== null) {
      this.#parts.recovery.recovered(this.#readTries);
      this.#readTries = null;
    }
    const record = this.#inFlightRecord(taken);
    shareWith(this.#sinks, record, shares);
    if (!this.#parts.hasHandlers) {
      record.sinkEvents = countTaken(events, shares, this.#parts.counters);
      record.done();
      return;
    }
    const { calls, batches } = routeEvents(events, this.#parts.router, this.#parts.counters);
    for (const [handle, own] of batches) {
      record.share();
      this.#stageOf(handle).add({ record, events: own });
    }
    if (calls.length === 0) {
      record.done();
    } else {
      this.#lanes.add(record, calls, null);
    }
  }

  #stageOf(handle: BatchHandler): BatchStage {
    const known = this.#stages.get(handle);
    if (known !== undefined) {
      return known;
    }
    const { delivery, clock, recovery, counters } = this.#parts;
    const stage = handlerStage(handle, counters, {
      limits: delivery.batch,
      clock,
      recovery,
      fence: this.fence,
      halt: (error) => this.halt(error),
      moved: () => this.moved(),
      starts: (entries) => this.startsUpTo(entries.at(-1)?.record.offset ?? -1n),
    });
    this.#stages.set(handle, stage);
    return stage;
  }

  /** Records up to this one are being handed on. */
  startsUpTo(offset: bigint): void {
    this.#highest = offset > this.#highest ? offset : this.#highest;
  }

  #inFlightRecord(taken: TakenBatch): InFlightRecord {
    const walk = this.#walk as ReturnType<FetchedBatch["walk"]>; // it stands at a record
    const bytes = walk.keyEnd - walk.keyStart + walk.valueEnd - walk.valueStart;
    return new InFlightRecord(taken, walk.record, taken.batch.offsetAt(walk.record) + 1n, bytes, this);
  }

  #placeIn(batch: FetchedBatch, record: number): RecordPlace {
    return { assignment: this.assignment, batch, record };
  }

  /** A record, or the end of a batch, is handled by everybody whom it concerns. */
  handled({ taken, record, sinkEvents }: InFlightRecord): void {
    this.#parts.counters.records += record < 0 ? 0 : 1;
    this.#parts.counters.handled += sinkEvents;
    if (taken.walked && taken.open === 0 && this.#batches.delete(taken)) {
      this.#byteLength -= taken.batch.byteLength;
      this.#parts.moved(this);
    }
  }

  /** Stages must not wait for events that cannot come before they hand on what they have. */
  #flushWhereNothingMoreComes(): void {
    if (!this.fence.isClosed && (this.#isWindowFull() || ((this.isPaused || this.#parts.isHeldBack()) && this.#queue.length === 0))) {
      for (const stage of this.#allStages()) {
        stage.flush();
      }
    }
  }

  #isTimeToRest(): boolean {
    const rest = this.#turn.restWhereDue();
    if (rest !== null) {
      this.#rest(rest);
    }
    return rest !== null;
  }

  #rest(until: Promise<void>): void {
    this.#isResting = true;
    void until.then(() => {
      this.#isResting = false;
      this.pump();
    });
  }
}
