import type { PartitionAssignment } from "@cdckit/consumer";
import type { RecordHeaders } from "@cdckit/decode";
import { MessageObjectsBatch } from "@cdckit/driver";
import { headerNamesOf, toRecordHeaders } from "./headers.ts";
import type { ClientMessage } from "./low-level-client.ts";

/** What the client keeps for a message besides its key and value: the object, two views, and the names of topics. */
const bytesPerMessage = 500;

/** The client's message objects as the port's batch. */
export class MessageBatch extends MessageObjectsBatch<ClientMessage> {
  /** `nextOffset`: the offset after the last message, or after what follows it and is no record. */
  constructor(assignment: PartitionAssignment, messages: readonly ClientMessage[], nextOffset: number, highWatermark: number | null) {
    super({
      assignment,
      messages,
      nextOffset: BigInt(nextOffset),
      highWatermark: highWatermark === null ? null : BigInt(highWatermark),
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
