import type { CdcEvent, Decoder, RecordWalk } from "@cdckit/decode";
import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { Clock } from "../clock.ts";
import type { Failure, RecordPlace } from "../failure/failure.ts";
import type { Recovery } from "../failure/recovery.ts";
import { noTries, type Tries } from "../failure/retry-policy.ts";
import type { Counters } from "../observe/counters.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { DrainKind, HoldAll, Dispatcher } from "./dispatcher.ts";
import { Fence } from "./fence.ts";
import { isThenable } from "./is-thenable.ts";
import type { Lease } from "./lease.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";
import type { HeldPartition } from "./partition-ledgers.ts";
import { Wakeup } from "./wakeup.ts";

/** One event of a stream, and the word that it is handled. */
export interface Delivery<Event = CdcEvent> {
  readonly event: Event;
  /** This event is handled. Its offset is committed when everything before it in its partition is done too. Calling it again does nothing. */
  readonly done: () => void;
}

export interface StreamDispatcherParts {
  readonly decoder: Decoder;
  readonly counters: Counters;
  readonly recovery: Recovery;
  readonly clock: Clock;
  readonly lease: Lease;
  /** Batches are taken until those with events that are not done hold this much. */
  readonly maxInFlightBytes: number;
  readonly holdAll: HoldAll;
  readonly progress: () => void;
}

/** A batch in memory: events of it are still to be handed out, or are not done. */
interface TakenBatch {
  readonly batch: FetchedBatch;
  readonly walk: RecordWalk;
  readonly ledger: OffsetLedger;
  /** Handed out and not done. */
  outstanding: number;
  /** Closed when nothing more of it is to be handed out. */
  readonly fence: Fence;
  /** More of it is to be handed out. */
  queued: boolean;
}

/** A record is settled when every event of it is done, those included that are not handed out yet. */
interface InFlightRecord {
  readonly taken: TakenBatch;
  readonly span: OffsetSpan;
  readonly next: bigint;
  open: number;
}

/** Hands events out one by one, and settles their records when they are done, in any order. */
export class StreamDispatcher implements Dispatcher {
  readonly #parts: StreamDispatcherParts;
  readonly #taken = new Set<TakenBatch>();
  #queue: TakenBatch[] = [];
  #record: InFlightRecord | undefined;
  #events: readonly CdcEvent[] = [];
  #nextEvent = 0;
  #decoding: Promise<readonly CdcEvent[]> | null = null;
  #isDecoding = false;
  #inFlightBytes = 0;
  #closed = false;
  #abandoned = false;
  readonly #onBatch: Wakeup = new Wakeup();
  readonly #onRoom: Wakeup = new Wakeup();
  readonly #onDone: Wakeup = new Wakeup();

  constructor(parts: StreamDispatcherParts) {
    this.#parts = parts;
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const taken: TakenBatch = {
      batch,
      walk: batch.walk(),
      ledger: held.ledger,
      outstanding: 0,
      queued: true,
      fence: new Fence(this.#parts.clock, this.#parts.lease),
    };
    this.#taken.add(taken);
    this.#queue.push(taken);
    this.#inFlightBytes += batch.byteLength;
    this.#onBatch.wake();
    if (!this.#isFull()) {
      return undefined;
    }
    this.#parts.holdAll(true);
    return this.#room();
  }

  hasWork(assignment: PartitionAssignment): boolean {
    return [...this.#taken].some(({ batch }) => batch.assignment === assignment);
  }

  /** What is done is in the ledger already. */
  checkpoint(): void {}

  async drain(_how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void> {
    const goes = (taken: TakenBatch): boolean => assignments === undefined || assignments.includes(taken.batch.assignment);
    if (assignments === undefined) {
      this.#closed = true;
      this.#onRoom.wake();
      this.#onBatch.wake();
    }
    for (const taken of this.#queue.filter(goes)) {
      this.#unqueue(taken);
    }
    while (!this.#abandoned && this.#hasOutstanding(goes)) {
      await this.#onDone.wait();
    }
  }

  blockedBy(): string | null {
    return this.#isFull() ? `${this.#inFlightBytes} bytes of events wait for done()` : null;
  }

  *atWork(): Iterable<WorkInHand> {
    const decoded = this.#record?.taken;
    if (this.#isDecoding && decoded !== undefined) {
      yield this.#parts.recovery.workOn("decode", placeIn(decoded, decoded.walk), null);
    }
    for (const taken of this.#taken) {
      if (taken.outstanding > 0) {
        yield { what: "done() of what was handed out", place: oldestOf(taken) };
      }
    }
  }

  /** The next delivery; null once the dispatcher was drained. Rejects with what could not be decoded. */
  async next(): Promise<Delivery | null> {
    while (!this.#closed) {
      const head = this.#queue[0];
      if (head === undefined) {
        await this.#onBatch.wait();
      } else if (head.fence.mustWait) {
        await head.fence.leased();
      } else if (this.#record?.taken === head && this.#nextEvent < this.#events.length) {
        return this.#handOut(this.#record);
      } else {
        await this.#moveOn(head);
      }
    }
    return null;
  }

  /** Nobody reads on. Unless a drain is under way already, none will wait for what is not done. */
  abandonUnlessDrained(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.#abandoned = true;
    for (const { fence } of this.#taken) {
      fence.close();
    }
    this.#onBatch.wake();
    this.#onRoom.wake();
    this.#onDone.wake();
  }

  #handOut(record: InFlightRecord): Delivery {
    const event = this.#events[this.#nextEvent++] as CdcEvent; // next() has looked
    record.taken.outstanding++;
    return new OpenDelivery(event, () => this.#done(record));
  }

  #done(record: InFlightRecord): void {
    record.open--;
    record.taken.outstanding--;
    this.#parts.progress();
    if (record.open === 0) {
      record.taken.ledger.settle(record.span, record.next);
    }
    this.#letGo(record.taken);
    this.#onDone.wake();
  }

  /** Decodes the next record of the batch, or ends the batch. */
  async #moveOn(taken: TakenBatch): Promise<void> {
    this.#events = [];
    this.#nextEvent = 0;
    if (!taken.walk.next()) {
      // Control records and gaps of compaction at the end of the batch are passed here.
      taken.ledger.settle(taken.ledger.take(), taken.batch.nextOffset);
      this.#unqueue(taken);
      return;
    }
    const offset = taken.batch.offsetAt(taken.walk.record);
    const span = taken.ledger.take();
    this.#record = { taken, span, next: offset + 1n, open: 0 };
    let events = this.#decodeAtOnce(taken);
    if (events === null) {
      this.#isDecoding = true;
      events = await this.#decodeInTime(taken).finally(() => {
        this.#isDecoding = false;
      });
    }
    if (events === null) {
      return;
    }
    this.#events = events;
    this.#record.open = this.#events.length;
    this.#parts.counters.records++;
    this.#parts.counters.events += this.#events.length;
    this.#parts.counters.handled += this.#events.length;
    if (this.#events.length === 0) {
      taken.ledger.settle(span, offset + 1n);
    }
  }

  /** The record's events, where they are known at once. */
  #decodeAtOnce(taken: TakenBatch): readonly CdcEvent[] | null {
    this.#decoding = null;
    try {
      const decoded = this.#parts.decoder.decodeAt(taken.walk);
      if (!isThenable(decoded)) {
        return decoded;
      }
      this.#decoding = decoded;
    } catch (error) {
      this.#decoding = Promise.reject(error as Error);
    }
    this.#decoding.catch(ignore); // looked at later, or not at all where the partition has gone by then
    return null;
  }

  /**
   * The record's events, tried again while that can help; none for one that was set aside. Null if it is not to be handed out any more:
   * nobody at the other end may wait for a registry that is slow or down. Rejects with what halts the consumer.
   */
  async #decodeInTime(taken: TakenBatch): Promise<readonly CdcEvent[] | null> {
    const { recovery } = this.#parts;
    const tries: Tries = noTries();
    while (!taken.fence.isClosed) {
      let events: readonly CdcEvent[] | null = null;
      try {
        const decoding = (this.#decoding ?? Promise.resolve([])).then((known) => {
          events = known;
        });
        await taken.fence.orClosed(decoding);
        if (tries.wait !== null) {
          recovery.recovered(tries);
        }
        return events;
      } catch (error) {
        const outcome = await this.#recover(taken, error, tries);
        if (outcome !== "decode again") {
          return outcome;
        }
      }
    }
    return null;
  }

  #recover(taken: TakenBatch, error: unknown, tries: Tries): Promise<readonly CdcEvent[] | null | "decode again"> {
    const { fence } = taken;
    const failure: Failure = { stage: "decode", error, place: placeIn(taken, taken.walk), event: null, sink: null, through: null };
    return this.#parts.recovery.recover<Promise<readonly CdcEvent[] | null | "decode again">>({
      failure,
      tries,
      fence,
      giveUp: async () => null,
      retryAfter: async (delayMs) => {
        await fence.pause(delayMs);
        this.#redecode(taken);
        return "decode again";
      },
      setAside: () => this.#setAside(taken, failure, tries),
      halt: (fatal) => Promise.reject(fatal),
    });
  }

  /** A drain waits for the dead letter as it waits for what is out: else it would be written again. */
  async #setAside(taken: TakenBatch, failure: Failure, tries: Tries): Promise<readonly CdcEvent[] | null> {
    taken.outstanding++;
    try {
      if (!(await this.#parts.recovery.setAside(failure, tries, taken.fence))) {
        return null;
      }
      if (this.#record?.taken === taken) {
        taken.ledger.settle(this.#record.span, this.#record.next);
      }
      return [];
    } finally {
      taken.outstanding--;
      this.#letGo(taken);
      this.#onDone.wake();
    }
  }

  #redecode(taken: TakenBatch): void {
    const known = this.#decodeAtOnce(taken);
    this.#decoding ??= Promise.resolve(known ?? []);
  }

  /** Nothing more of the batch is handed out: it was all, or its partition goes and the rest comes again to whoever holds it next. */
  #unqueue(taken: TakenBatch): void {
    taken.queued = false;
    taken.fence.close();
    this.#queue = this.#queue.filter((other) => other !== taken);
    this.#letGo(taken);
    this.#onBatch.wake();
  }

  #letGo(taken: TakenBatch): void {
    if (!taken.queued && taken.outstanding === 0 && this.#taken.delete(taken)) {
      this.#inFlightBytes -= taken.batch.byteLength;
      if (!this.#isFull()) {
        this.#parts.holdAll(false);
      }
      this.#onRoom.wake();
    }
  }

  #hasOutstanding(goes: (taken: TakenBatch) => boolean): boolean {
    for (const taken of this.#taken) {
      if (taken.outstanding > 0 && goes(taken)) {
        return true;
      }
    }
    return false;
  }

  #isFull(): boolean {
    return this.#inFlightBytes >= this.#parts.maxInFlightBytes;
  }

  async #room(): Promise<void> {
    while (this.#isFull() && !this.#closed) {
      await this.#onRoom.wait();
    }
  }
}

function placeIn({ batch }: TakenBatch, { record }: RecordWalk): RecordPlace {
  return { assignment: batch.assignment, batch, record };
}

/** Everything below the watermark of the partition is done; before the first is, the batch tells where it begins. */
function oldestOf({ batch, ledger }: TakenBatch): string {
  const walk = batch.walk();
  const offset = ledger.watermark ?? (walk.next() ? batch.offsetAt(walk.record) : batch.nextOffset);
  return `${batch.topic}[${batch.partition}]@${offset}`;
}

/** `done` is the delivery's own, so that it works also when it was taken out of it. */
class OpenDelivery implements Delivery {
  readonly event: CdcEvent;
  readonly done: () => void;

  constructor(event: CdcEvent, settle: () => void) {
    let isDone = false;
    this.event = event;
    this.done = () => {
      if (!isDone) {
        isDone = true;
        settle();
      }
    };
  }
}

function ignore(): void {}
