import { type BatchHeader, maxOffset } from "./batch-header.ts";
import { decompress } from "./codecs/decompress.ts";
import { isRecordBatchError, malformed } from "./errors.ts";
import { endOfMessage, isCompressedMessage, type Message, type MessageBytes, offsetOfMessage, readMessage } from "./message.ts";
import type { ResolvedOptions } from "./options.ts";
import { RecordWriter } from "./record-writer.ts";

/** Messages of the formats 0 and 1, written again as a record batch of format 2. */
export interface RewrittenBatch {
  readonly header: BatchHeader;
  /** They are not compressed. */
  readonly records: Uint8Array;
  /** How many bytes the messages take where they were fetched. */
  readonly byteLength: number;
}

/** What is wanted of messages that follow each other. */
export interface WantedMessages {
  /** A compressed message that ends below this offset is not decompressed. */
  readonly fromOffset: bigint;
  /** After so many bytes no further message is read. */
  readonly maxBytes: number;
  readonly options: ResolvedOptions;
}

/** A record has the offset after its batch's first in 32 bits. */
const maxOffsetDelta = 2n ** 31n - 1n;

const noBytes = new Uint8Array(0);

/**
 * Reads the message at `start`, which is whole. A compressed message becomes a batch. A message that is not compressed becomes a batch with those
 * after it: otherwise each of them would keep objects of its own for as long as its set is in use. One that cannot be read ends the batch before
 * it.
 */
export function readMessages(source: MessageBytes, start: number, wanted: WantedMessages): RewrittenBatch {
  const first = readMessage(source, start, wanted.options.checkCrcs);
  return first.compression === "none" ? rewriteRun(source, start, first, wanted) : rewriteInner(first, first.end - start, wanted);
}

function rewriteRun(source: MessageBytes, start: number, first: Message, { maxBytes, options }: WantedMessages): RewrittenBatch {
  const end = endOfRun(source.view, first, start + maxBytes);
  const writer = new RecordWriter(end - start); // no record takes more bytes than its message
  let last = first;
  for (let message: Message | null = first; message !== null; ) {
    writer.write(Number(message.offset - first.offset), message.timestamp, message);
    last = message;
    message = message.end < end ? readMessageOrNull(source, message.end, options.checkCrcs) : null;
  }
  return { header: headerOf(first.offset, last.offset, writer.count), records: writer.records(), byteLength: last.end - start };
}

/** Where the messages without compression end that follow each other, and that a batch can hold. The last of them reaches to `limit` or further. */
function endOfRun(view: DataView, first: Message, limit: number): number {
  let end = first.end;
  let lastOffset = first.offset;
  while (end < limit) {
    const next = endOfMessage(view, end);
    if (next === null || isCompressedMessage(view, end)) {
      break;
    }
    const offset = offsetOfMessage(view, end);
    if (offset <= lastOffset || offset >= maxOffset || offset - first.offset > maxOffsetDelta) {
      break;
    }
    lastOffset = offset;
    end = next;
  }
  return end;
}

/** Null if the message cannot be read: then it begins the batch after this one, whose reading fails. */
function readMessageOrNull(source: MessageBytes, start: number, checkCrcs: boolean): Message | null {
  try {
    return readMessage(source, start, checkCrcs);
  } catch (error) {
    if (isRecordBatchError(error)) {
      return null;
    }
    throw error;
  }
}

/** Rewrites the messages inside of a compressed one, which itself takes `byteLength` bytes. */
function rewriteInner(outer: Message, byteLength: number, { fromOffset, options }: WantedMessages): RewrittenBatch {
  if (outer.offset < fromOffset) {
    return { header: headerOf(outer.offset, outer.offset, 0), records: noBytes, byteLength };
  }
  const inside = decompressed(outer, options);
  const writer = new RecordWriter(inside.bytes.length); // no record takes more bytes than its message
  let first: Message | null = null;
  let last: Message | null = null;
  for (const message of messagesOf(inside, options.checkCrcs)) {
    first ??= message;
    writer.write(offsetDelta(first, message), timestampOf(message, outer), message);
    last = message;
  }
  if (first === null || last === null) {
    throw malformed("the messages inside of a compressed one", "at least 1", 0);
  }
  // The offsets inside are those of the log in format 0, and others with the same distances in format 1. The outer one is the last in both.
  const baseOffset = outer.format === 0 ? first.offset : outer.offset - (last.offset - first.offset);
  return { header: headerOf(baseOffset, outer.offset, writer.count), records: writer.records(), byteLength };
}

function decompressed(outer: Message, options: ResolvedOptions): MessageBytes {
  const { compression, valueStart, valueLength } = outer;
  if (compression === "none" || valueLength === -1) {
    throw malformed("the value of a compressed message", "messages", "null");
  }
  const bytes = decompress(compression, outer.bytes.subarray(valueStart, valueStart + valueLength), options);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
}

function* messagesOf(inside: MessageBytes, checkCrcs: boolean): Generator<Message> {
  for (let at = 0; at < inside.bytes.length; ) {
    const message = readMessage(inside, at, checkCrcs);
    if (message.compression !== "none") {
      throw malformed("the compression of a message inside of a compressed one", "none", message.compression);
    }
    yield message;
    at = message.end;
  }
}

/** How far the message is above the first one. `checkRecords` checks that the offsets rise. */
function offsetDelta(first: Message, message: Message): number {
  const delta = message.offset - first.offset;
  if (delta < 0n || delta > maxOffsetDelta) {
    throw malformed("the offset of a message inside of a compressed one, after the first", `0 to ${maxOffsetDelta}`, delta);
  }
  return Number(delta);
}

/** Where the broker sets the time, it sets that of the outer message alone. */
function timestampOf(message: Message, outer: Message): bigint {
  return outer.isLogAppendTime && message.format === 1 ? outer.timestamp : message.timestamp;
}

/** The records have their times as they are, as what they are above zero: the distance of two times may be more than a time can be. */
function headerOf(baseOffset: bigint, lastOffset: bigint, recordCount: number): BatchHeader {
  return {
    baseOffset,
    lastOffset,
    lastOffsetDelta: Number(lastOffset - baseOffset),
    leaderEpoch: -1,
    compression: "none",
    isLogAppendTime: false,
    isTransactional: false,
    isControl: false,
    baseTimestamp: 0n,
    maxTimestamp: 0n,
    producerId: -1n,
    recordCount,
  };
}
