import type { CdcEvent } from "@cdckit/decode";
import type { FetchedBatch } from "../driver.ts";
import type { RecordPlace } from "../failure/record-place.ts";
import { emptyBatch } from "./empty-batch.ts";
import type { OffsetLedger, OffsetSpan } from "./offset-ledger.ts";

/** A fetched batch in memory. It stays there until each of its records is handled. */
export interface TakenBatch {
  readonly batch: FetchedBatch;
  /** The ordinal of the record that was read last; see `RecordPlace`. */
  ordinal: number;
  /** Records that are not handled. */
  open: number;
  walked: boolean;
}

/** What the records belong to. */
export interface RecordOwner {
  readonly ledger: OffsetLedger;
  handled(record: InFlightRecord): void;
}

/** One record, or the end of a fetched batch, from the time it is read until everybody it concerns has handled it. */
export class InFlightRecord {
  readonly taken: TakenBatch;
  /** The batch's own handle. Below 0 for the end of the batch. */
  readonly record: number;
  readonly ordinal: number;
  readonly offset: bigint;
  /** Where the partition goes on after it. */
  readonly next: bigint;
  /** Bytes of key and value. */
  readonly bytes: number;
  /** How many of its events sinks take, if there are no handlers. They count as handled after the sinks have applied them. */
  sinkEvents = 0;
  readonly #owner: RecordOwner;
  readonly #span: OffsetSpan;
  #open = 1;

  constructor(taken: TakenBatch, record: number, next: bigint, bytes: number, owner: RecordOwner) {
    taken.open++;
    this.taken = taken;
    this.record = record;
    this.ordinal = taken.ordinal;
    this.offset = record < 0 ? next : taken.batch.offsetAt(record);
    this.next = next;
    this.bytes = bytes;
    this.#owner = owner;
    this.#span = owner.ledger.take();
  }

  get place(): RecordPlace {
    const { batch } = this.taken;
    const { assignment, nextOffset } = batch;
    const { record, ordinal } = this;
    return { assignment, batch: record < 0 ? emptyBatch(assignment, nextOffset) : batch, record, ordinal };
  }

  /** One more has to handle it. */
  share(): void {
    this.#open++;
  }

  /** One of those who have to handle it is done. When all are, its offset is safe to commit. */
  done(): void {
    if (--this.#open === 0) {
      this.#owner.ledger.settle(this.#span, this.next);
      this.taken.open--;
      this.#owner.handled(this);
    }
  }
}

/** What one record holds for one batch handler or sink. */
export interface BatchEntry {
  readonly record: InFlightRecord;
  readonly events: readonly CdcEvent[];
}

/** The events of the entries, in order. */
export function eventsOf(entries: readonly BatchEntry[]): readonly CdcEvent[] {
  const all: CdcEvent[] = [];
  for (const { events } of entries) {
    for (const event of events) {
      all.push(event);
    }
  }
  return all;
}
