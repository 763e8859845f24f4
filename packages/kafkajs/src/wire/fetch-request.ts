import { isKafkaJsDriverError } from "../errors.ts";
import { WireReader } from "./wire-reader.ts";

const fetchKey = 1;
/** The versions whose requests and responses are understood: those before Kafka's flexible encoding. */
const maxVersion = 11;
/** Where the correlation id stands: after the length, the key and the version. */
const correlationIdAt = 8;

/** What has to be known of a Fetch request to understand its response. */
export interface FetchRequest {
  /** The whole request. */
  readonly bytes: Buffer;
  readonly correlationId: number;
  readonly version: number;
  /** What is asked for, by topic and partition. */
  readonly offsets: ReadonlyMap<string, ReadonlyMap<number, AskedOffset>>;
}

/** The offset that is asked for, and where it stands in the request. */
export interface AskedOffset {
  readonly offset: bigint;
  readonly at: number;
}

/** Offsets by topic and partition. */
export type NextOffsets = readonly { readonly topic: string; readonly partition: number; readonly nextOffset: bigint }[];

/**
 * The Fetch request that these bytes are, or null. They are what a client writes at once: one request. While it authenticates it also writes
 * bytes of the mechanism, so what is not a Fetch request to its last byte is none.
 *
 * https://kafka.apache.org/protocol#The_Messages_Fetch
 */
export function fetchRequestIn(bytes: Buffer): FetchRequest | null {
  const isLikely =
    bytes.length > 14 &&
    bytes.readInt32BE(0) === bytes.length - 4 &&
    bytes.readInt16BE(4) === fetchKey &&
    bytes.readUInt16BE(6) <= maxVersion;
  try {
    return isLikely ? readRequest(bytes) : null;
  } catch (error) {
    if (isKafkaJsDriverError(error)) {
      return null;
    }
    throw error;
  }
}

/** A response with nothing in it, as a whole frame. */
export function emptyResponseTo({ correlationId, version }: FetchRequest): Buffer {
  const throttleBytes = version >= 1 ? 4 : 0;
  const sessionBytes = version >= 7 ? 2 + 4 : 0; // error code, session id
  const frame = Buffer.alloc(4 + 4 + throttleBytes + sessionBytes + 4); // no topics
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(correlationId, 4);
  return frame;
}

/** The same request for what comes next in some of its partitions. */
export function requestAfter({ bytes, offsets }: FetchRequest, next: NextOffsets, correlationId: number): Buffer {
  const request = Buffer.from(bytes);
  request.writeInt32BE(correlationId, correlationIdAt);
  for (const { topic, partition, nextOffset } of next) {
    const asked = offsets.get(topic)?.get(partition);
    if (asked !== undefined) {
      request.writeBigInt64BE(nextOffset, asked.at);
    }
  }
  return request;
}

/** Whether both requests ask for the same, whatever their correlation ids are. */
export function asksForTheSame(one: Buffer, other: Buffer): boolean {
  const rest = correlationIdAt + 4;
  return (
    one.length === other.length &&
    one.compare(other, 0, correlationIdAt, 0, correlationIdAt) === 0 &&
    one.compare(other, rest, other.length, rest, one.length) === 0
  );
}

function readRequest(bytes: Buffer): FetchRequest {
  const reader = new WireReader(bytes, 6);
  const version = reader.int16();
  const correlationId = reader.int32();
  reader.string(); // client id
  reader.skip(4 + 4 + 4); // replica id, max wait, min bytes
  reader.skip((version >= 3 ? 4 : 0) + (version >= 4 ? 1 : 0)); // max bytes, isolation level
  reader.skip(version >= 7 ? 4 + 4 : 0); // session id, session epoch
  const offsets = new Map<string, Map<number, AskedOffset>>();
  for (let topics = reader.count(2 + 4); topics > 0; topics--) {
    const topic = reader.string() ?? "";
    const ofTopic = offsets.get(topic) ?? new Map<number, AskedOffset>();
    offsets.set(topic, ofTopic);
    for (let partitions = reader.count(4 + 8 + 4); partitions > 0; partitions--) {
      const partition = reader.int32();
      reader.skip(version >= 9 ? 4 : 0); // leader epoch
      const { at } = reader;
      ofTopic.set(partition, { offset: reader.int64(), at });
      reader.skip((version >= 5 ? 8 : 0) + 4); // log start offset, max bytes
    }
  }
  for (let forgotten = version >= 7 ? reader.count(2 + 4) : 0; forgotten > 0; forgotten--) {
    reader.string();
    reader.skip(4 * reader.count(4));
  }
  if (version >= 11) {
    reader.string(); // rack id
  }
  reader.end();
  return { bytes, correlationId, version, offsets };
}
