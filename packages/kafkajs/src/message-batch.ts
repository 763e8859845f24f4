import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { type RecordHeaders, RecordObjectsWalk, type RecordWalk } from "@cdckit/decode";
import type { Batch, KafkaMessage } from "kafkajs";
import { headerNamesOf, toRecordHeaders } from "./headers.ts";

/** As much of kafkajs' batch as is looked at. */
export type FetchedMessages = Pick<Batch, "topic" | "partition" | "highWatermark" | "messages" | "lastOffset">;

/** kafkajs' batch seen through the port. kafkajs makes an object a message; nothing is added to that. */
export class MessageBatch implements FetchedBatch {
  readonly assignment: PartitionAssignment;
  readonly topic: string;
  readonly partition: number;
  readonly recordCount: number;
  readonly byteLength: number;
  readonly nextOffset: bigint;
  readonly highWatermark: bigint;
  readonly #messages: readonly KafkaMessage[];

  constructor(batch: FetchedMessages, assignment: PartitionAssignment) {
    this.assignment = assignment;
    this.topic = batch.topic;
    this.partition = batch.partition;
    this.recordCount = batch.messages.length;
    this.byteLength = bytesOf(batch.messages);
    // kafkajs' last offset counts control records and aborted messages, which it does not hand out.
    this.nextOffset = BigInt(batch.lastOffset()) + 1n;
    this.highWatermark = BigInt(batch.highWatermark);
    this.#messages = batch.messages;
  }

  walk(): RecordWalk {
    return new RecordObjectsWalk(this, this.#messages);
  }

  offsetAt(record: number): bigint {
    return BigInt(this.#at(record).offset);
  }

  timestampAt(record: number): bigint {
    return BigInt(this.#at(record).timestamp);
  }

  headersAt(record: number): RecordHeaders {
    return toRecordHeaders(this.#at(record).headers);
  }

  keyAt(record: number): Uint8Array | null {
    return this.#at(record).key;
  }

  valueAt(record: number): Uint8Array | null {
    return this.#at(record).value;
  }

  headerNamesAre(record: number, names: readonly string[]): boolean {
    return headerNamesOf(this.#at(record).headers, names);
  }

  #at(record: number): KafkaMessage {
    const message = this.#messages[record];
    if (message === undefined) {
      throw new RangeError(`the batch has ${this.#messages.length} messages, there is none at ${record}`);
    }
    return message;
  }
}

/**
 * What kafkajs makes of a message besides its key and value: the object, two views, and numbers as text. Of small messages that is most of
 * what is in memory.
 */
const bytesPerMessage = 400;

function bytesOf(messages: readonly KafkaMessage[]): number {
  let bytes = messages.length * bytesPerMessage;
  for (const { key, value } of messages) {
    bytes += (key === null ? 0 : key.length) + (value === null ? 0 : value.length);
  }
  return bytes;
}
