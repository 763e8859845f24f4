import type { KafkaRecord } from "@cdckit/decode";

/** What a reader of committed records gets from a position on. */
export interface LogRead {
  readonly records: readonly KafkaRecord[];
  /** The offset of the next read: after the records, gaps, control records and aborted records. */
  readonly nextOffset: bigint;
}

/** The log of one partition, read as `read_committed` reads it: to the first open transaction, and nothing that was aborted. */
export class MemoryLog {
  /** In offset order. What was aborted, compacted or deleted is not among them. */
  #records: KafkaRecord[] = [];
  /** The first offset of each transaction that is open. */
  readonly #open = new Map<object, bigint>();
  #start = 0n;
  #end = 0n;

  /** The first offset that is there. */
  get start(): bigint {
    return this.#start;
  }

  /** The offset that the next record gets. */
  get end(): bigint {
    return this.#end;
  }

  /** The end of what can be read: the first record of an open transaction, or the end. As in Kafka, never before the start of the log. */
  get stableEnd(): bigint {
    let end = this.#end;
    for (const first of this.#open.values()) {
      end = first < end ? first : end;
    }
    return end < this.#start ? this.#start : end;
  }

  /** A transaction's records are read when it is committed, and never when it is aborted. */
  append(record: KafkaRecord, transaction?: object): void {
    if (transaction !== undefined && !this.#open.has(transaction)) {
      this.#open.set(transaction, record.offset);
    }
    this.#records.push(record);
    this.#end = record.offset + 1n;
  }

  /** Writes the transaction's marker, which takes an offset. */
  endTransaction(transaction: object, aborted: ReadonlySet<KafkaRecord> | null): void {
    this.#open.delete(transaction);
    if (aborted !== null) {
      this.#records = this.#records.filter((record) => !aborted.has(record));
    }
    this.#end++;
  }

  /** At most `max` records from an offset on that a reader of committed records sees, and where to read next. */
  read(from: bigint, max: number): LogRead {
    const stableEnd = this.stableEnd;
    const first = firstAtOrAfter(this.#records, from);
    const records = this.#records.slice(first, Math.min(first + max, firstAtOrAfter(this.#records, stableEnd)));
    const last = records.at(-1);
    return { records, nextOffset: records.length === max && last !== undefined ? last.offset + 1n : stableEnd };
  }

  /** The offset of the first record of this time or later, or the end of what can be read. */
  offsetAt(timestamp: bigint): bigint {
    const first = this.#records.find((record) => record.timestamp >= timestamp);
    return first === undefined || first.offset > this.stableEnd ? this.stableEnd : first.offset;
  }

  /** As retention does. */
  deleteBefore(offset: bigint): void {
    if (offset > this.#end) {
      throw new RangeError(`the log ends at ${this.#end}, nothing before ${offset} can be deleted`);
    }
    this.#start = offset > this.#start ? offset : this.#start;
    this.#records = this.#records.slice(firstAtOrAfter(this.#records, this.#start));
  }

  /** As an unclean leader election does: what is from here on was never there. */
  truncateTo(offset: bigint): void {
    if (offset < this.#start || offset > this.#end) {
      throw new RangeError(`the log goes from ${this.#start} to ${this.#end}, it cannot end at ${offset}`);
    }
    this.#records = this.#records.slice(0, firstAtOrAfter(this.#records, offset));
    this.#end = offset;
  }

  /** Keeps the last record of each key, as a compacted topic does in the end, and none without a key. Offsets stay; what went leaves holes. */
  compact(): void {
    const stableEnd = this.stableEnd;
    const last = new Map<string, KafkaRecord>();
    for (const record of this.#records) {
      if (record.key !== null && record.offset < stableEnd) {
        last.set(Buffer.from(record.key).toString("latin1"), record);
      }
    }
    const kept = new Set(last.values());
    this.#records = this.#records.filter((record) => record.offset >= stableEnd || kept.has(record));
  }
}

function firstAtOrAfter(records: readonly KafkaRecord[], offset: bigint): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const record = records[middle];
    if (record !== undefined && record.offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
