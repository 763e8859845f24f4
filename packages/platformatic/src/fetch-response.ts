import type { AbortedTransaction } from "@cdckit/record-batch";
import { PlatformaticDriverError } from "./errors.ts";
import type { ResponseReader } from "./low-level-client.ts";
import { fetchesByIdFrom } from "./requests.ts";
import { topicIdText } from "./topic-id-text.ts";

/** What a Fetch response holds of one partition. */
export interface FetchedPartition {
  /** The topic's id, as assignments have it; its name in fetches by name. */
  readonly topic: string;
  /** It was fetched by the topic's name. The broker does not tell then whether the topic is another one of that name. */
  readonly isByName: boolean;
  readonly partition: number;
  readonly errorCode: number;
  /** The offset after the last record of which it is certain that no transaction aborts it. */
  readonly lastStableOffset: bigint;
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** If the log was truncated below what was read: the last offset that both logs have in common. */
  readonly divergesAt: bigint | null;
  /** The replica that the leader names because it stands in the rack of the request; -1 if there is none. It sends no records then. */
  readonly preferredReplica: number;
  /** Record batches as the broker sent them. The last one may be incomplete. */
  readonly bytes: Buffer;
}

export interface FetchResponse {
  readonly errorCode: number;
  /** The quota of the client is used up. The broker reads nothing more of the connection for so long, and expects that nothing is sent to it (KIP-219). */
  readonly throttleMs: number;
  readonly partitions: readonly FetchedPartition[];
}

const noBytes = Buffer.alloc(0);
const divergingEpochTag = 0;

/**
 * Reads a Fetch response of version 12 to 17. It keeps the bytes of the record batches: the client's own parsers make an object for each record,
 * check no checksum, and cannot tell which records are aborted if the marker is in a later response.
 *
 * FetchResponse => throttle_time_ms error_code session_id [topics] TAGS
 *   topics => topic_id_or_name [partitions] TAGS
 *   partitions => index error_code high_watermark last_stable_offset log_start_offset [aborted] preferred_replica records TAGS
 *   aborted => producer_id first_offset TAGS
 */
export function parseFetchResponse(_correlationId: number, _apiKey: number, version: number, reader: ResponseReader): FetchResponse {
  const throttleMs = reader.readInt32();
  const errorCode = reader.readInt16();
  reader.readInt32(); // session id: fetches have no session
  const partitions: FetchedPartition[] = [];
  for (let topics = compactLength(reader); topics > 0; topics--) {
    const isByName = version < fetchesByIdFrom;
    const topic = isByName ? reader.readString() : (topicIdText(reader.readUUID()) ?? "");
    for (let count = compactLength(reader); count > 0; count--) {
      partitions.push({ topic, isByName, ...parsePartition(reader) });
    }
    readTags(reader);
  }
  return { errorCode, throttleMs, partitions };
}

function parsePartition(reader: ResponseReader): Omit<FetchedPartition, "topic" | "isByName"> {
  const partition = reader.readInt32();
  const errorCode = reader.readInt16();
  reader.readInt64(); // high watermark
  const lastStableOffset = reader.readInt64();
  reader.readInt64(); // log start offset
  const abortedTransactions: AbortedTransaction[] = [];
  for (let count = compactLength(reader); count > 0; count--) {
    abortedTransactions.push({ producerId: reader.readInt64(), firstOffset: reader.readInt64() });
    readTags(reader);
  }
  const preferredReplica = reader.readInt32();
  const length = compactLength(reader);
  const bytes = length === 0 ? noBytes : reader.buffer.slice(reader.position, reader.position + length);
  reader.skip(length);
  const divergesAt = readTags(reader);
  return { partition, errorCode, lastStableOffset, abortedTransactions, preferredReplica, bytes, divergesAt };
}

/** The length of a compact array, whose elements take a byte at least, or of compact bytes; 0 for null. */
function compactLength(reader: ResponseReader): number {
  const oneMore = reader.readUnsignedVarInt();
  return oneMore === 0 ? 0 : lengthOf(oneMore - 1, reader);
}

/** The client checks no lengths, and one that it reads as a number below zero would lead back to what was read before. */
function lengthOf(found: number, reader: ResponseReader): number {
  const left = reader.buffer.length - reader.position;
  if (found > left || found < 0) {
    throw new PlatformaticDriverError("protocol-mismatch", `expected at most ${left} more in a Fetch response, found a length of ${found}`);
  }
  return found;
}

/** Skips tagged fields, but for the end offset of a diverging epoch. Version 1 of the client cannot skip them itself. */
function readTags(reader: ResponseReader): bigint | null {
  let divergesAt: bigint | null = null;
  for (let count = lengthOf(reader.readUnsignedVarInt(), reader); count > 0; count--) {
    const tag = reader.readUnsignedVarInt();
    const size = lengthOf(reader.readUnsignedVarInt(), reader);
    const end = reader.position + size;
    if (tag === divergingEpochTag && size >= 12) {
      reader.readInt32(); // the epoch
      divergesAt = reader.readInt64();
    }
    reader.skip(end - reader.position);
  }
  return divergesAt;
}
