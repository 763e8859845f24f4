import type { PartitionAssignment } from "@cdckit/consumer";
import type { RecordHeaders } from "@cdckit/decode";
import { MessageObjectsBatch } from "@cdckit/driver";
import type { Batch, KafkaMessage } from "kafkajs";
import { headerNamesOf, toRecordHeaders } from "./headers.ts";

/** The part of kafkajs' batch that is used here. */
export type FetchedMessages = Pick<Batch, "topic" | "partition" | "highWatermark" | "messages" | "lastOffset">;

/** What kafkajs keeps for a message besides its key and value: the object, two views, and numbers as text. */
const bytesPerMessage = 400;

/** kafkajs' batch as the port's. */
export class MessageBatch extends MessageObjectsBatch<KafkaMessage> {
  constructor(batch: FetchedMessages, assignment: PartitionAssignment) {
    super({
      assignment,
      messages: batch.messages,
      // kafkajs' last offset includes control records and aborted messages, which it does not return.
      nextOffset: BigInt(batch.lastOffset()) + 1n,
      highWatermark: BigInt(batch.highWatermark),
      bytesPerMessage,
    });
  }

  headersAt(record: number): RecordHeaders {
    return toRecordHeaders(this.at(record).headers);
  }

  headerNamesAre(record: number, names: readonly string[]): boolean {
    return headerNamesOf(this.at(record).headers, names);
  }
}
