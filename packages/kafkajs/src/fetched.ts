import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { createRecordSetReader, type RecordSetReader } from "@cdckit/record-batch";
import type { KafkaJsCodecs } from "./options.ts";
import { noteBatch, noteRecordSet } from "./landmarks.ts";
import { type FetchedMessages, MessageBatch } from "./message-batch.ts";
import type { KeptFetch } from "./wire/kept-fetches.ts";

/** What one fetch holds of one partition: the consumer gets it as one batch or as several, one after another. */
export interface Fetched {
  /** The offset after it: the next fetch begins here. */
  readonly nextOffset: bigint;
  /** How much memory it takes while it waits. */
  readonly byteLength: number;
  /** It will wait, or its handler is slow: it lets go of what it shares with other partitions. */
  keep(): void;
  /** Loads what reading it needs. Null if there is nothing to wait for. */
  prepare(): Promise<void> | null;
  /** The next batch, or null after the last one. Throws a `RecordBatchError` where the next record batch cannot be read. */
  next(): FetchedBatch | null;
}

/** Messages that kafkajs has made. */
export class FetchedAsMessages implements Fetched {
  readonly nextOffset: bigint;
  readonly byteLength: number;
  #batch: MessageBatch | null;

  constructor(messages: FetchedMessages, assignment: PartitionAssignment) {
    this.#batch = new MessageBatch(messages, assignment);
    this.nextOffset = this.#batch.nextOffset;
    this.byteLength = this.#batch.byteLength;
    noteBatch(assignment, messages.messages);
  }

  keep(): void {} // kafkajs' messages share the bytes of their response

  prepare(): null {
    return null;
  }

  next(): FetchedBatch | null {
    const batch = this.#batch;
    this.#batch = null;
    return batch;
  }
}

/**
 * A few records get bytes of their own at once: their handler may take long, and would hold the whole response for as long. Copying a larger part
 * costs too much to do it before it is known that it waits.
 */
const maxSmallBytes = 65_536;
const smallShare = 1 / 8;
/** What waits is copied if it is a smaller part of its response. A larger part is not: that would cost more memory than it saves. */
const smallShareOfWaiting = 1 / 2;

/** Record batches as the broker has sent them. They are checked and decompressed when their turn comes. */
export class FetchedAsBytes implements Fetched {
  readonly nextOffset: bigint;
  readonly byteLength: number;
  #fetched: KeptFetch;
  readonly #assignment: PartitionAssignment;
  readonly #codecs: KafkaJsCodecs;
  #reader: RecordSetReader<PartitionAssignment>;
  #isBegun = false;
  #unpackedBytes = 0;

  constructor(fetched: KeptFetch, assignment: PartitionAssignment, codecs: KafkaJsCodecs) {
    this.#fetched = fetched.bytes.length > maxSmallBytes ? fetched : withOwnBytes(fetched, smallShare);
    this.#assignment = assignment;
    this.#codecs = codecs;
    this.#reader = this.#open();
    this.nextOffset = fetched.nextOffset;
    this.byteLength = fetched.bytes.length;
  }

  keep(): void {
    const fetched = this.#isBegun ? this.#fetched : withOwnBytes(this.#fetched, smallShareOfWaiting);
    if (fetched !== this.#fetched) {
      this.#fetched = fetched;
      this.#reader = this.#open();
    }
  }

  #open(): RecordSetReader<PartitionAssignment> {
    return createRecordSetReader({ ...this.#fetched, assignment: this.#assignment }, { codecs: this.#codecs });
  }

  prepare(): Promise<void> | null {
    return this.#reader.prepare();
  }

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
}

/** The same, with bytes of its own if they are a smaller part of their response than this. */
function withOwnBytes(fetched: KeptFetch, share: number): KeptFetch {
  const { bytes } = fetched;
  return bytes.length < bytes.buffer.byteLength * share ? { ...fetched, bytes: Buffer.from(bytes) } : fetched;
}
