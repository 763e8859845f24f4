import type { CdcEvent, RecordBatch } from "@cdckit/decode";
import type { FetchedBatch } from "../driver.ts";
import type { RecordPlace } from "../failure/failure.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";

/** A fetched batch in memory, until each of its records is handled. */
export interface TakenBatch {
  readonly batch: FetchedBatch;
  /** Records that are not handled. */
  open: number;
  walked: boolean;
}

/** Whose records they are. */
export interface RecordOwner {
  readonly ledger: OffsetLedger;
  handled(record: InFlightRecord): void;
}

/** One record, or the end of a fetched batch, between being read and being handled by everybody whom it concerns. */
export class InFlightRecord {
  readonly taken: TakenBatch;
  /** The batch's own handle; below 0 for the end of the batch. */
  readonly record: number;
  readonly offset: bigint;
  /** Where the partition goes on behind it. */
  readonly next: bigint;
  /** Bytes of key and value. */
  readonly bytes: number;
  /** Events of it that sinks take, where sinks are all there is: handled when they have applied them. */
  sinkEvents = 0;
  readonly #owner: RecordOwner;
  readonly #span: OffsetSpan;
  #open = 1;

  constructor(taken: TakenBatch, record: number, next: bigint, bytes: number, owner: RecordOwner) {
    taken.open++;
    this.taken = taken;
    this.record = record;
    this.offset = record < 0 ? next : taken.batch.offsetAt(record);
    this.next = next;
    this.bytes = bytes;
    this.#owner = owner;
    this.#span = owner.ledger.take();
  }

  get place(): RecordPlace {
    const { batch } = this.taken;
    const { assignment } = batch;
    return this.record < 0 ? { assignment, batch: new EndOfBatch(batch), record: 0 } : { assignment, batch, record: this.record };
  }

  /** One more has to handle it. */
  share(): void {
    this.#open++;
  }

  /** One of them has. When all have, its offset is safe to commit. */
  done(): void {
    if (--this.#open === 0) {
      this.#owner.ledger.settle(this.#span, this.next);
      this.taken.open--;
      this.#owner.handled(this);
    }
  }
}

/** Stands where a record would: behind the last one of a fetched batch. */
export class EndOfBatch implements RecordBatch {
  readonly topic: string;
  readonly partition: number;
  readonly #offset: bigint;

  constructor({ topic, partition, nextOffset }: FetchedBatch) {
    this.topic = topic;
    this.partition = partition;
    this.#offset = nextOffset;
  }

  offsetAt(): bigint {
    return this.#offset;
  }

  timestampAt(): bigint {
    return 0n;
  }

  headersAt(): readonly [] {
    return [];
  }

  keyAt(): null {
    return null;
  }

  valueAt(): null {
    return null;
  }

  headerNamesAre(): boolean {
    return false;
  }
}

/** What one record holds for one batch handler or sink. */
export interface BatchEntry {
  readonly record: InFlightRecord;
  readonly events: readonly CdcEvent[];
}

/** Their events, in order. */
export function eventsOf(entries: readonly BatchEntry[]): readonly CdcEvent[] {
  const all: CdcEvent[] = [];
  for (const { events } of entries) {
    for (const event of events) {
      all.push(event);
    }
  }
  return all;
}
