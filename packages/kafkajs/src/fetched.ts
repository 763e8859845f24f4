import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { createRecordSetReader, type DecompressOptions, type RecordSetReader } from "@cdckit/record-batch";
import { noteRecordSet } from "./landmarks.ts";
import type { KeptFetch } from "./wire/kept-fetches.ts";

/**
 * A few records get bytes of their own at once: their handler may take long, and would hold the whole response for as long. Copying a larger part
 * costs too much to do it before it is known that it waits.
 */
const maxSmallBytes = 65_536;
const smallShare = 1 / 8;
/** What waits is copied if it is a smaller part of its response. A larger part is not: that would cost more memory than it saves. */
const smallShareOfWaiting = 1 / 2;

/**
 * What one fetch holds of one partition: record batches as the broker has sent them. They are checked and decompressed when their turn comes, and
 * the consumer gets them as one batch or as several, one after another.
 */
export class Fetched {
  /** The offset after it: the next fetch begins here. */
  readonly nextOffset: bigint;
  /** How much memory it takes while it waits. */
  readonly byteLength: number;
  #fetched: KeptFetch;
  readonly #assignment: PartitionAssignment;
  readonly #decompression: DecompressOptions;
  #reader: RecordSetReader<PartitionAssignment>;
  #isBegun = false;
  #unpackedBytes = 0;

  constructor(fetched: KeptFetch, assignment: PartitionAssignment, decompression: DecompressOptions) {
    this.#fetched = fetched.bytes.length > maxSmallBytes ? fetched : withOwnBytes(fetched, smallShare);
    this.#assignment = assignment;
    this.#decompression = decompression;
    this.#reader = this.#open();
    this.nextOffset = fetched.nextOffset;
    this.byteLength = fetched.bytes.length;
  }

  /** It will wait, or its handler is slow: it lets go of what it shares with other partitions. */
  keep(): void {
    const fetched = this.#isBegun ? this.#fetched : withOwnBytes(this.#fetched, smallShareOfWaiting);
    if (fetched !== this.#fetched) {
      this.#fetched = fetched;
      this.#reader = this.#open();
    }
  }

  /** Loads what reading it needs. Null if there is nothing to wait for. */
  prepare(): Promise<void> | null {
    return this.#reader.prepare();
  }

  /** The next batch, or null after the last one. Throws a `RecordBatchError` where the next record batch cannot be read. */
  next(): FetchedBatch | null {
    this.#isBegun = true;
    const set = this.#reader.read();
    if (set === null) {
      this.#fetched.unpackedTo(this.#unpackedBytes);
    } else {
      this.#unpackedBytes += set.byteLength;
      noteRecordSet(set);
    }
    return set;
  }

  #open(): RecordSetReader<PartitionAssignment> {
    return createRecordSetReader({ ...this.#fetched, assignment: this.#assignment }, this.#decompression);
  }
}

/** The same, with bytes of its own if they are a smaller part of their response than this. */
function withOwnBytes(fetched: KeptFetch, share: number): KeptFetch {
  const { bytes } = fetched;
  if (bytes.length >= bytes.buffer.byteLength * share) {
    return fetched;
  }
  const own = Buffer.allocUnsafeSlow(bytes.length); // not of Node's pool, whose slabs are 64 KiB in Node 24
  own.set(bytes);
  return { ...fetched, bytes: own };
}
