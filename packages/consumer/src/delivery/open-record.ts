import type { CdcEvent, RecordBatch } from "@cdckit/decode";
import type { FetchedBatch } from "../driver.ts";
import type { RecordPlace } from "../failure/failure.ts";
import type { OffsetLedger, Stretch } from "./offset-ledger.ts";

/** A fetched batch in memory, until each of its records is handled. */
export interface TakenBatch {
  readonly batch: FetchedBatch;
  /** Records that are not handled. */
  open: number;
  walked: boolean;
}

/** One record, or the end of a fetched batch, between being read and being handled by everybody whom it concerns. */
export class OpenRecord {
  readonly place: RecordPlace;
  readonly offset: bigint;
  /** Where the partition goes on behind it. */
  readonly next: bigint;
  /** Bytes of key and value. */
  readonly bytes: number;
  readonly taken: TakenBatch;
  readonly #ledger: OffsetLedger;
  readonly #stretch: Stretch;
  readonly #onHandled: (record: OpenRecord) => void;
  #open = 1;

  constructor(
    at: { readonly place: RecordPlace; readonly offset: bigint; readonly next: bigint; readonly bytes: number; readonly taken: TakenBatch },
    ledger: OffsetLedger,
    onHandled: (record: OpenRecord) => void,
  ) {
    this.place = at.place;
    this.offset = at.offset;
    this.next = at.next;
    this.bytes = at.bytes;
    this.taken = at.taken;
    this.taken.open++;
    this.#ledger = ledger;
    this.#stretch = ledger.take();
    this.#onHandled = onHandled;
  }

  /** One more has to handle it. */
  share(): void {
    this.#open++;
  }

  /** One of them has. When all have, its offset is safe to commit. */
  done(): void {
    if (--this.#open === 0) {
      this.#ledger.settle(this.#stretch, this.next);
      this.taken.open--;
      this.#onHandled(this);
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
  readonly record: OpenRecord;
  readonly events: readonly CdcEvent[];
}
