import type { BatchHeader } from "./batch-header.ts";
import { CheckedReader } from "./checked-reader.ts";
import { malformed, tooManyHeaders } from "./errors.ts";

/** Kafka limits none. Each is an object for whoever asks for the headers of its record, and takes a hundred times its bytes. */
const maxHeaders = 100_000;

/** The records of a batch from the wanted offset on. */
export interface WantedRecords {
  /** Where the first of them begins. The end of the bytes if there is none. */
  readonly start: number;
  readonly count: number;
}

/**
 * Walks the decompressed records once, before any of them is handed over, so that a walk needs no checks and cannot fail half-way. All lengths
 * must fit, offsets must rise within the batch's own range, and the records must end with the bytes.
 *
 * Record => length varint, attributes int8, timestampDelta varlong, offsetDelta varint, keyLength varint, key, valueLength varint, value,
 * headerCount varint, headers. A length of -1 is null. https://kafka.apache.org/documentation/#record
 */
export function checkRecords(bytes: Uint8Array, header: BatchHeader, fromOffset: bigint): WantedRecords {
  const { recordCount, lastOffsetDelta } = header;
  const fromDelta = Number(fromOffset - header.baseOffset); // compared only
  const reader = new CheckedReader(bytes);
  let start = bytes.length;
  let count = 0;
  let previousDelta = -1;
  for (let i = 0; i < recordCount; i++) {
    const recordStart = reader.at;
    const length = reader.varint("the length of a record");
    if (length < 0 || length > bytes.length - reader.at) {
      throw malformed("the length of a record", `0 to ${bytes.length - reader.at} bytes`, length);
    }
    const end = reader.at + length;
    const delta = checkFields(reader, end);
    if (reader.at !== end) {
      throw malformed("the length of a record", `${length + reader.at - end} bytes, as its fields take`, length);
    }
    if (delta <= previousDelta || delta > lastOffsetDelta) {
      throw malformed("the offset of a record, after the batch's first", `${previousDelta + 1} to ${lastOffsetDelta}`, delta);
    }
    previousDelta = delta;
    if (delta >= fromDelta) {
      start = Math.min(start, recordStart);
      count++;
    }
  }
  if (reader.at !== bytes.length) {
    throw malformed(`the bytes of its ${recordCount} records`, reader.at, bytes.length);
  }
  return { start, count };
}

/** Checks the fields of one record, which end at `end`. Returns the offset delta. */
function checkFields(reader: CheckedReader, end: number): number {
  reader.skip(1, end, "the attributes of a record");
  reader.skipVarlong("the timestamp of a record");
  const delta = reader.varint("the offset of a record");
  skipNullable(reader, end, "the key of a record");
  skipNullable(reader, end, "the value of a record");
  const headerCount = reader.varint("the number of headers of a record");
  if (headerCount < 0) {
    throw malformed("the number of headers of a record", "0 or more", headerCount);
  }
  if (headerCount > maxHeaders) {
    throw tooManyHeaders(maxHeaders, headerCount);
  }
  for (let i = 0; i < headerCount; i++) {
    reader.skip(reader.varint("the length of a header's name"), end, "the name of a header");
    skipNullable(reader, end, "the value of a header");
  }
  return delta;
}

function skipNullable(reader: CheckedReader, end: number, what: string): void {
  const length = reader.varint(what);
  if (length !== -1) {
    reader.skip(length, end, what);
  }
}
