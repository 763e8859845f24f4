import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { type RecordHeaders, RecordObjectsWalk, type RecordWalk } from "@cdckit/decode";
import type { Batch, KafkaMessage } from "kafkajs";
import { headerNamesOf, toRecordHeaders } from "./headers.ts";

/** The part of kafkajs' batch that is used here. */
export type FetchedMessages = Pick<Batch, "topic" | "partition" | "highWatermark" | "messages" | "lastOffset">;

/** kafkajs' batch as the port's. It reads kafkajs' message objects in place, and makes no objects of its own. */
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
    // kafkajs' last offset includes control records and aborted messages, which it does not return.
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
      throw new RangeError(`expected a record of the batch, 0 to ${this.#messages.length - 1}, found ${record}`);
    }
    return message;
  }
}

/**
 * What kafkajs keeps for a message besides its key and value: the object, two views, and numbers as text. For small messages that is most of
 * the memory.
 */
const bytesPerMessage = 400;

function bytesOf(messages: readonly KafkaMessage[]): number {
  let bytes = messages.length * bytesPerMessage;
  for (const { key, value } of messages) {
    bytes += (key === null ? 0 : key.length) + (value === null ? 0 : value.length);
  }
  return bytes;
}
