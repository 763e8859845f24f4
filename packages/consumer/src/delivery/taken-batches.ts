import type { FetchedBatch } from "../driver.ts";
import type { Counters } from "../observe/counters.ts";
import type { InFlightRecord, RecordOwner, TakenBatch } from "./in-flight-record.ts";
import type { OffsetLedger } from "./offset-ledger.ts";

export interface TakenBatchesParts {
  readonly ledger: OffsetLedger;
  readonly counters: Counters;
  /** So many batches are in memory at most, before the driver hands over no more of the partition. */
  readonly maxInFlight: number;
  /** A batch has left memory. */
  readonly released: () => void;
}

/** The fetched batches of one partition that are in memory: each of them until its last record is handled. */
export class TakenBatches implements RecordOwner {
  readonly #parts: TakenBatchesParts;
  readonly #all = new Set<TakenBatch>();
  /** Those that are not read to their end, in order. */
  readonly #unread: TakenBatch[] = [];
  #byteLength = 0;
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

  /** The bytes that they hold. */
  get byteLength(): number {
    return this.#byteLength;
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
    const taken: TakenBatch = { batch, open: 0, walked: false };
    this.#all.add(taken);
    this.#unread.push(taken);
    this.#byteLength += batch.byteLength;
  }

  /** Whether the driver is to wait until batches have left memory. */
  pauseIfFull(): boolean {
    this.#isPaused ||= this.#isFull();
    return this.#isPaused;
  }

  /** The head is read to its end. It stays in memory until its records are handled. */
  shiftHead(): void {
    const head = this.#unread.shift();
    if (head !== undefined) {
      head.walked = true;
    }
  }

  /** A record, or the end of a batch, is handled by everybody it concerns. */
  handled({ taken, record, sinkEvents }: InFlightRecord): void {
    const { counters, released } = this.#parts;
    counters.records += record < 0 ? 0 : 1;
    counters.handled += sinkEvents;
    if (taken.walked && taken.open === 0 && this.#all.delete(taken)) {
      this.#byteLength -= taken.batch.byteLength;
      this.#isPaused &&= this.#isFull();
      released();
    }
  }

  /** Forgets all batches: they come again, to the next owner of the partition. */
  drop(): void {
    this.#all.clear();
    this.#unread.length = 0;
    this.#byteLength = 0;
    this.#isPaused = false;
    this.#parts.released();
  }

  #isFull(): boolean {
    return this.#all.size >= this.#parts.maxInFlight;
  }
}
