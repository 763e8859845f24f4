import type { CdcEvent, Decoder, RecordWalk } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { FetchedBatch } from "../driver.ts";
import type { Failure, RecordPlace } from "../failure/failure.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { Counters } from "../observe/counters.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { Router } from "../routing/router.ts";
import { Fence } from "./fence.ts";
import type { DrainKind } from "./dispatcher.ts";
import { HeldEvents, type HeldGroup } from "./held-events.ts";
import { isThenable } from "./is-thenable.ts";
import type { Lease } from "./lease.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";
import { unhandledEvent } from "./route-events.ts";
import { Turn } from "./turn.ts";

export interface SerialBatchRunnerParts {
  readonly decoder: Decoder;
  readonly router: Router;
  readonly counters: Counters;
  readonly recovery: Recovery;
  readonly clock: Clock;
  /** An event that nobody takes halts the consumer. */
  readonly strict: boolean;
  readonly lease: Lease;
  /** How long records are handled before timers, sockets and signals have a turn. */
  readonly maxBlockMs: number;
}

const noEvents: readonly CdcEvent[] = [];

/**
 * Handles the records of one batch in order. It is a loop that can be left and entered again: `step` goes on synchronously until
 * something must be awaited, so that synchronous handlers cost no promise and no timer an event. Where a step throws, or rejects, it stands
 * at what failed; `retry` and `skip` say how it goes on.
 */
export class SerialBatchRunner {
  readonly batch: FetchedBatch;
  /** Closed when nothing of the run may start any more. */
  readonly fence: Fence;
  /** Closed when the run is ending: nothing more is read, whatever is still to be handled. */
  readonly #reading: Fence;
  readonly #parts: SerialBatchRunnerParts;
  readonly #ledger: OffsetLedger;
  readonly #span: OffsetSpan;
  readonly #walk: RecordWalk;
  readonly #held: HeldEvents = new HeldEvents();
  #events: readonly CdcEvent[] = noEvents;
  #nextEvent = 0;
  #begun = false;
  /** The walk stands at a record that is not handled, or not yet known to be. */
  #recordOpen = false;
  #walked = false;
  #stage: Failure["stage"] = "read";
  /** What the current record holds is not known yet. */
  #isDecoding = false;
  /** The current record is decoded again before the walk goes on. */
  #redecodes = false;
  /** Of the current record; null while nothing failed. */
  #tries: Tries | null = null;
  readonly #turn: Turn;
  /** What is handled where it ended in front of the end of the batch: the record there may still be undecoded. */
  #endsAt: bigint | null = null;
  #halted = false;
  #done = false;

  constructor(batch: FetchedBatch, ledger: OffsetLedger, parts: SerialBatchRunnerParts) {
    this.batch = batch;
    this.fence = new Fence(parts.clock, parts.lease);
    this.#reading = new Fence(parts.clock, parts.lease);
    this.#ledger = ledger;
    this.#span = ledger.take();
    this.#walk = batch.walk();
    this.#parts = parts;
    this.#turn = new Turn(parts.clock, this.fence, parts.maxBlockMs);
  }

  /**
   * Ends the run. What is handled by then can be committed; the rest comes again. With `"finish"`, a record some of whose events are
   * handled is handled to its end, and so is what is held for batch handlers in front of handled records.
   */
  end(how: DrainKind): void {
    const isUntouched = this.#held.firstOffset === undefined && (this.#nextEvent === 0 || !this.#recordOpen);
    this.#reading.close();
    if (how === "fence" || isUntouched) {
      this.fence.close();
    }
  }

  /** Ends the run where it failed. */
  halt(): void {
    this.checkpoint();
    this.#halted = true;
  }

  /** Brings the ledger up to what is handled by now. */
  checkpoint(): void {
    if (this.#done || this.#halted || !this.#begun) {
      return;
    }
    this.#ledger.advance(this.#span, this.#held.firstOffset ?? this.#handledTo());
  }

  /** Goes on until the batch is done, ended or halted (null), or something must be awaited. Throws what failed. */
  step(): PromiseLike<unknown> | null {
    // What was awaited may have taken longer than the session: the process was frozen, or a handler has held up the event loop.
    if (!this.#halted && this.fence.mustWait) {
      return this.fence.leased();
    }
    for (;;) {
      if (this.#halted || (this.fence.isClosed && this.#isDecoding)) {
        return null;
      }
      const pending = this.#isDecoding ? null : this.#handleEvents();
      if (pending !== null) {
        return pending;
      }
      if (this.fence.isClosed) {
        return null;
      }
      if (this.#walked || this.#reading.isClosed) {
        return this.#finish();
      }
      const rest = this.#turn.restWhereDue();
      if (rest !== null) {
        return rest;
      }
      const decoding = this.#decodeNext();
      if (decoding !== null) {
        return decoding;
      }
    }
  }

  /** What it is at: the record, and who has it in hand. Nothing before the first record and after the last. */
  *atWork(): Iterable<WorkInHand> {
    const record = this.#walked ? this.#held.current?.records[0] : this.#walk.record;
    if (this.#begun && record !== undefined) {
      yield this.#parts.recovery.workOn(this.#stage, this.#placeOf(record), null);
    }
  }

  /** What a step failed with, and how often it has. */
  failureOf(error: unknown): { readonly failure: Failure; readonly tries: Tries } {
    const group = this.#walked ? this.#held.current : undefined;
    const record = group?.records[0] ?? this.#walk.record;
    const event = group?.events[0] ?? this.#events[this.#nextEvent - 1] ?? null;
    this.#tries ??= noTries();
    const place = this.#placeOf(record);
    const last = group?.records.at(-1);
    const through = last === undefined || last === record ? null : this.batch.offsetAt(last);
    const failure: Failure = { stage: this.#stage, error, place, event: this.#stage === "handle" ? event : null, sink: null, through };
    return { failure, tries: group?.tries ?? this.#tries };
  }

  /** Waits before what failed is done again. */
  pause(delayMs: number): Promise<void> {
    return (this.#stage === "decode" ? this.#reading : this.fence).pause(delayMs);
  }

  /** What failed is to be done again by the next step. */
  retry(): void {
    this.#isDecoding = false;
    if (this.#stage === "decode") {
      this.#redecodes = true;
    } else if (this.#walked) {
      this.#held.putBack();
    } else {
      this.#nextEvent--;
      this.#parts.counters.events--;
      this.#parts.counters.handled--;
    }
  }

  /** Whether what failed are several records. Then they are to be done again one by one. */
  isolate(): boolean {
    const records = this.#walked ? (this.#held.current?.records ?? []) : [];
    const isSeveral = records.some((record) => record !== records[0]);
    if (isSeveral) {
      this.#held.isolate();
    }
    return isSeveral;
  }

  /** The record that failed is handled in another way; the next step goes on behind it. */
  skip(): void {
    const group = this.#walked ? this.#held.current : undefined;
    this.#parts.counters.handled -= this.#stage === "handle" ? (group?.events.length ?? 1) : 0;
    this.#isDecoding = false;
    this.#nextEvent = this.#events.length;
    this.#tries = null;
  }

  #handledTo(): bigint {
    const current = this.batch.offsetAt(this.#walk.record);
    return this.#recordOpen ? current : current + 1n;
  }

  /** Hands on the events of the current record, until one must be awaited. */
  #handleEvents(): PromiseLike<unknown> | null {
    if (this.#redecodes) {
      return null;
    }
    const events = this.#events;
    while (this.#nextEvent < events.length) {
      if (this.fence.isClosed) {
        return null;
      }
      const event = events[this.#nextEvent++] as CdcEvent; // within bounds
      const pending = this.#handle(event);
      if (isThenable(pending)) {
        return pending;
      }
    }
    this.#recordOpen = false;
    return null;
  }

  #handle(event: CdcEvent): unknown {
    const { counters, router } = this.#parts;
    this.#stage = "handle";
    counters.events++;
    counters.handled++;
    const target = router.targetOf(event);
    if (typeof target === "string") {
      if (this.#parts.strict) {
        throw unhandledEvent(event, target);
      }
      counters.handled--;
      counters.filtered[target]++;
      return undefined;
    }
    if (target.kind === "batch") {
      this.#held.add(target.handle, event, this.batch, this.#walk.record);
      return undefined;
    }
    return target.handle(event);
  }

  /** Moves to the next record and decodes it. A schema that must be fetched first is awaited. */
  #decodeNext(): PromiseLike<unknown> | null {
    if (this.#redecodes) {
      this.#redecodes = false;
      return this.#decode();
    }
    this.#endRecord();
    if (!this.#walk.next()) {
      this.#walked = true;
      return null;
    }
    this.#begun = true;
    this.#recordOpen = true;
    this.#parts.counters.records++;
    return this.#parts.recovery.hasParkedKeys ? this.#parkOrDecode() : this.#decode();
  }

  #endRecord(): void {
    this.#stage = "read";
    this.#events = noEvents;
    this.#nextEvent = 0;
    if (this.#tries !== null) {
      this.#parts.recovery.recovered(this.#tries);
      this.#tries = null;
    }
  }

  #parkOrDecode(): PromiseLike<unknown> | null {
    const place = this.#placeOf(this.#walk.record);
    const { recovery } = this.#parts;
    const behind = recovery.parkedBehind(place);
    if (behind === undefined) {
      return this.#decode();
    }
    this.#isDecoding = true;
    return recovery.park(place, behind, this.fence).then((isParked) => {
      this.#isDecoding = !isParked;
    });
  }

  #decode(): PromiseLike<unknown> | null {
    this.#stage = "decode";
    const decoded = this.#parts.decoder.decodeAt(this.#walk);
    if (!isThenable(decoded)) {
      this.#events = decoded;
      return null;
    }
    this.#isDecoding = true;
    const known = decoded.then((events) => {
      if (!this.#reading.isClosed) {
        this.#events = events;
        this.#isDecoding = false;
      }
    });
    // No handler is at work: whoever ends the run need not wait for a registry that is slow or down.
    return this.#reading.orClosed(known);
  }

  /** Hands on what was held for batch handlers, then settles the batch. */
  #finish(): PromiseLike<unknown> | null {
    this.#stage = "handle";
    if (!this.#walked) {
      this.#endsAt = this.#handledTo();
      this.#walked = true;
    }
    for (let group = this.#nextGroup(); group !== undefined; group = this.#nextGroup()) {
      const pending = this.#parts.recovery.hasParkedKeys ? this.#parkOrHandle(group) : group.handle(group.events);
      if (isThenable(pending)) {
        return pending;
      }
    }
    this.#ledger.settle(this.#span, this.#endsAt ?? this.batch.nextOffset);
    this.#done = true;
    return null;
  }

  #nextGroup(): HeldGroup | undefined {
    const last = this.#held.current;
    if (last !== undefined && last.tries.wait !== null) {
      this.#parts.recovery.recovered(last.tries);
    }
    return this.#held.take();
  }

  /** A key may have been parked since the record was held: then the record follows. */
  #parkOrHandle(group: HeldGroup): unknown {
    this.#stage = "handle";
    const parked = group.records.find((record) => this.#parkedBehind(record) !== undefined);
    if (parked === undefined) {
      return group.handle(group.events);
    }
    if (this.isolate()) {
      return undefined;
    }
    this.#stage = "read"; // no handler is to blame for what goes wrong here
    this.#isDecoding = true;
    const { recovery, counters } = this.#parts;
    return recovery.park(this.#placeOf(parked), this.#parkedBehind(parked) ?? 0n, this.fence).then((isParked) => {
      this.#isDecoding = !isParked;
      counters.handled -= isParked ? group.events.length : 0;
    });
  }

  /** The dead letter in front of the record, of its key. */
  #parkedBehind(record: number): bigint | undefined {
    const behind = this.#parts.recovery.parkedBehind(this.#placeOf(record));
    return behind !== undefined && behind < this.batch.offsetAt(record) ? behind : undefined;
  }

  #placeOf(record: number): RecordPlace {
    return { assignment: this.batch.assignment, batch: this.batch, record };
  }
}
