import { isKafkaJsDriverError } from "../errors.ts";
import { WireReader } from "./wire-reader.ts";

export const fetchKey = 1;
/** The versions whose requests and responses are understood: those before Kafka's flexible encoding. */
const maxVersion = 11;
/** Where the correlation id stands: after the length, the key and the version. */
const correlationIdAt = 8;

/** What has to be known of a Fetch request to understand its response. */
export interface AskedRecords {
  /** The request: the whole of it, or what follows its header. */
  readonly bytes: Buffer;
  readonly version: number;
  /** What is asked for, by topic and partition. */
  readonly offsets: ReadonlyMap<string, ReadonlyMap<number, AskedOffset>>;
}

/** A whole Fetch request, as it is written to a socket. */
export interface FetchRequest extends AskedRecords {
  readonly correlationId: number;
  /** Where the topics begin. */
  readonly topicsAt: number;
  /** Where that begins which follows the topics. */
  readonly restAt: number;
}

/** The offset that is asked for, and where it stands in the request. */
export interface AskedOffset {
  readonly offset: bigint;
  readonly at: number;
  /** The largest number of the partition's bytes, as it was when the request was read, and where it stands. */
  readonly maxBytes: number;
  readonly maxBytesAt: number;
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

/** What is asked for in a Fetch request without its header. Throws a `KafkaJsDriverError` if the bytes are none. */
export function askedIn(bytes: Buffer, version: number): AskedRecords {
  const reader = new WireReader(bytes, 0);
  const { offsets } = readBody(reader, version);
  return { bytes, version, offsets };
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

/** The same request for what comes next in some of its partitions, as its client would write it. */
export function requestAfter({ bytes, offsets }: FetchRequest, next: NextOffsets, correlationId: number): Buffer {
  const request = Buffer.from(bytes);
  request.writeInt32BE(correlationId, correlationIdAt);
  for (const { maxBytes, maxBytesAt } of partitionsOf(offsets)) {
    request.writeInt32BE(maxBytes, maxBytesAt);
  }
  for (const { topic, partition, nextOffset } of next) {
    const asked = offsets.get(topic)?.get(partition);
    if (asked !== undefined) {
      request.writeBigInt64BE(nextOffset, asked.at);
    }
  }
  return request;
}

/** Makes the request ask for as many bytes of each partition as `bytesOf` says, in place. */
export function askForBytes({ bytes, offsets }: AskedRecords, bytesOf: (askedBytes: number, partitions: number) => number): void {
  const asked = partitionsOf(offsets);
  for (const { maxBytes, maxBytesAt } of asked) {
    bytes.writeInt32BE(bytesOf(maxBytes, asked.length), maxBytesAt);
  }
}

function partitionsOf(offsets: FetchRequest["offsets"]): readonly AskedOffset[] {
  return [...offsets.values()].flatMap((ofTopic) => [...ofTopic.values()]);
}

/**
 * Whether both requests ask for the same, as their client has written them, whatever their correlation ids are, and in whichever order: kafkajs
 * shuffles its partitions, and names a topic again when another one stands between its partitions.
 */
export function asksForTheSame(one: FetchRequest, other: FetchRequest): boolean {
  return (
    partBefore(one).equals(partBefore(other)) &&
    partAfter(one).equals(partAfter(other)) &&
    one.offsets.size === other.offsets.size &&
    [...one.offsets].every(([topic, partitions]) => isSame(partitions, other.offsets.get(topic)))
  );
}

type AskedOfTopic = ReadonlyMap<number, AskedOffset>;

function isSame(one: AskedOfTopic, other: AskedOfTopic | undefined): boolean {
  return (
    other?.size === one.size &&
    [...one].every(([partition, { offset, maxBytes }]) => {
      const asked = other.get(partition);
      return asked?.offset === offset && asked.maxBytes === maxBytes;
    })
  );
}

/** From the correlation id up to the topics: the version is the connection's. */
function partBefore({ bytes, topicsAt }: FetchRequest): Buffer {
  return bytes.subarray(correlationIdAt + 4, topicsAt);
}

function partAfter({ bytes, restAt }: FetchRequest): Buffer {
  return bytes.subarray(restAt);
}

function readRequest(bytes: Buffer): FetchRequest {
  const reader = new WireReader(bytes, 6);
  const version = reader.int16();
  const correlationId = reader.int32();
  reader.string(); // client id
  return { bytes, correlationId, version, ...readBody(reader, version) };
}

function readBody(reader: WireReader, version: number): Pick<FetchRequest, "offsets" | "topicsAt" | "restAt"> {
  reader.skip(4 + 4 + 4); // replica id, max wait, min bytes
  reader.skip((version >= 3 ? 4 : 0) + (version >= 4 ? 1 : 0)); // max bytes, isolation level
  reader.skip(version >= 7 ? 4 + 4 : 0); // session id, session epoch
  const topicsAt = reader.at;
  const offsets = new Map<string, Map<number, AskedOffset>>();
  for (let topics = reader.count(2 + 4); topics > 0; topics--) {
    const topic = reader.string() ?? "";
    const ofTopic = offsets.get(topic) ?? new Map<number, AskedOffset>();
    offsets.set(topic, ofTopic);
    for (let partitions = reader.count(4 + 8 + 4); partitions > 0; partitions--) {
      const partition = reader.int32();
      reader.skip(version >= 9 ? 4 : 0); // leader epoch
      const { at } = reader;
      const offset = reader.int64();
      reader.skip(version >= 5 ? 8 : 0); // log start offset
      const maxBytesAt = reader.at;
      ofTopic.set(partition, { offset, at, maxBytes: reader.int32(), maxBytesAt });
    }
  }
  const restAt = reader.at;
  for (let forgotten = version >= 7 ? reader.count(2 + 4) : 0; forgotten > 0; forgotten--) {
    reader.string();
    reader.skip(4 * reader.count(4));
  }
  if (version >= 11) {
    reader.string(); // rack id
  }
  reader.end();
  return { offsets, topicsAt, restAt };
}
