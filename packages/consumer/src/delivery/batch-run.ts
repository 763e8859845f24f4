import type { CdcEvent, Decoder, RecordCoordinates, RecordWalk } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { FetchedBatch } from "../driver.ts";
import { decodeFailure, handlerFailure } from "../failure/halt.ts";
import type { Counters } from "../observe/counters.ts";
import type { EventHandler } from "../routing/handlers.ts";
import type { Router } from "../routing/router.ts";
import { HeldEvents } from "./held-events.ts";
import type { OffsetLedger, Stretch } from "./offset-ledger.ts";
import { Wakeup } from "./wakeup.ts";

export interface BatchRunParts {
  readonly decoder: Decoder;
  readonly router: Router;
  readonly counters: Counters;
  readonly clock: Clock;
  /** How long records are handled before the event loop has a turn. */
  readonly maxBlockMs: number;
}

/** The clock is read once in so many records: reading it costs a good part of what routing an event costs. */
const recordsPerClockReading = 16;

const noEvents: readonly CdcEvent[] = [];

/**
 * Handles the records of one batch in order. It is a loop that can be left and entered again: `step` goes on synchronously until
 * something must be awaited, so that synchronous handlers cost no promise and no timer an event.
 */
export class BatchRun {
  readonly batch: FetchedBatch;
  readonly #parts: BatchRunParts;
  readonly #ledger: OffsetLedger;
  readonly #stretch: Stretch;
  readonly #walk: RecordWalk;
  readonly #held: HeldEvents = new HeldEvents();
  #events: readonly CdcEvent[] = noEvents;
  #nextEvent = 0;
  #begun = false;
  /** The walk stands at a record that is not handled, or not yet known to be. */
  #recordOpen = false;
  #walked = false;
  #awaiting: "decoder" | "handler" = "handler";
  /** What the current record holds is not known yet. */
  #isDecoding = false;
  #turnStartedAt: number;
  #untilClock = recordsPerClockReading;
  #cancelled = false;
  readonly #onCancel: Wakeup = new Wakeup();
  #done = false;

  constructor(batch: FetchedBatch, ledger: OffsetLedger, parts: BatchRunParts) {
    this.batch = batch;
    this.#ledger = ledger;
    this.#stretch = ledger.take();
    this.#walk = batch.walk();
    this.#parts = parts;
    this.#turnStartedAt = parts.clock.nowMs();
  }

  /** Ends the run at the next event boundary. What is handled by then can be committed; the rest comes again. */
  cancel(): void {
    this.#cancelled = true;
    this.#onCancel.wake();
  }

  /** Brings the ledger up to what is handled by now. */
  checkpoint(): void {
    if (this.#done || !this.#begun) {
      return;
    }
    const current = this.batch.offsetAt(this.#walk.record);
    this.#ledger.advance(this.#stretch, this.#held.firstOffset ?? (this.#recordOpen ? current : current + 1n));
  }

  /** Goes on until the batch is done or cancelled (null), or something must be awaited. Throws what halts the consumer. */
  step(): PromiseLike<unknown> | null {
    for (;;) {
      if (this.#cancelled && this.#isDecoding) {
        return null;
      }
      const pending = this.#handleEvents();
      if (pending !== null) {
        return pending;
      }
      if (this.#cancelled) {
        return null;
      }
      if (this.#walked || this.#isTimeToBreathe()) {
        return this.#walked ? this.#finish() : this.#breathe();
      }
      const decoding = this.#decodeNext();
      if (decoding !== null) {
        return decoding;
      }
    }
  }

  /** What an awaited step failed with, as the error that halts the consumer. */
  failureOf(error: unknown): Error {
    const at = this.#coordinates();
    return this.#awaiting === "decoder" ? decodeFailure(error, at) : handlerFailure(error, at);
  }

  /** Hands on the events of the current record, until one must be awaited. */
  #handleEvents(): PromiseLike<unknown> | null {
    const events = this.#events;
    while (this.#nextEvent < events.length) {
      if (this.#cancelled) {
        return null;
      }
      const event = events[this.#nextEvent++] as CdcEvent; // within bounds
      const pending = this.#handle(event);
      if (isThenable(pending)) {
        this.#awaiting = "handler";
        return pending;
      }
    }
    this.#recordOpen = false;
    return null;
  }

  #handle(event: CdcEvent): unknown {
    const { counters, router } = this.#parts;
    counters.events++;
    const target = router.targetOf(event);
    if (typeof target === "string") {
      counters.filtered[target]++;
      return undefined;
    }
    counters.handled++;
    if (target.kind === "batch") {
      this.#held.add(target.handle, event, this.batch, this.#walk.record);
      return undefined;
    }
    return this.#call(target.handle, event);
  }

  #call<Argument>(handle: EventHandler<Argument>, argument: Argument): unknown {
    try {
      return handle(argument);
    } catch (error) {
      throw handlerFailure(error, this.#coordinates());
    }
  }

  /** Moves to the next record and decodes it. A schema that must be fetched first is awaited. */
  #decodeNext(): PromiseLike<unknown> | null {
    this.#events = noEvents;
    this.#nextEvent = 0;
    if (!this.#walk.next()) {
      this.#walked = true;
      return null;
    }
    this.#begun = true;
    this.#recordOpen = true;
    this.#parts.counters.records++;
    let decoded: readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
    try {
      decoded = this.#parts.decoder.decodeAt(this.#walk);
    } catch (error) {
      throw decodeFailure(error, this.#coordinates());
    }
    if (!isThenable(decoded)) {
      this.#events = decoded;
      return null;
    }
    this.#awaiting = "decoder";
    this.#isDecoding = true;
    const known = decoded.then((events) => {
      this.#events = events;
      this.#isDecoding = false;
    });
    // No handler is at work: whoever cancels need not wait for a registry that is slow or down.
    return Promise.race([known, this.#onCancel.wait()]);
  }

  /** Hands on what was held for batch handlers, then settles the batch. */
  #finish(): PromiseLike<unknown> | null {
    for (let group = this.#held.take(); group !== undefined; group = this.#held.take()) {
      const pending = this.#call(group.handle, group.events);
      if (isThenable(pending)) {
        this.#awaiting = "handler";
        return pending;
      }
    }
    this.#ledger.settle(this.#stretch, this.batch.nextOffset);
    this.#done = true;
    return null;
  }

  #isTimeToBreathe(): boolean {
    if (--this.#untilClock > 0) {
      return false;
    }
    this.#untilClock = recordsPerClockReading;
    return this.#parts.clock.nowMs() - this.#turnStartedAt >= this.#parts.maxBlockMs;
  }

  #breathe(): Promise<void> {
    return this.#parts.clock.breathe().then(() => {
      this.#turnStartedAt = this.#parts.clock.nowMs();
    });
  }

  #coordinates(): RecordCoordinates {
    const { topic, partition } = this.batch;
    const offset = this.#walked ? this.#held.firstOffset : undefined;
    return { topic, partition, offset: offset ?? this.batch.offsetAt(this.#walk.record) };
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
