import { checkHeartbeats, isObject, membershipDefaults, numberOptions, optionalNumber } from "@cdckit/driver";
import { type CompressionName, type Decompress, type DecompressOptions, maxBatchBytes } from "@cdckit/record-batch";
import type { Kafka, KafkaConfig } from "kafkajs";
import { checkConnection, checks } from "./check-connection.ts";
import { KafkaJsDriverError, makeError } from "./errors.ts";

/** Options of the group membership and of fetches. Names and meanings are Kafka's. */
export interface KafkaJsTuning {
  /**
   * The group removes a member that has sent no heartbeat for so long. Heartbeats go on while handlers run.
   * @default 30_000
   */
  readonly sessionTimeoutMs?: number;
  /**
   * How long members may take in a rebalance to drain and to join again. The drain itself is bounded by `shutdownTimeoutMs` of the consumer.
   * @default 60_000
   */
  readonly rebalanceTimeoutMs?: number;
  /**
   * Milliseconds between two heartbeats. It must be smaller than `sessionTimeoutMs`; about a third of it is usual.
   * @default 3_000
   */
  readonly heartbeatIntervalMs?: number;
  /**
   * Largest number of bytes of one partition in a fetch: the size of a batch. If you leave it out, a fetch of one, two or three partitions from one
   * broker asks for up to 4 MiB of them together, until it brings about 8,000 records or unpacks to about 8 MiB, because large fetches take less
   * time a record; a fetch of one partition that unpacks to more asks for less. At most 524,288,000.
   * @default 1_048_576
   */
  readonly maxBytesPerPartition?: number;
  /**
   * Largest number of bytes of all partitions in a fetch. At most 524,288,000.
   * @default 10_485_760
   */
  readonly maxBytes?: number;
  /**
   * How long the broker waits for new records before it answers a fetch without any. A stop may take as long with a client of your own.
   * @default 500
   */
  readonly maxWaitMs?: number;
  /**
   * How old the metadata of topics and partitions may get. New ones are found after this time at the latest.
   * @default 60_000
   */
  readonly metadataMaxAgeMs?: number;
  /**
   * How many partitions' batches are handed over at the same time. Each partition keeps its order. A batch that takes longer than `maxWaitMs`
   * does not count any more, and holds up only its own partition.
   * @default 1
   */
  readonly partitionsConsumedConcurrently?: number;
  /**
   * The rack of this process (`broker.rack`), if brokers have a `replica.selector.class`: they then name the replica in the same rack, and records
   * are fetched from there. If that replica is gone, kafkajs asks its leader after five seconds, which may name it again until it is missed itself.
   * @default ""
   */
  readonly rackId?: string;
  /**
   * Decompress with functions of your own, by the names of compressions: `gzip`, `snappy`, `lz4`, `zstd`. Each returns what the bytes become, and
   * makes no more than `maxBytes` of it.
   * @default {}
   */
  readonly codecs?: KafkaJsCodecs;
  /**
   * The largest number of bytes that one record batch may become when it is decompressed. Set it for topics whose producers you trust, if a batch is
   * refused with `batch-too-large`: a batch then takes so much memory, however few bytes were sent. At most 1,073,741,824.
   * @default 512 times the compressed bytes and 16 MiB, at most 512 MiB
   */
  readonly maxDecompressedBytes?: number;
}

/** Decompressions by the names of compressions. */
export type KafkaJsCodecs = Readonly<Partial<Record<CompressionName, Decompress>>>;

/** kafkajs' own options for the connection to the brokers. Its log goes to the consumer's logger. */
export type KafkaJsConnection = Omit<KafkaConfig, "logLevel" | "logCreator" | "socketFactory"> & {
  /**
   * Where to connect in place of a broker's address: through a tunnel, a port forward or a proxy. Brokers advertise their own addresses to
   * clients, so changing `brokers` alone is not enough. It is asked for every connection. With TLS, the certificate must still hold the
   * broker's own name.
   * @default the address itself
   */
  readonly connectTo?: ConnectTo;
};

/** Maps a broker's address to the one to connect to. */
export type ConnectTo = (broker: BrokerAddress) => BrokerAddress;

/** Where a broker is reached. */
export interface BrokerAddress {
  /** A name or an address, without a scheme. */
  readonly host: string;
  /** The port of a Kafka listener. */
  readonly port: number;
}

/** A client that the application has made. It keeps its own logger and its own sockets. */
export interface OwnKafka {
  /** The client. Its brokers, TLS and login are those that the driver uses. */
  readonly kafka: Kafka;
}

/** The options of `kafkajs`: how the brokers are reached, or a client of yours, and those of the membership and of fetches. */
export type KafkaJsOptions = (KafkaJsConnection | OwnKafka) & KafkaJsTuning;

export interface ResolvedKafkaJsOptions {
  readonly client: { readonly kind: "own"; readonly kafka: Kafka } | { readonly kind: "made"; readonly config: KafkaJsConnection };
  readonly tuning: Required<Omit<KafkaJsTuning, keyof DecompressOptions>> & { readonly decompression: DecompressOptions };
  /** Up to so many bytes are asked for in a fetch at least, shared out between its partitions; see `FetchSize`. */
  readonly largestMinFetchBytes: number;
}

const defaultLargestMinFetchBytes = 4_194_304;

/** A response of so many bytes of records can be read: it has no more than 12 MiB of other things. See `maxFrameBytes`. */
const maxFetchBytes = 524_288_000;

const numberDefaults = Object.freeze({
  ...membershipDefaults(),
  maxBytesPerPartition: 1_048_576,
  maxBytes: 10_485_760,
  maxWaitMs: 500,
  metadataMaxAgeMs: 60_000,
  partitionsConsumedConcurrently: 1,
});

/** Every option, present and checked. Throws a `KafkaJsDriverError` that names the wrong one. */
export function resolveKafkaJsOptions(options: KafkaJsOptions): ResolvedKafkaJsOptions {
  checks.given(options);
  const { rackId = "", codecs = {}, maxDecompressedBytes, ...rest } = options; // without a rack, as Kafka's own default
  if (typeof rackId !== "string") {
    throw new KafkaJsDriverError("invalid-option", `expected rackId to be a text, found ${String(rackId)}`);
  }
  checkCodecs(codecs);
  const decompressed = optionalNumber("maxDecompressedBytes", maxDecompressedBytes, maxBatchBytes, makeError);
  const { numbers, others } = numberOptions(rest, numberDefaults, makeError, {
    maxBytesPerPartition: maxFetchBytes,
    maxBytes: maxFetchBytes,
  });
  checkHeartbeats(numbers, makeError);
  const largestMinFetchBytes = options.maxBytesPerPartition === undefined ? Math.min(defaultLargestMinFetchBytes, numbers.maxBytes) : 0;
  const tuning = Object.freeze({ ...numbers, rackId, decompression: Object.freeze({ codecs, ...decompressed }) });
  return Object.freeze({ client: resolveClient(others), tuning, largestMinFetchBytes });
}

function resolveClient(connection: Readonly<Record<string, unknown>>): ResolvedKafkaJsOptions["client"] {
  const { kafka, ...others } = connection;
  if (kafka === undefined) {
    checkConnection(others, [...Object.keys(numberDefaults), "rackId", "codecs", "maxDecompressedBytes"]);
    return { kind: "made", config: others as unknown as KafkaJsConnection }; // checked above
  }
  const extra = Object.keys(others);
  if (extra.length > 0) {
    throw new KafkaJsDriverError("invalid-option", `kafkajs({ kafka }) uses that client as it is: set ${extra.join(", ")} on it`);
  }
  if (typeof (kafka as Partial<Kafka>).consumer !== "function") {
    throw new KafkaJsDriverError("invalid-option", "kafkajs({ kafka }) expects an instance of kafkajs' Kafka");
  }
  return { kind: "own", kafka: kafka as Kafka };
}

const compressions: readonly string[] = ["gzip", "snappy", "lz4", "zstd"] satisfies readonly CompressionName[];

function checkCodecs(codecs: unknown): asserts codecs is KafkaJsCodecs {
  if (!isObject(codecs)) {
    throw new KafkaJsDriverError("invalid-option", `expected codecs to be an object of functions, found ${String(codecs)}`);
  }
  for (const [name, codec] of Object.entries(codecs)) {
    if (!compressions.includes(name)) {
      throw new KafkaJsDriverError("invalid-option", `codecs.${name} is no compression of Kafka's; there are ${compressions.join(", ")}`);
    }
    if (codec !== undefined && typeof codec !== "function") {
      throw new KafkaJsDriverError("invalid-option", `expected codecs.${name} to be a function, found ${typeof codec}`);
    }
  }
}
