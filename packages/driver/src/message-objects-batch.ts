import type { FetchedBatch, PartitionAssignment } from "@cdckit/consumer";
import { type RecordBytes, type RecordHeaders, RecordObjectsWalk, type RecordWalk } from "@cdckit/decode";

/** A client's object for a record. */
export interface MessageObject extends RecordBytes {
  /** The offset, as the client writes it: most write text, because it may be above 2^53. */
  readonly offset: string | number;
  /** Milliseconds since the epoch, as the client writes them. Absent in Kafka's oldest message format, 0. */
  readonly timestamp?: string | number;
}

/** Messages of one partition, as a client hands them over. */
export interface MessageObjects<Message extends MessageObject> {
  /** The partition that they were fetched for. */
  readonly assignment: PartitionAssignment;
  /** The messages in the order of their offsets. */
  readonly messages: readonly Message[];
  /** The offset after the last message, or after what follows it and is no record. */
  readonly nextOffset: bigint;
  /** The offset after the partition's last readable record; null if the client does not say it. */
  readonly highWatermark: bigint | null;
  /** What the client keeps for a message besides its key and value. For small messages that is most of the memory. */
  readonly bytesPerMessage: number;
}

/** A client's message objects as the port's batch. They are read in place, and no objects of our own are made. */
export abstract class MessageObjectsBatch<Message extends MessageObject> implements FetchedBatch {
  readonly assignment: PartitionAssignment;
  readonly topic: string;
  readonly partition: number;
  readonly recordCount: number;
  readonly byteLength: number;
  readonly nextOffset: bigint;
  readonly highWatermark: bigint | null;
  readonly #messages: readonly Message[];

  constructor({ assignment, messages, nextOffset, highWatermark, bytesPerMessage }: MessageObjects<Message>) {
    this.assignment = assignment;
    this.topic = assignment.topic;
    this.partition = assignment.partition;
    this.recordCount = messages.length;
    this.byteLength = bytesOf(messages, bytesPerMessage);
    this.nextOffset = nextOffset;
    this.highWatermark = highWatermark;
    this.#messages = messages;
  }

  walk(): RecordWalk {
    return new RecordObjectsWalk(this, this.#messages);
  }

  offsetAt(record: number): bigint {
    return BigInt(this.at(record).offset);
  }

  timestampAt(record: number): bigint {
    return BigInt(this.at(record).timestamp ?? -1); // as in Kafka
  }

  keyAt(record: number): Uint8Array | null {
    return this.at(record).key;
  }

  valueAt(record: number): Uint8Array | null {
    return this.at(record).value;
  }

  abstract headersAt(record: number): RecordHeaders;

  /** Whether the names are exactly these, in this order. */
  abstract headerNamesAre(record: number, names: readonly string[]): boolean;

  protected at(record: number): Message {
    const message = this.#messages[record];
    if (message === undefined) {
      throw new RangeError(`expected a record of the batch, 0 to ${this.#messages.length - 1}, found ${record}`);
    }
    return message;
  }
}

function bytesOf(messages: readonly MessageObject[], bytesPerMessage: number): number {
  let bytes = messages.length * bytesPerMessage;
  for (const { key, value } of messages) {
    bytes += (key === null ? 0 : key.length) + (value === null ? 0 : value.length);
  }
  return bytes;
}
