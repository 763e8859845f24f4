import type { CdcEvent, Decoder } from "@cdckit/decode";
import type { Clock } from "../clock.ts";
import type { FetchedBatch, PartitionAssignment } from "../driver.ts";
import type { Recovery } from "../failure/recovery.ts";
import type { Counters } from "../observe/counters.ts";
import type { WorkInHand } from "../observe/waits.ts";
import type { Dispatcher, DrainKind, PauseAll } from "./dispatcher.ts";
import { emptyBatch } from "./empty-batch.ts";
import { Fence } from "./fence.ts";
import { InFlightBytes } from "./in-flight-bytes.ts";
import type { Lease } from "./lease.ts";
import type { OffsetLedger } from "./offset-ledger.ts";
import type { HeldPartition } from "./partition-ledgers.ts";
import { StreamBatches } from "./stream-batches.ts";
import { type StreamBatch, StreamReader, type StreamRecord } from "./stream-reader.ts";
import type { Turns } from "./turns.ts";
import { Wakeup } from "./wakeup.ts";

/** One event of a stream, and the function that says that it is handled. */
export interface Delivery<Event = CdcEvent> {
  /** The event. Call `done` after it is handled, also if nothing was to be done. */
  readonly event: Event;
  /** This event is handled. Its offset is committed when everything before it in its partition is done too. A second call does nothing. */
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
  /** No record of a partition is read beyond so many that are not done, or that come after one that is not. */
  readonly maxOutOfOrder: number;
  /** Asked before every event: the loop that takes them may never await anything. */
  readonly turns: Turns;
  readonly pauseAll: PauseAll;
  readonly progress: () => void;
}

/** Hands events out one by one, and settles their records when they are done, in any order. */
export class StreamDispatcher implements Dispatcher {
  readonly #parts: StreamDispatcherParts;
  readonly #reader: StreamReader;
  readonly #batches: StreamBatches = new StreamBatches();
  readonly #inFlightBytes: InFlightBytes;
  /** After `drained` nothing is handed out; after `abandoned` nobody waits for what is not done, either. */
  #state: "open" | "drained" | "abandoned" = "open";
  /** The loop waits for the next event. */
  #isAsked = false;
  /** The loop has asked for more than `maxOutOfOrder` lets it have. */
  #isWaiting = false;
  /** The next event of some partition may be there, or nothing will be handed out any more. */
  readonly #onReadable: Wakeup = new Wakeup();
  readonly #onRoom: Wakeup = new Wakeup();
  readonly #onDone: Wakeup = new Wakeup();

  constructor(parts: StreamDispatcherParts) {
    this.#parts = parts;
    this.#inFlightBytes = new InFlightBytes(parts.maxInFlightBytes);
    this.#reader = new StreamReader({
      ...parts,
      ended: (taken) => {
        this.#batches.shiftHead(); // only the head is read
        this.#unqueued(taken);
      },
      released: (taken) => this.#released(taken),
    });
  }

  take(batch: FetchedBatch, held: HeldPartition): Promise<void> | undefined {
    const { clock, lease, pauseAll } = this.#parts;
    const { ledger } = held;
    const taken: StreamBatch = {
      batch,
      walk: batch.walk(),
      ledger,
      outstanding: 0,
      isWriting: false,
      queued: true,
      fence: new Fence(clock, lease),
    };
    this.#batches.add(taken);
    this.#inFlightBytes.add(batch);
    this.#onReadable.wake();
    if (!this.#inFlightBytes.isFull) {
      return undefined;
    }
    pauseAll(true);
    return this.#room();
  }

  skipTo(held: HeldPartition, offset: bigint): void {
    void this.take(emptyBatch(held.assignment, offset), held);
  }

  hasWork(assignment: PartitionAssignment): boolean {
    return this.#batches.has(assignment);
  }

  /** What is done is in the ledger already. */
  checkpoint(): void {}

  async drain(_how: DrainKind, assignments?: readonly PartitionAssignment[]): Promise<void> {
    if (assignments === undefined) {
      this.#close("drained");
    }
    for (const taken of this.#batches.dequeue(assignments === undefined ? null : new Set(assignments))) {
      this.#unqueued(taken);
    }
    // Nothing of them is queued any more, so what is still in memory is handed out and not done.
    const isInMemory = (): boolean =>
      assignments === undefined ? this.#batches.count > 0 : assignments.some((each) => this.hasWork(each));
    while (this.#state !== "abandoned" && isInMemory()) {
      await this.#onDone.wait();
    }
  }

  blockedBy(): string | null {
    const { head } = this.#batches;
    if (this.#inFlightBytes.isFull) {
      return `${this.#inFlightBytes.total} bytes of events wait for done()`;
    }
    return this.#isWaiting && head !== undefined && this.#isTooFarAhead(head)
      ? `${oldestOf(head)} waits for done(), and nothing more is handed out: delivery.maxOutOfOrder is ${this.#parts.maxOutOfOrder}`
      : null;
  }

  *atWork(): Iterable<WorkInHand> {
    yield* this.#reader.atWork();
    const named = new Set<OffsetLedger>();
    for (const taken of this.#batches.all()) {
      if (taken.outstanding > 0 && !named.has(taken.ledger)) {
        named.add(taken.ledger); // the first batch of a partition has its oldest record
        yield { what: "done() of what was handed out", place: oldestOf(taken) };
      }
    }
    const { head } = this.#batches;
    if (head !== undefined && named.size === 0 && !this.#isAsked && this.#state === "open") {
      yield { what: "the next read of the stream", place: oldestOf(head) }; // everything is done(), and the loop does not come back
    }
  }

  /** The next delivery. Null after a drain of all partitions. Rejects with what could not be decoded. */
  async next(): Promise<Delivery | null> {
    this.#isAsked = true;
    while (this.#state === "open") {
      const { head } = this.#batches;
      if (head === undefined) {
        await this.#onReadable.wait();
      } else if (head.fence.mustWait) {
        await head.fence.leased();
      } else {
        const rest = this.#parts.turns.restWhereDue(null);
        if (rest !== null) {
          await rest;
          continue;
        }
        const known = this.#reader.takeEvent(head);
        if (known !== null) {
          head.outstanding++;
          this.#isAsked = false;
          return new OpenDelivery(known.event, () => this.#done(known.record));
        }
        await (this.#isTooFarAhead(head) ? this.#waitForDone() : this.#reader.readNext(head));
      }
    }
    return null;
  }

  /** Nobody reads on. Unless a drain is under way already, none will wait for what is not done. */
  abandonUnlessDrained(): void {
    if (this.#state !== "open") {
      return;
    }
    for (const { fence } of this.#batches.all()) {
      fence.close();
    }
    this.#close("abandoned");
    this.#onDone.wake();
  }

  /** The next record would come after so many that are not done that a restart may repeat too many. */
  #isTooFarAhead({ ledger }: StreamBatch): boolean {
    return ledger.open >= this.#parts.maxOutOfOrder;
  }

  /** The other partitions wait, too: there is one queue, and one loop. */
  async #waitForDone(): Promise<void> {
    this.#isWaiting = true;
    await this.#onReadable.wait();
    this.#isWaiting = false;
  }

  #close(state: "drained" | "abandoned"): void {
    if (this.#state === "open") {
      this.#state = state;
    }
    this.#onRoom.wake();
    this.#onReadable.wake();
  }

  #done(record: StreamRecord): void {
    const { taken, span, next } = record;
    record.open--;
    taken.outstanding--;
    this.#parts.counters.handled++;
    this.#parts.progress();
    if (record.open === 0) {
      taken.ledger.settle(span, next);
    }
    this.#released(taken);
  }

  /** Nothing more of the batch is handed out. Either that was all, or its partition goes and the rest comes again to the next owner. */
  #unqueued(taken: StreamBatch): void {
    taken.queued = false;
    taken.fence.close();
    this.#letGo(taken);
    this.#onReadable.wake();
  }

  /** Something of the batch has ended. */
  #released(taken: StreamBatch): void {
    this.#letGo(taken);
    this.#onDone.wake();
    this.#onReadable.wake();
  }

  /** A batch leaves memory when all of it is handed out and done. */
  #letGo(taken: StreamBatch): void {
    if (!taken.queued && taken.outstanding === 0 && !taken.isWriting && this.#batches.delete(taken)) {
      this.#inFlightBytes.remove(taken.batch);
      if (!this.#inFlightBytes.isFull) {
        this.#parts.pauseAll(false);
      }
      this.#onRoom.wake();
    }
  }

  async #room(): Promise<void> {
    while (this.#inFlightBytes.isFull && this.#state === "open") {
      await this.#onRoom.wait();
    }
  }
}

/** Everything below the watermark of the partition is done. Before the first record is, the batch says where it begins. */
function oldestOf({ batch, ledger }: StreamBatch): string {
  return `${batch.topic}[${batch.partition}]@${ledger.watermark ?? firstOffsetOf(batch)}`;
}

function firstOffsetOf(batch: FetchedBatch): bigint {
  const walk = batch.walk();
  return walk.next() ? batch.offsetAt(walk.record) : batch.nextOffset;
}

/** `done` is the delivery's own, so that it also works after it was taken out of it. */
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
