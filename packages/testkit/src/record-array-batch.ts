import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { headerNamesEqual, type KafkaRecord, type RecordHeaders, RecordObjectsWalk, type RecordWalk } from "@cdckit/decode";

/** The records of a batch, and where they stand. */
export interface RecordArrayBatchOptions {
  /** The partition that the records stand in. */
  readonly assignment: PartitionAssignment;
  /** Records of the assignment's partition in offset order. If there is none, `nextOffset` says how far the partition was read. */
  readonly records: readonly KafkaRecord[];
  /**
   * The offset to commit when all are handled.
   * @default the last offset + 1
   */
  readonly nextOffset?: bigint;
  /**
   * The offset after the partition's last readable record.
   * @default null: not known
   */
  readonly highWatermark?: bigint | null;
}

/** A fetched batch over records that are objects already: nothing is copied, and the walk makes no object a record. */
export class RecordArrayBatch implements FetchedBatch {
  readonly assignment: PartitionAssignment;
  readonly topic: string;
  readonly partition: number;
  readonly recordCount: number;
  readonly byteLength: number;
  /** As if the records came over a connection. */
  readonly wireBytes: number;
  readonly nextOffset: bigint;
  readonly highWatermark: bigint | null;
  readonly #records: readonly KafkaRecord[];

  constructor({ assignment, records, nextOffset, highWatermark }: RecordArrayBatchOptions) {
    this.assignment = assignment;
    this.topic = assignment.topic;
    this.partition = assignment.partition;
    this.recordCount = records.length;
    this.byteLength = records.reduce((bytes, record) => bytes + sizeOf(record), 0);
    this.wireBytes = this.byteLength;
    this.nextOffset = nextOffset ?? (records.at(-1)?.offset ?? -1n) + 1n;
    this.highWatermark = highWatermark ?? null;
    this.#records = records;
  }

  walk(): RecordWalk {
    return new RecordObjectsWalk(this, this.#records);
  }

  offsetAt(record: number): bigint {
    return this.#at(record).offset;
  }

  timestampAt(record: number): bigint {
    return this.#at(record).timestamp;
  }

  headersAt(record: number): RecordHeaders {
    return this.#at(record).headers;
  }

  keyAt(record: number): Uint8Array | null {
    return this.#at(record).key;
  }

  valueAt(record: number): Uint8Array | null {
    return this.#at(record).value;
  }

  headerNamesAre(record: number, names: readonly string[]): boolean {
    return headerNamesEqual(this.#at(record).headers, names);
  }

  #at(record: number): KafkaRecord {
    const found = this.#records[record];
    if (found === undefined) {
      throw new RangeError(`the batch has ${this.#records.length} records, there is none at ${record}`);
    }
    return found;
  }
}

function sizeOf(record: KafkaRecord): number {
  return (record.key?.length ?? 0) + (record.value?.length ?? 0);
}
