/**
 * Kafka's Metadata request in the versions with topic ids, 10 to 12, for kafkajs' connections. kafkajs writes a header of version 1 before the
 * body, and reads only the correlation id of the answer's header. So the body here begins with the tag buffer that belongs to a header of
 * version 2, and the first byte of the answer is the tag buffer of its header. https://kafka.apache.org/protocol#The_Messages_Metadata
 */
import type { TopicIdsByName } from "@cdckit/driver";
import { WireReader } from "./wire/wire-reader.ts";

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
  const reader = new WireReader(bytes, 0);
  reader.skipTags();
  reader.skip(4); // the throttle time
  for (let brokers = reader.compactLength(); brokers > 0; brokers--) {
    reader.skip(4);
    reader.compactString();
    reader.skip(4);
    reader.compactString();
    reader.skipTags();
  }
  reader.compactString(); // the cluster's id
  reader.skip(4); // the controller
  const ids = new Map<string, string | null>();
  const hidden: string[] = [];
  for (let topics = reader.compactLength(); topics > 0; topics--) {
    const errorCode = reader.int16();
    const name = reader.compactString();
    const id = bytes.subarray(reader.skip(uuidBytes), reader.at);
    reader.skip(1);
    skipPartitions(reader);
    reader.skip(4);
    reader.skipTags();
    if (errorCode === unknownTopic) {
      ids.set(name, null);
    } else if (errorCode === refusedTopic) {
      hidden.push(name);
    } else if (errorCode === 0 && id.some((byte) => byte !== 0)) {
      ids.set(name, id.toString("base64url"));
    }
  }
  return { ids, hidden };
}

function skipPartitions(reader: WireReader): void {
  for (let partitions = reader.compactLength(); partitions > 0; partitions--) {
    reader.skip(2 + 4 + 4 + 4);
    for (let lists = 0; lists < 3; lists++) {
      reader.skip(4 * reader.compactLength());
    }
    reader.skipTags();
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
