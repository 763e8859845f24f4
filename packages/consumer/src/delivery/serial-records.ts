import type { CdcEvent, RecordWalk } from "@cdckit/decode";
import type { FetchedBatch } from "../driver.ts";
import type { Failure } from "../failure/failure.ts";
import type { RecordPlace } from "../failure/record-place.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { WorkInHand } from "../observe/waits.ts";
import { isThenable } from "../user-code/user-value.ts";
import type { HeldEvents } from "./held-events.ts";
import type { PartitionLife } from "./partition-life.ts";
import { unhandledEvent } from "./route-events.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { FailedAttempt, SerialPhase } from "./serial-phase.ts";

const noEvents: readonly CdcEvent[] = [];

/** What was done last with the records of a batch. */
type Status =
  /** Nothing was read yet. */
  | "start"
  /** The record's key is parked: the record is being written to the dead letters, too. */
  | "parking"
  /** The record is to be decoded, for the first time or again. */
  | "undecoded"
  /** A schema is awaited. */
  | "decoding"
  /** The record's events are being handed on. */
  | "handling"
  /** The record is handled, set aside or parked. */
  | "handled"
  /** There is no further record. */
  | "over";

/**
 * Decodes the records of one batch and handles their events, one record after the other. What goes to batch handlers is held.
 *
 * It is a loop that can be left and entered again: `advance` goes on synchronously until something must be awaited, so that synchronous
 * handlers cost no promise and no timer an event (bench `runtime`).
 */
export class SerialRecords implements SerialPhase {
  readonly #parts: RunnerParts;
  readonly #batch: FetchedBatch;
  readonly #life: PartitionLife;
  readonly #held: HeldEvents;
  readonly #walk: RecordWalk;
  #status: Status = "start";
  #events: readonly CdcEvent[] = noEvents;
  #nextEvent = 0;
  /** Of the current record. Null while nothing failed. */
  #tries: Tries | null = null;
  /** A handler has an event, and has not answered. */
  #isAtHandler = false;
  /** Of the current record; see `RecordPlace`. */
  #ordinal = 0;
  /** Something of the current record was handed on and not held, or the record is a dead letter. */
  #isHandedOn = false;
  /** The same of a record after the first one that is held. */
  #isHeldOvertaken = false;

  constructor(batch: FetchedBatch, life: PartitionLife, held: HeldEvents, parts: RunnerParts) {
    this.#parts = parts;
    this.#batch = batch;
    this.#life = life;
    this.#held = held;
    this.#walk = batch.walk();
  }

  /** Some record was read. */
  get hasBegun(): boolean {
    return this.#status !== "start";
  }

  /** All records were read. */
  get isOver(): boolean {
    return this.#status === "over";
  }

  /** Nothing of the current record was handed on: it may come again. */
  get isUntouched(): boolean {
    return this.#nextEvent === 0 || !this.#isRecordOpen;
  }

  /** Some record is handled that comes after one that is held: if the held one came again, the handled one would come twice. */
  get isHeldOvertaken(): boolean {
    return this.#isHeldOvertaken || (this.#isHandedOn && !this.#isRecordOpen && this.#held.areSomeLeft);
  }

  /** Everything below this offset is handled, apart from what is held. To be asked when some record was read, or none is left. */
  get handledTo(): bigint {
    if (this.isOver) {
      return this.#batch.nextOffset; // a batch of control records has no record to ask
    }
    const current = this.#batch.offsetAt(this.#walk.record);
    return this.#isRecordOpen ? current : current + 1n;
  }

  /**
   * Goes on until something must be awaited. Null if nothing more can be done: everything is, or the partition reads nothing more. If it
   * throws, or what it returned rejects, what failed is the current record.
   */
  advance(): PromiseLike<unknown> | null {
    for (;;) {
      // A record of which nothing is handled may come again, so a stop or a rebalance leaves it.
      const mayHandle = this.#life.isOpen || this.#nextEvent > 0;
      const handling = this.#status === "handling" && mayHandle ? this.#handleEvents() : null;
      if (handling !== null) {
        return handling;
      }
      if (!this.#life.isOpen || this.#status === "over") {
        return null;
      }
      const rest = this.#parts.turns.restWhereDue(this.#life.fence);
      if (rest !== null) {
        return rest;
      }
      const decoding = this.#status === "undecoded" ? this.#decode() : this.#readNext();
      if (decoding !== null) {
        return decoding;
      }
    }
  }

  resumed(): void {
    if (this.#isAtHandler) {
      this.#answered();
    }
  }

  failureOf(error: unknown): FailedAttempt {
    const stage = this.#stage;
    this.#isAtHandler = false;
    this.#status = this.#status === "decoding" ? "undecoded" : this.#status; // nobody decodes it while its dead letter is written
    const event = stage === "handle" ? (this.#events[this.#nextEvent - 1] ?? null) : null;
    this.#tries ??= noTries();
    const failure: Failure = { stage, error, place: this.#place, event, sink: null, through: null };
    return { failure, tries: this.#tries, isolate: null };
  }

  /**
   * What failed is taken back before the pause, and not after it. A stop during the pause would otherwise see a record of which an event
   * was handed on, and wait for its next attempt.
   */
  retryAfter(delayMs: number): Promise<void> {
    if (this.#stage === "decode") {
      this.#status = "undecoded";
      return this.#life.reading.pause(delayMs);
    }
    this.#nextEvent--;
    const { reading, fence } = this.#life;
    return (this.#nextEvent === 0 ? reading : fence).pause(delayMs);
  }

  skip(): void {
    this.#status = "handled";
    this.#isHandedOn = true;
    this.#tries = null;
  }

  *atWork(): Iterable<WorkInHand> {
    if (this.#isAtHandler || this.#status === "decoding") {
      yield this.#parts.recovery.workOn(this.#stage, this.#place, null);
    }
  }

  get #isRecordOpen(): boolean {
    const status = this.#status;
    return status === "handling" || status === "decoding" || status === "undecoded" || status === "parking";
  }

  /** What an error that is thrown now failed at. */
  get #stage(): Failure["stage"] {
    switch (this.#status) {
      case "undecoded":
      case "decoding":
        return "decode";
      case "handling":
        return "handle";
      default:
        return "read";
    }
  }

  get #place(): RecordPlace {
    return { assignment: this.#batch.assignment, batch: this.#batch, record: this.#walk.record, ordinal: this.#ordinal };
  }

  /** Hands on the events of the current record, until one must be awaited or the partition is fenced. */
  #handleEvents(): PromiseLike<unknown> | null {
    const events = this.#events;
    while (this.#nextEvent < events.length) {
      if (this.#life.isFenced) {
        return null;
      }
      const rest = this.#nextEvent === 0 ? null : this.#parts.turns.restWhereDue(this.#life.fence); // a record may hold a whole transaction
      if (rest !== null) {
        return rest;
      }
      const event = events[this.#nextEvent++] as CdcEvent; // within bounds
      const pending = this.#handle(event);
      if (isThenable(pending)) {
        return pending;
      }
    }
    this.#status = "handled";
    return null;
  }

  #handle(event: CdcEvent): unknown {
    const { counters, router } = this.#parts;
    const target = router.targetOf(event);
    if (typeof target === "string") {
      if (this.#parts.strict) {
        throw unhandledEvent(event, target);
      }
      counters.filter(event, target);
      return undefined;
    }
    if (target.kind === "batch") {
      this.#held.add(target.handle, event, this.#batch, this.#walk.record, this.#ordinal);
      return undefined;
    }
    this.#isHandedOn = true;
    this.#isAtHandler = true;
    const pending = target.handle(event);
    if (!isThenable(pending)) {
      this.#answered();
    }
    return pending;
  }

  #answered(): void {
    this.#isAtHandler = false;
    this.#parts.counters.handled++;
  }

  /** Moves to the next record, and decodes or parks it. */
  #readNext(): PromiseLike<unknown> | null {
    const { recovery, counters, turns } = this.#parts;
    this.#events = noEvents;
    this.#nextEvent = 0;
    this.#isHeldOvertaken = this.isHeldOvertaken;
    this.#isHandedOn = false;
    if (this.#tries !== null) {
      recovery.recovered(this.#tries);
      this.#tries = null;
    }
    // One assignment for both. One of its own for the end would be code that V8 has not seen when it compiles this in the midst of the first
    // batch, and at whose first run it throws away what it has compiled.
    this.#status = this.#walk.next() ? "parking" : "over";
    if (this.#status === "over") {
      return null;
    }
    this.#ordinal = ++counters.records;
    turns.hasRead(this.#batch);
    return recovery.hasParkedKeys ? this.#parkOrDecode() : this.#decode();
  }

  #parkOrDecode(): PromiseLike<unknown> | null {
    const { recovery } = this.#parts;
    const behind = recovery.parkedBehind(this.#place);
    if (behind === undefined) {
      return this.#decode();
    }
    return recovery.park(this.#place, behind, this.#life.fence).then((isParked) => {
      this.#status = isParked ? "handled" : "parking";
      this.#isHandedOn = isParked;
    });
  }

  #decode(): PromiseLike<unknown> | null {
    this.#status = "undecoded";
    const decoded = this.#parts.decoder.decodeAt(this.#walk);
    if (!isThenable(decoded)) {
      this.#decoded(decoded);
      return null;
    }
    this.#status = "decoding";
    const { reading } = this.#life;
    const known = decoded.then((events) => {
      // The schema may come after a stop has ended the run. The record was left open then, and must stay so: it comes again.
      if (!reading.isClosed) {
        this.#decoded(events);
      }
    });
    // No handler is at work: the end of the run need not wait for a registry that is slow or down.
    return reading.orClosed(known);
  }

  #decoded(events: readonly CdcEvent[]): void {
    this.#parts.counters.events += events.length;
    this.#events = events;
    this.#status = "handling";
  }
}
