import type { RecordHeaders, RecordWalk } from "@cdckit/decode";
import type { FetchedRecords } from "./fetched-records.ts";
import { headerNamesInBytes, readHeaders } from "./record-headers.ts";
import type { RecordSet } from "./record-set.ts";
import { type Segment, segmentOf } from "./segment.ts";
import { SegmentsWalk } from "./segments-walk.ts";
import { afterVarint, varintAt, varlongAt } from "./varint.ts";

/** What the reader has found out of the batches of a set. */
export interface SetContents {
  readonly segments: readonly Segment[];
  readonly recordCount: number;
  readonly byteLength: number;
  readonly wireBytes: number;
  readonly nextOffset: bigint;
  readonly lastLeaderEpoch: number | null;
}

export class OpenedSet<Assignment> implements RecordSet<Assignment> {
  readonly assignment: Assignment;
  readonly topic: string;
  readonly partition: number;
  readonly recordCount: number;
  readonly byteLength: number;
  readonly wireBytes: number;
  readonly nextOffset: bigint;
  readonly highWatermark: bigint | null;
  readonly lastLeaderEpoch: number | null;
  readonly #segments: readonly Segment[];
  /** The record that was asked for last: several questions about one record follow each other. */
  readonly #asked: SegmentsWalk;
  /** The walk that was begun last. Its record is asked for most often, and its fields are known. */
  #walk: SegmentsWalk;

  constructor(fetched: FetchedRecords<Assignment>, contents: SetContents) {
    this.assignment = fetched.assignment;
    this.topic = fetched.topic;
    this.partition = fetched.partition;
    this.highWatermark = fetched.highWatermark;
    this.recordCount = contents.recordCount;
    this.byteLength = contents.byteLength;
    this.wireBytes = contents.wireBytes;
    this.nextOffset = contents.nextOffset;
    this.lastLeaderEpoch = contents.lastLeaderEpoch;
    this.#segments = contents.segments;
    this.#asked = new SegmentsWalk(this, contents.segments);
    this.#walk = this.#asked;
  }

  walk(): RecordWalk {
    this.#walk = new SegmentsWalk(this, this.#segments);
    return this.#walk;
  }

  offsetAt(record: number): bigint {
    const { baseOffset, bytes, firstHandle } = this.#segmentAt(record);
    const timestamp = afterVarint(bytes, record - firstHandle) + 1; // after the length and the attributes
    return baseOffset + BigInt(varintAt(bytes, afterVarint(bytes, timestamp)));
  }

  timestampAt(record: number): bigint {
    const { baseTimestamp, logAppendTime, bytes, firstHandle } = this.#segmentAt(record);
    // As Kafka's Java client adds them: what is no time of Kafka's cannot be written to it again.
    return logAppendTime ?? BigInt.asIntN(64, baseTimestamp + varlongAt(bytes, afterVarint(bytes, record - firstHandle) + 1));
  }

  leaderEpochAt(record: number): number | null {
    return this.#segmentAt(record).leaderEpoch;
  }

  headersAt(record: number): RecordHeaders {
    const { segment, headersAt } = this.#fieldsOf(record);
    return readHeaders((segment as Segment).bytes, headersAt); // it is at a record
  }

  keyAt(record: number): Uint8Array | null {
    const { keyBytes, keyStart, keyEnd } = this.#fieldsOf(record);
    return keyBytes === null ? null : keyBytes.subarray(keyStart, keyEnd);
  }

  valueAt(record: number): Uint8Array | null {
    const { valueBytes, valueStart, valueEnd } = this.#fieldsOf(record);
    return valueBytes === null ? null : valueBytes.subarray(valueStart, valueEnd);
  }

  headerNamesAre(record: number, names: readonly string[]): boolean {
    const { segment, headersAt } = this.#fieldsOf(record);
    return headerNamesInBytes((segment as Segment).bytes, headersAt, names); // it is at a record
  }

  #fieldsOf(record: number): SegmentsWalk {
    if (record >= 0 && this.#walk.record === record) {
      return this.#walk;
    }
    if (record < 0 || this.#asked.record !== record) {
      this.#asked.moveTo(this.#segmentAt(record), record);
    }
    return this.#asked;
  }

  #segmentAt(record: number): Segment {
    const last = this.#segments.at(-1);
    if (last === undefined || !(record >= 0 && record < last.firstHandle + last.bytes.length)) {
      throw new RangeError(`expected the handle of a record of this set, found ${record}`);
    }
    return segmentOf(this.#segments, record);
  }
}
