import type { RecordBatch, RecordWalk } from "@cdckit/decode";
import type { Segment } from "./segment.ts";
import { afterVarint, varintAt } from "./varint.ts";

const noBytes = new Uint8Array(0);

/** Moves from record to record in the bytes of the segments. `checkRecords` has checked them, so nothing is checked here. */
export class SegmentsWalk implements RecordWalk {
  readonly batch: RecordBatch;
  record = -1;
  keyBytes: Uint8Array | null = null;
  keyStart = 0;
  keyEnd = 0;
  valueBytes: Uint8Array | null = null;
  valueStart = 0;
  valueEnd = 0;
  /** Where the number of headers of the record stands in its segment. */
  headersAt = 0;
  segment: Segment | null = null;
  readonly #segments: readonly Segment[];
  #nextSegment = 0;
  #bytes: Uint8Array = noBytes;
  #firstHandle = 0;
  #at = 0;
  /** Where the records of the segment end. */
  #end = 0;

  constructor(batch: RecordBatch, segments: readonly Segment[]) {
    this.batch = batch;
    this.#segments = segments;
  }

  next(): boolean {
    while (this.#at === this.#end) {
      if (!this.#enterSegment()) {
        return false;
      }
    }
    const bytes = this.#bytes;
    const start = this.#at;
    this.record = this.#firstHandle + start;
    const fields = afterVarint(bytes, start);
    this.#at = fields + varintAt(bytes, start);
    this.#readFields(bytes, fields);
    return true;
  }

  /** Moves to a record by its handle. `segment` is the one in which it lies. */
  moveTo(segment: Segment, record: number): void {
    this.segment = segment;
    this.record = record;
    this.#readFields(segment.bytes, afterVarint(segment.bytes, record - segment.firstHandle));
  }

  #enterSegment(): boolean {
    const segment = this.#segments[this.#nextSegment];
    if (segment === undefined) {
      return false;
    }
    this.#nextSegment++;
    this.segment = segment;
    this.#bytes = segment.bytes;
    this.#firstHandle = segment.firstHandle;
    this.#at = segment.start;
    this.#end = segment.bytes.length;
    return true;
  }

  #readFields(bytes: Uint8Array, fields: number): void {
    const offset = afterVarint(bytes, fields + 1); // attributes, timestamp
    const key = afterVarint(bytes, offset);
    const keyLength = varintAt(bytes, key);
    const keyStart = afterVarint(bytes, key);
    const keyEnd = keyLength < 0 ? keyStart : keyStart + keyLength;
    this.keyBytes = keyLength < 0 ? null : bytes;
    this.keyStart = keyStart;
    this.keyEnd = keyEnd;
    const valueLength = varintAt(bytes, keyEnd);
    const valueStart = afterVarint(bytes, keyEnd);
    const valueEnd = valueLength < 0 ? valueStart : valueStart + valueLength;
    this.valueBytes = valueLength < 0 ? null : bytes;
    this.valueStart = valueStart;
    this.valueEnd = valueEnd;
    this.headersAt = valueEnd;
  }
}
