/**
 * The types of the decoder's input.
 *
 * A driver whose client makes an object for each record passes a {@link KafkaRecord}. A driver that has the fetched bytes passes a {@link
 * RecordCursor} that walks them, so that no object and no slice is made for a record.
 */

/** Headers in Kafka's order. Names may repeat. */
export type RecordHeaders = readonly (readonly [name: string, value: Uint8Array | null])[];

/** One record as an object. A null value is a tombstone. An empty value is not. */
export interface KafkaRecord {
  /** The name of the topic. It may name the table, and hints are found by it. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset of the record in its partition. */
  readonly offset: bigint;
  /** Milliseconds since the epoch. */
  readonly timestamp: bigint;
  /** The bytes of the key; null if there is none. */
  readonly key: Uint8Array | null;
  /** The bytes of the value; null for a tombstone. */
  readonly value: Uint8Array | null;
  /** The headers in their order: name and bytes. Some formats name their schema there. `[]` if there are none. */
  readonly headers: RecordHeaders;
}

/**
 * Records that were fetched together. Events keep a reference to their batch and ask it for rarely used parts, so all methods must work for
 * as long as the batch exists. `record` is the batch's own handle, a small integer: an index, or a position in its bytes.
 */
export interface RecordBatch {
  /** The name of the topic. */
  readonly topic: string;
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The offset of a record in its partition. */
  offsetAt(record: number): bigint;
  /** Milliseconds since the epoch. */
  timestampAt(record: number): bigint;
  /** The headers of a record, in their order; an empty list if it has none. */
  headersAt(record: number): RecordHeaders;
  /** The key's bytes in the batch, without a copy. Null if the record has no key. */
  keyAt(record: number): Uint8Array | null;
  /** The value's bytes in the batch, without a copy. Null for a tombstone. */
  valueAt(record: number): Uint8Array | null;
  /**
   * Whether the record has exactly these header names in this order. It is called for every record, so it must be cheap and must not
   * allocate.
   */
  headerNamesAre(record: number, names: readonly string[]): boolean;
}

/**
 * One record in the bytes of its batch. The key is `keyBytes` from `keyStart` (inclusive) to `keyEnd` (exclusive), and the value likewise.
 * Null bytes are Kafka's null. A cursor may be moved as soon as a synchronous call with it has returned.
 */
export interface RecordCursor {
  /** The batch that the record is of. */
  readonly batch: RecordBatch;
  /** The batch's handle of the record. */
  readonly record: number;
  /** The bytes that hold the key; null if the record has no key. */
  readonly keyBytes: Uint8Array | null;
  /** The index of the key's first byte. */
  readonly keyStart: number;
  /** The index after the key's last byte. */
  readonly keyEnd: number;
  /** The bytes that hold the value; null for a tombstone. */
  readonly valueBytes: Uint8Array | null;
  /** The index of the value's first byte. */
  readonly valueStart: number;
  /** The index after the value's last byte. */
  readonly valueEnd: number;
}

/**
 * A cursor that can be moved to the next record of its batch. It is before the first record until `next` is called. After the last record,
 * `next` returns false.
 */
export interface RecordWalk extends RecordCursor {
  /** Moves to the next record. False, and nowhere else, after the last one. Never throws. */
  next(): boolean;
}

/** The part of a record object that a walk reads. */
export interface RecordBytes {
  /** The bytes of the key; null if there is none. */
  readonly key: Uint8Array | null;
  /** The bytes of the value; null for a tombstone. */
  readonly value: Uint8Array | null;
}

/** A walk over a batch whose client has made an object for each record. It points at these objects one after another and makes none. */
export class RecordObjectsWalk implements RecordWalk {
  readonly batch: RecordBatch;
  record = -1;
  keyBytes: Uint8Array | null = null;
  readonly keyStart = 0;
  keyEnd = 0;
  valueBytes: Uint8Array | null = null;
  readonly valueStart = 0;
  valueEnd = 0;
  readonly #records: readonly RecordBytes[];

  /** `records` are in the order of the batch: the handle of a record is its index. */
  constructor(batch: RecordBatch, records: readonly RecordBytes[]) {
    this.batch = batch;
    this.#records = records;
  }

  next(): boolean {
    const found = this.#records[this.record + 1];
    if (found === undefined) {
      return false;
    }
    this.record++;
    const { key, value } = found;
    this.keyBytes = key;
    this.keyEnd = key === null ? 0 : key.length;
    this.valueBytes = value;
    this.valueEnd = value === null ? 0 : value.length;
    return true;
  }
}

/** A batch of one record, so that single records are decoded by the same code as fetched batches. */
export class SingleRecordBatch implements RecordBatch, RecordCursor {
  readonly #record: KafkaRecord;

  constructor(record: KafkaRecord) {
    this.#record = record; // one is made for each record and kept by its events, so it holds nothing but the record
  }

  get batch(): RecordBatch {
    return this;
  }

  get record(): number {
    return 0;
  }

  get topic(): string {
    return this.#record.topic;
  }

  get partition(): number {
    return this.#record.partition;
  }

  get keyBytes(): Uint8Array | null {
    return this.#record.key;
  }

  get keyStart(): number {
    return 0;
  }

  get keyEnd(): number {
    return this.#record.key?.length ?? 0;
  }

  get valueBytes(): Uint8Array | null {
    return this.#record.value;
  }

  get valueStart(): number {
    return 0;
  }

  get valueEnd(): number {
    return this.#record.value?.length ?? 0;
  }

  offsetAt(): bigint {
    return this.#record.offset;
  }

  timestampAt(): bigint {
    return this.#record.timestamp;
  }

  headersAt(): RecordHeaders {
    return this.#record.headers;
  }

  keyAt(): Uint8Array | null {
    return this.keyBytes;
  }

  valueAt(): Uint8Array | null {
    return this.valueBytes;
  }

  headerNamesAre(_record: number, names: readonly string[]): boolean {
    return headerNamesEqual(this.#record.headers, names);
  }
}

/** Whether the headers have exactly these names, in this order. */
export function headerNamesEqual(headers: RecordHeaders, names: readonly string[]): boolean {
  if (headers.length !== names.length) {
    return false;
  }
  for (let i = 0; i < names.length; i++) {
    if (headers[i]?.[0] !== names[i]) {
      return false;
    }
  }
  return true;
}
