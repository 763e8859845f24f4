/**
 * Kafka's Metadata request in the versions with topic ids, 10 to 12, for kafkajs' connections. kafkajs writes a header of version 1 before the
 * body, and reads only the correlation id of the answer's header. So the body here begins with the tag buffer that belongs to a header of
 * version 2, and the first byte of the answer is the tag buffer of its header. https://kafka.apache.org/protocol#The_Messages_Metadata
 */
import type { TopicIdsByName } from "@cdckit/driver";

const metadataApiKey = 3;
const oldestVersion = 10;
const newestVersion = 12;
const clusterOperationsTo = 10;
const uuidBytes = 16;
const unknownTopic = 3;
const refusedTopic = 29;

/** The versions of a request that a broker supports. */
export interface VersionRange {
  readonly minVersion: number;
  readonly maxVersion: number;
}

/** A request for kafkajs' `Connection.send`. */
export interface KafkaJsRequest<Answer> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<Answer>;
    readonly parse: (answer: Answer) => Promise<Answer>;
  };
  readonly logResponseError: boolean;
}

/** What a broker says of topics. */
export interface DescribedTopics {
  readonly ids: TopicIdsByName;
  /** Topics that the user may not see, and of which a broker does not say whether they exist. */
  readonly hidden: readonly string[];
}

/** The request for the ids of these topics, or null if the broker supports no version with topic ids. */
export function metadataRequest(
  versions: Readonly<Record<number, VersionRange>>,
  topics: readonly string[],
): KafkaJsRequest<DescribedTopics> | null {
  const { minVersion, maxVersion } = versions[metadataApiKey] ?? { minVersion: 0, maxVersion: 0 };
  const apiVersion = Math.min(maxVersion, newestVersion);
  if (apiVersion < oldestVersion || minVersion > apiVersion) {
    return null;
  }
  return {
    request: {
      apiKey: metadataApiKey,
      apiVersion,
      apiName: "Metadata",
      encode: async () => {
        const body = requestBody(topics, apiVersion);
        return { buf: body, buffer: body };
      },
    },
    response: { decode: async (bytes) => describedIn(bytes), parse: async (described) => described },
    logResponseError: false,
  };
}

function requestBody(topics: readonly string[], version: number): Buffer {
  const noTags = Buffer.from([0]);
  const noId = Buffer.alloc(uuidBytes);
  const names = topics.flatMap((topic) => {
    const name = Buffer.from(topic);
    return [noId, uvarint(name.length + 1), name, noTags];
  });
  // The request must not create topics, and does not ask for the client's rights.
  const flags = Buffer.alloc(version <= clusterOperationsTo ? 3 : 2);
  return Buffer.concat([noTags, uvarint(topics.length + 1), ...names, flags, noTags]);
}

function describedIn(bytes: Buffer): DescribedTopics {
  const reader = new FlexibleReader(bytes);
  reader.skipTags();
  reader.skip(4); // the throttle time
  for (let brokers = reader.arrayLength(); brokers > 0; brokers--) {
    reader.skip(4);
    reader.text();
    reader.skip(4);
    reader.text();
    reader.skipTags();
  }
  reader.text(); // the cluster's id
  reader.skip(4); // the controller
  const ids = new Map<string, string | null>();
  const hidden: string[] = [];
  for (let topics = reader.arrayLength(); topics > 0; topics--) {
    const errorCode = reader.int16();
    const name = reader.text();
    const id = reader.bytes(uuidBytes);
    reader.skip(1);
    skipPartitions(reader);
    reader.skip(4);
    reader.skipTags();
    if (errorCode === unknownTopic && name !== null) {
      ids.set(name, null);
    } else if (errorCode === refusedTopic && name !== null) {
      hidden.push(name);
    } else if (errorCode === 0 && name !== null && id.some((byte) => byte !== 0)) {
      ids.set(name, id.toString("base64url"));
    }
  }
  return { ids, hidden };
}

function skipPartitions(reader: FlexibleReader): void {
  for (let partitions = reader.arrayLength(); partitions > 0; partitions--) {
    reader.skip(2 + 4 + 4 + 4);
    for (let lists = 0; lists < 3; lists++) {
      reader.skip(4 * reader.arrayLength());
    }
    reader.skipTags();
  }
}

/** Reads the types of flexible versions. Throws a RangeError if the answer ends early. */
class FlexibleReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skip(length: number): void {
    this.bytes(length);
  }

  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) {
      throw new RangeError(`a Metadata answer of ${this.#bytes.length} bytes ends before its content`);
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  int16(): number {
    return this.bytes(2).readInt16BE();
  }

  uvarint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes(1).readUInt8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        return value;
      }
    }
    throw new RangeError("a Metadata answer has a length of more than five bytes");
  }

  /** Kafka writes the length plus one. Zero is a null list. */
  arrayLength(): number {
    return Math.max(0, this.uvarint() - 1);
  }

  text(): string | null {
    const length = this.uvarint() - 1;
    return length < 0 ? null : this.bytes(length).toString();
  }

  skipTags(): void {
    for (let tags = this.uvarint(); tags > 0; tags--) {
      this.uvarint();
      this.skip(this.uvarint());
    }
  }
}

function uvarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.from([...bytes, rest]);
}
