import { AbortedProducers } from "./aborted-producers.ts";
import {
  type BatchesEnd,
  type BatchHeader,
  baseOffsetAt,
  checkedFrom,
  checkHeader,
  compressionAt,
  crcAt,
  endOfBatches,
  headerBytes,
  leaderEpochOf,
  readHeader,
  sizeOfBatch,
} from "./batch-header.ts";
import { checkRecords } from "./check-records.ts";
import { decompress } from "./codecs/decompress.ts";
import { prepareZstd } from "./codecs/zstd.ts";
import { isAbortMarker } from "./control-batch.ts";
import { crc32c } from "./crc32c.ts";
import { crcMismatch, isRecordBatchError, RecordBatchError } from "./errors.ts";
import type { FetchedRecords } from "./fetched-records.ts";
import { isMessage, isMessageIntact } from "./message.ts";
import { readMessages } from "./message-set.ts";
import { OpenedSet } from "./opened-set.ts";
import { type RecordBatchOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import type { RecordSet } from "./record-set.ts";
import type { Segment } from "./segment.ts";

/** Reads the record sets of one Fetch response, one after another. */
export interface RecordSetReader<Assignment = unknown> {
  /**
   * The end of the last whole batch of the response: where the next fetch begins, if all of its sets can be read. It is read out of the batches'
   * headers. If they name an offset above the high watermark, the checksums are asked, too, and a damaged batch does not count. Null if no batch
   * is whole, the first header cannot be, or nothing ends above the offset that was asked for.
   */
  end(): BatchesEnd | null;
  /**
   * Loads what the next batch's compression needs and is not loaded yet: zstd in WebAssembly, before Node 22.15. Null if there is nothing to
   * wait for. The promise never rejects. `read` gives the same records without it, several times slower.
   */
  prepare(): Promise<void> | null;
  /**
   * The next set, or null after the last one. It throws a `RecordBatchError` at a batch that cannot be read. What comes before that batch
   * was returned as a set, and the error's `offset` is the first offset of the batch. Every later call throws the same error.
   */
  read(): RecordSet<Assignment> | null;
}

/**
 * Opens what one Fetch response holds of one partition. Nothing is read before `read` is called. An incomplete last batch is left out: the
 * next fetch begins with it. If there is no other, `read` throws an error with the code `incomplete-batch`.
 */
export function createRecordSetReader<Assignment>(
  fetched: FetchedRecords<Assignment>,
  options: RecordBatchOptions = {},
): RecordSetReader<Assignment> {
  return new BatchesReader(fetched, resolveOptions(options));
}

/** What is collected for one set. */
interface Collected {
  readonly segments: Segment[];
  batchCount: number;
  recordCount: number;
  byteLength: number;
  wireBytes: number;
}

class BatchesReader<Assignment> implements RecordSetReader<Assignment> {
  readonly #fetched: FetchedRecords<Assignment>;
  readonly #options: ResolvedOptions;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #aborted: AbortedProducers;
  /** Where the next batch begins. */
  #at = 0;
  #nextOffset: bigint;
  /** The offset after the last batch. Null before the first one, which may begin below the offset that was asked for. */
  #batchesEnd: bigint | null = null;
  #leaderEpoch: number | null = null;
  #failure: Error | null = null;

  constructor(fetched: FetchedRecords<Assignment>, options: ResolvedOptions) {
    this.#fetched = fetched;
    this.#options = options;
    this.#bytes = fetched.bytes;
    this.#view = new DataView(fetched.bytes.buffer, fetched.bytes.byteOffset, fetched.bytes.length);
    this.#aborted = new AbortedProducers(fetched.abortedTransactions);
    this.#nextOffset = fetched.fromOffset;
  }

  end(): BatchesEnd | null {
    const { fromOffset, highWatermark } = this.#fetched;
    const end = endOfBatches(this.#view, fromOffset);
    // A damaged header may name any offset, and whoever asks the broker for one that the log does not have may lose its position. The checksum
    // covers the number of offsets, and not the first one. Batches above the high watermark need not be damaged: brokers look at it before they
    // read the log.
    const isCredible = highWatermark === null || end === null || end.nextOffset <= highWatermark || !this.#options.checkCrcs;
    return isCredible ? end : endOfBatches(this.#view, fromOffset, (start, to) => this.#isIntact(start, to));
  }

  prepare(): Promise<void> | null {
    const isOurs = this.#options.codecs.zstd === undefined;
    return isOurs && compressionAt(this.#view, this.#at) === "zstd" ? prepareZstd() : null;
  }

  read(): RecordSet<Assignment> | null {
    if (this.#failure !== null) {
      throw this.#failure;
    }
    const collected: Collected = { segments: [], batchCount: 0, recordCount: 0, byteLength: 0, wireBytes: 0 };
    try {
      while (collected.byteLength < this.#options.setBytes && this.#readBatch(collected)) {
        collected.batchCount++;
      }
    } catch (error) {
      this.#failure = isRecordBatchError(error) ? error.at(this.#place()) : (error as Error); // nothing here throws anything else
      if (collected.batchCount === 0) {
        throw this.#failure;
      }
    }
    const { batchCount, ...contents } = collected;
    return batchCount === 0
      ? null
      : new OpenedSet(this.#fetched, { ...contents, nextOffset: this.#nextOffset, lastLeaderEpoch: this.#leaderEpoch });
  }

  /** Where the batch stands that is read now. */
  #place(): { topic: string; partition: number; offset: bigint } {
    const { topic, partition } = this.#fetched;
    return { topic, partition, offset: baseOffsetAt(this.#view, this.#at) ?? this.#nextOffset };
  }

  /** Reads one batch. False if no whole batch is left. */
  #readBatch(collected: Collected): boolean {
    const byteLength = this.#wholeBatchBytes();
    if (byteLength === null) {
      return false;
    }
    if (isMessage(this.#view, this.#at)) {
      const maxBytes = this.#options.setBytes - collected.byteLength;
      const wanted = { fromOffset: this.#fetched.fromOffset, maxBytes, options: this.#options };
      const rewritten = readMessages({ bytes: this.#bytes, view: this.#view }, this.#at, wanted);
      this.#take(rewritten.header, rewritten.records, rewritten.byteLength, collected);
      return true;
    }
    const start = this.#at;
    if (this.#options.checkCrcs) {
      this.#checkCrc(start, start + byteLength); // before anything that it covers is read
    }
    this.#take(readHeader(this.#view, start), this.#bytes.subarray(start + headerBytes, start + byteLength), byteLength, collected);
    return true;
  }

  /** Takes what a batch has, and moves on after it. */
  #take(header: BatchHeader, payload: Uint8Array, byteLength: number, collected: Collected): void {
    checkHeader(header, this.#batchesEnd ?? 0n);
    this.#aborted.reach(header.lastOffset);
    collected.byteLength += this.#collect(header, payload, collected);
    collected.wireBytes += byteLength;
    this.#at += byteLength;
    this.#batchesEnd = header.lastOffset + 1n;
    if (this.#batchesEnd > this.#nextOffset) {
      this.#nextOffset = this.#batchesEnd;
    }
    this.#leaderEpoch = leaderEpochOf(header.leaderEpoch);
  }

  /** The size of the next batch, or null if it is not whole. It is an error if no batch of the response is. */
  #wholeBatchBytes(): number | null {
    const left = this.#bytes.length - this.#at;
    const byteLength = left === 0 ? null : sizeOfBatch(this.#view, this.#at);
    if (byteLength !== null && byteLength <= left) {
      return byteLength;
    }
    if (left > 0 && this.#batchesEnd === null) {
      throw incomplete(byteLength, left);
    }
    return null;
  }

  #crcOf(start: number, end: number): number {
    return crc32c(this.#bytes, start + checkedFrom, end);
  }

  #checkCrc(start: number, end: number): void {
    const expected = crcAt(this.#view, start);
    const found = this.#crcOf(start, end);
    if (found !== expected) {
      throw crcMismatch(expected, found);
    }
  }

  #isIntact(start: number, end: number): boolean {
    return isMessage(this.#view, start)
      ? isMessageIntact({ bytes: this.#bytes, view: this.#view }, start, end)
      : this.#crcOf(start, end) === crcAt(this.#view, start);
  }

  /** Collects the records of the batch that a consumer sees. Returns how many bytes they take. */
  #collect(header: BatchHeader, payload: Uint8Array, collected: Collected): number {
    const { producerId, isControl } = header;
    const isAborted = producerId >= 0n && this.#aborted.has(producerId);
    if (isControl) {
      if (isAborted && this.#isAbortMarker(header, payload)) {
        this.#aborted.end(producerId);
      }
      return payload.length;
    }
    if ((isAborted && header.isTransactional) || header.lastOffset < this.#fetched.fromOffset) {
      return payload.length;
    }
    const bytes = this.#records(header, payload);
    const { start, count } = checkRecords(bytes, header, this.#fetched.fromOffset);
    if (count > 0) {
      collected.recordCount += count;
      collected.segments.push({
        bytes,
        start,
        firstHandle: endOf(collected.segments),
        baseOffset: header.baseOffset,
        leaderEpoch: leaderEpochOf(header.leaderEpoch),
        baseTimestamp: header.baseTimestamp,
        logAppendTime: header.isLogAppendTime ? header.maxTimestamp : null,
      });
    }
    return bytes.length;
  }

  #isAbortMarker(header: BatchHeader, payload: Uint8Array): boolean {
    const records = this.#records(header, payload);
    checkRecords(records, header, header.baseOffset);
    return isAbortMarker(records);
  }

  /** The bytes of the records, decompressed. A compressed batch without records has no compressed bytes either. */
  #records({ compression, recordCount }: BatchHeader, payload: Uint8Array): Uint8Array {
    return compression === "none" || recordCount === 0 ? payload : decompress(compression, payload, this.#options);
  }
}

function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last === undefined ? 0 : last.firstHandle + last.bytes.length;
}

function incomplete(neededBytes: number | null, found: number): RecordBatchError {
  const expected = neededBytes === null ? "a whole batch" : `${neededBytes} bytes`;
  return new RecordBatchError(
    "incomplete-batch",
    `expected ${expected}, found ${found} bytes and no batch before it. Fetch more bytes of a partition: at least what the topic's max.message.bytes allows`,
    { expected, found, ...(neededBytes === null ? {} : { neededBytes }) },
  );
}
