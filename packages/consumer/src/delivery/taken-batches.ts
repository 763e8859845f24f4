import type { FetchedBatch } from "../driver.ts";
import type { Counters } from "../observe/counters.ts";
import type { InFlightBytes } from "./in-flight-bytes.ts";
import type { InFlightRecord, RecordOwner, TakenBatch } from "./in-flight-record.ts";
import type { OffsetLedger } from "./offset-ledger.ts";

export interface TakenBatchesParts {
  readonly ledger: OffsetLedger;
  readonly counters: Counters;
  /** So many batches are in memory at most, before the driver hands over no more of the partition. */
  readonly maxInFlight: number;
  /** Counts the batches of all partitions. */
  readonly inFlightBytes: InFlightBytes;
  /** A batch has left memory. */
  readonly released: () => void;
}

/** The fetched batches of one partition that are in memory: each of them until its last record is handled. */
export class TakenBatches implements RecordOwner {
  readonly #parts: TakenBatchesParts;
  readonly #all = new Set<TakenBatch>();
  /** Those that are not read to their end, in order. */
  readonly #unread: TakenBatch[] = [];
  #isPaused = false;

  constructor(parts: TakenBatchesParts) {
    this.#parts = parts;
  }

  get ledger(): OffsetLedger {
    return this.#parts.ledger;
  }

  /** How many are in memory. */
  get count(): number {
    return this.#all.size;
  }

  /** The driver hands over no more of this partition. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The batch that is read now, or next. */
  get head(): TakenBatch | undefined {
    return this.#unread[0];
  }

  add(batch: FetchedBatch): void {
    const taken: TakenBatch = { batch, ordinal: 0, open: 0, walked: false };
    this.#all.add(taken);
    this.#unread.push(taken);
    this.#parts.inFlightBytes.add(batch);
  }

  /** Whether the driver is to wait until batches have left memory. */
  pauseIfFull(): boolean {
    this.#isPaused ||= this.#isFull();
    return this.#isPaused;
  }

  /** A record of the head was read. */
  hasRead(head: TakenBatch): void {
    head.ordinal = ++this.#parts.counters.records;
  }

  /** The head is read to its end. It stays in memory until its records are handled. */
  shiftHead(): void {
    const head = this.#unread.shift();
    if (head !== undefined) {
      head.walked = true;
    }
  }

  /** A record, or the end of a batch, is handled by everybody it concerns. */
  handled({ taken, sinkEvents }: InFlightRecord): void {
    const { counters, inFlightBytes, released } = this.#parts;
    counters.handled += sinkEvents;
    counters.settled++;
    if (taken.walked && taken.open === 0 && this.#all.delete(taken)) {
      inFlightBytes.remove(taken.batch);
      this.#isPaused &&= this.#isFull();
      released();
    }
  }

  /** Forgets all batches: they come again, to the next owner of the partition. What is still handled of them changes nothing any more. */
  drop(): void {
    const { inFlightBytes, released } = this.#parts;
    for (const { batch } of this.#all) {
      inFlightBytes.remove(batch);
    }
    this.#all.clear();
    this.#unread.length = 0;
    this.#isPaused = false;
    released();
  }

  #isFull(): boolean {
    return this.#all.size >= this.#parts.maxInFlight;
  }
}
