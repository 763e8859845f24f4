import { isKafkaJsDriverError } from "../errors.ts";
import { WireReader } from "./wire-reader.ts";

const fetchKey = 1;
/** The versions whose requests and responses are understood: those before Kafka's flexible encoding. */
const maxVersion = 11;

/** What has to be known of a Fetch request to understand its response. */
export interface FetchRequest {
  readonly correlationId: number;
  readonly version: number;
  /** The offset that is asked for, by topic and partition. */
  readonly offsets: ReadonlyMap<string, ReadonlyMap<number, bigint>>;
}

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
    return isLikely ? readRequest(new WireReader(bytes, 6)) : null;
  } catch (error) {
    if (isKafkaJsDriverError(error)) {
      return null;
    }
    throw error;
  }
}

function readRequest(reader: WireReader): FetchRequest {
  const version = reader.int16();
  const correlationId = reader.int32();
  reader.string(); // client id
  reader.skip(4 + 4 + 4); // replica id, max wait, min bytes
  reader.skip((version >= 3 ? 4 : 0) + (version >= 4 ? 1 : 0)); // max bytes, isolation level
  reader.skip(version >= 7 ? 4 + 4 : 0); // session id, session epoch
  const offsets = new Map<string, Map<number, bigint>>();
  for (let topics = reader.count(2 + 4); topics > 0; topics--) {
    const topic = reader.string() ?? "";
    const ofTopic = offsets.get(topic) ?? new Map<number, bigint>();
    offsets.set(topic, ofTopic);
    for (let partitions = reader.count(4 + 8 + 4); partitions > 0; partitions--) {
      const partition = reader.int32();
      reader.skip(version >= 9 ? 4 : 0); // leader epoch
      ofTopic.set(partition, reader.int64());
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
  return { correlationId, version, offsets };
}
