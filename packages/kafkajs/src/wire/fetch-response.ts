import { type AbortedTransaction, createRecordSetReader } from "@cdckit/record-batch";
import type { AskedRecords } from "./fetch-request.ts";
import { WireReader } from "./wire-reader.ts";

/** What a response holds of one partition, in its own bytes. */
export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The offset that was asked for. */
  readonly fromOffset: bigint;
  /** The offset after its last whole record batch: the next fetch begins here. */
  readonly nextOffset: bigint;
  /** The offset after the last readable record, as `LogRange` has it: the last stable offset if the broker knows it. */
  readonly highWatermark: bigint;
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Record batches, or messages of the formats before Kafka 0.11. The last one may be incomplete. */
  readonly bytes: Buffer;
}

const topicRefused = 29;

/** A response as it is handed on. */
export interface HandedOn {
  readonly response: Buffer;
  /** Whether all records in it were replaced, no partition has an error, the broker asks for no pause, and there is more to fetch. */
  readonly hasMore: boolean;
  /** How long the broker wants to be asked nothing, because the quota of the client is used up; 0 if it is not. */
  readonly throttleMs: number;
}

/**
 * The response as it is handed on: the records of each partition that `keep` takes are replaced by what it returns. All others stay: empty ones,
 * and those of a partition with an error. If nothing is replaced, the response is the one that came. `bodyAt`: what stands before it, such as the
 * header, stays as it is. `refused` is told the topics that the user may not read, because kafkajs' error does not name them.
 *
 * https://kafka.apache.org/protocol#The_Messages_Fetch
 */
export function replaceRecords(
  response: Buffer,
  bodyAt: number,
  { version, offsets }: AskedRecords,
  keep: (fetched: FetchedPartition) => Buffer,
  refused: (topic: string) => void = () => {},
): HandedOn {
  const reader = new WireReader(response, bodyAt);
  const parts: Buffer[] = [];
  let taken = 0;
  const throttleMs = version >= 1 ? reader.int32() : 0;
  let isClean = (version >= 7 ? reader.int16() : 0) === 0 && throttleMs === 0; // error code
  reader.skip(version >= 7 ? 4 : 0); // session id
  let hasMore = false;
  for (let topics = reader.count(2 + 4); topics > 0; topics--) {
    const topic = reader.string() ?? "";
    for (let partitions = reader.count(4 + 2 + 8 + 4); partitions > 0; partitions--) {
      const partition = reader.int32();
      const errorCode = reader.int16();
      const logEnd = reader.int64();
      const lastStableOffset = version >= 4 ? reader.int64() : -1n; // -1 is not known
      const highWatermark = lastStableOffset < 0n ? logEnd : lastStableOffset;
      reader.skip(version >= 5 ? 8 : 0); // log start offset
      const abortedTransactions = version >= 4 ? readAborted(reader) : [];
      reader.skip(version >= 11 ? 4 : 0); // preferred read replica
      const lengthAt = reader.at;
      const length = Math.max(0, reader.int32()); // -1 is null
      const start = reader.skip(length);
      const bytes = response.subarray(start, reader.at);
      const asked = offsets.get(topic)?.get(partition);
      if (asked !== undefined && errorCode === 0 && length > 0) {
        const records = { topic, partition, fromOffset: asked.offset, highWatermark, abortedTransactions, bytes };
        const nextOffset = endOf(records);
        const replacement = keep({ ...records, nextOffset });
        parts.push(response.subarray(taken, lengthAt), int32(replacement.length), replacement);
        taken = reader.at;
        hasMore ||= nextOffset > asked.offset && nextOffset < highWatermark;
      } else {
        isClean &&= errorCode === 0 && length === 0;
      }
      noteRefusal(errorCode, topic, refused);
    }
  }
  reader.end();
  const handedOn = taken === 0 ? response : Buffer.concat([...parts, response.subarray(taken)]);
  return { response: handedOn, hasMore: hasMore && isClean, throttleMs };
}

function noteRefusal(errorCode: number, topic: string, refused: (topic: string) => void): void {
  if (errorCode === topicRefused) {
    refused(topic);
  }
}

/** The offset at which the next fetch begins, if all of the records can be read. */
function endOf(records: Omit<FetchedPartition, "nextOffset">): bigint {
  return createRecordSetReader({ ...records, assignment: null }).end()?.nextOffset ?? records.fromOffset;
}

function readAborted(reader: WireReader): readonly AbortedTransaction[] {
  const aborted: AbortedTransaction[] = [];
  for (let count = reader.count(8 + 8); count > 0; count--) {
    aborted.push({ producerId: reader.int64(), firstOffset: reader.int64() });
  }
  return aborted;
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}
