import type { ConnectionOptions as TlsOptions } from "node:tls";
import { checkHeartbeats, groupProtocolOf, membershipDefaults, numberOptions, optionalNumber } from "@cdckit/driver";
import { type DecompressOptions, maxBatchBytes } from "@cdckit/record-batch";
import { checkConnection, checks } from "./check-connection.ts";
import { makeError, PlatformaticDriverError } from "./errors.ts";

/** Options of the group membership and of fetches. */
export interface PlatformaticTuning {
  /**
   * The group removes a member that has sent no heartbeat for so long. Heartbeats go on while handlers run. With `groupProtocol: "consumer"`
   * the brokers decide (`group.consumer.session.timeout.ms`, or the group's own `consumer.session.timeout.ms`); this option then counts only if
   * the user may not read the group's settings (`DescribeConfigs`).
   * @default 30_000, 45_000 with groupProtocol "consumer"
   */
  readonly sessionTimeoutMs?: number;
  /**
   * How long the group waits in a rebalance until all members have joined again. This driver joins at once; members of other clients may drain
   * first. With `groupProtocol: "consumer"`: how long this member may take to finish and commit what it has to give up. After that the group
   * removes it.
   * @default 60_000
   */
  readonly rebalanceTimeoutMs?: number;
  /**
   * Milliseconds between two heartbeats. It must be smaller than `sessionTimeoutMs`; about a third of it is usual. With
   * `groupProtocol: "consumer"` the brokers decide (`group.consumer.heartbeat.interval.ms`).
   * @default 3_000
   */
  readonly heartbeatIntervalMs?: number;
  /**
   * Largest number of bytes of one partition in a fetch. One more fetch of a partition may wait for the consumer.
   * @default 1_048_576
   */
  readonly maxBytesPerPartition?: number;
  /**
   * Largest number of bytes of all partitions in a fetch.
   * @default 10_485_760
   */
  readonly maxBytes?: number;
  /**
   * How many fetched bytes may wait for the consumer, over all partitions. A partition of which nothing waits is fetched all the same.
   * @default 16_777_216
   */
  readonly maxQueuedBytes?: number;
  /**
   * How long the broker waits for new records before it answers a fetch without any.
   * @default 500
   */
  readonly maxWaitMs?: number;
  /**
   * How old the metadata of topics and partitions may get. New ones are found after this time at the latest.
   * @default 60_000
   */
  readonly metadataMaxAgeMs?: number;
  /**
   * The protocol of the group: `"classic"` with cooperative rebalances, or `"consumer"`, the one of KIP-848, in which the brokers assign
   * partitions. It needs brokers from Kafka 4.0 on.
   * @default "classic"
   */
  readonly groupProtocol?: "classic" | "consumer";
  /**
   * The rack, or the availability zone, of this process, as brokers have it in `broker.rack` (Java's `client.rack`). Partitions are then read from a
   * replica in this rack, if the brokers' `replica.selector.class` chooses one, and traffic between racks costs less.
   * @default none: partitions are read from their leaders
   */
  readonly rackId?: string;
  /**
   * Makes this a static member (`group.instance.id`). If it comes back within the session timeout, no partition moves. A static member does not
   * leave the group when it stops: until its session expires, nobody reads its partitions, so lower the session timeout if you scale down often.
   * Every member needs an id of its own; a member whose id another one uses halts with `fenced`.
   * @default none
   */
  readonly groupInstanceId?: string;
  /**
   * The largest number of bytes that one record batch may become when it is decompressed. Set it for topics whose producers you trust, if a batch is
   * refused with `batch-too-large`: a batch then takes so much memory, however few bytes were sent. At most 1,073,741,824.
   * @default 512 times the compressed bytes and 16 MiB, at most 512 MiB
   */
  readonly maxDecompressedBytes?: number;
}

/**
 * A text, or a function that gives it for each new connection within 10 seconds. If the function fails or takes longer, it is called again, and what it
 * throws is not shown.
 */
export type PlatformaticCredential = string | (() => string | Promise<string>);

/** How the client logs in. */
export type PlatformaticLogin =
  | {
      /** The SASL mechanism, in Kafka's names in lower case. */
      readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
      /** The name of the user. */
      readonly username: PlatformaticCredential;
      /** The password of the user. It is never logged. */
      readonly password: PlatformaticCredential;
    }
  | { readonly mechanism: "oauthbearer"; readonly token: PlatformaticCredential };

/** How the brokers are reached. */
export interface PlatformaticConnection {
  /** Addresses, `host:port`; an IPv6 address in brackets, as in `[::1]:9092`. */
  readonly brokers: readonly string[];
  /** `true`, or options of Node's `tls.connect`: `ca`, `cert`, `key`. */
  readonly ssl?: boolean | TlsOptions;
  /**
   * The login.
   * @default none
   */
  readonly sasl?: PlatformaticLogin;
  /**
   * The name of the client in the brokers' logs, metrics and quotas.
   * @default "cdckit"
   */
  readonly clientId?: string;
  /**
   * The client's module, or a function that loads it: `() => import("@platformatic/kafka")`. A bundler sees this import and packs the client; it does
   * not see the one of this package.
   * @default @platformatic/kafka, as Node finds it from this package, loaded with the first connection
   */
  readonly client?: object | (() => Promise<object>);
}

/** The options of `platformatic`: how the brokers are reached, and those of the membership and of fetches. */
export type PlatformaticOptions = PlatformaticConnection & PlatformaticTuning;

/** What has no default. */
type OptionalTuning = "groupInstanceId" | "rackId";

type Decompression = Pick<DecompressOptions, "maxDecompressedBytes">;

export interface ResolvedPlatformaticOptions {
  readonly connection: PlatformaticConnection;
  readonly tuning: Required<Omit<PlatformaticTuning, OptionalTuning | keyof Decompression>> &
    Pick<PlatformaticTuning, OptionalTuning> & { readonly decompression: Decompression };
}

const fetchDefaults = Object.freeze({
  maxBytesPerPartition: 1_048_576,
  maxBytes: 10_485_760,
  maxQueuedBytes: 16_777_216,
  maxWaitMs: 500,
  metadataMaxAgeMs: 60_000,
});

/** Every option, present and checked. Throws a `PlatformaticDriverError` that names the wrong one. */
export function resolvePlatformaticOptions(options: PlatformaticOptions): ResolvedPlatformaticOptions {
  checks.given(options);
  const { groupProtocol: protocol, groupInstanceId, rackId, maxDecompressedBytes, ...others } = options;
  const groupProtocol = groupProtocolOf(protocol, makeError);
  const texts = { ...(groupInstanceId !== undefined && { groupInstanceId }), ...(rackId !== undefined && { rackId }) };
  for (const [name, value] of Object.entries(texts)) {
    if (typeof value !== "string" || value === "") {
      refuse(`expected ${name} to be a text that is not empty`);
    }
  }
  const decompression = Object.freeze(optionalNumber("maxDecompressedBytes", maxDecompressedBytes, maxBatchBytes, makeError));
  const defaults = { ...membershipDefaults(groupProtocol), ...fetchDefaults };
  const { numbers: tuning, others: connection } = numberOptions(others, defaults, makeError);
  checkHeartbeats(tuning, makeError);
  checkConnection(connection, [...Object.keys(defaults), "groupProtocol", "groupInstanceId", "rackId", "maxDecompressedBytes"]);
  return Object.freeze({
    connection: connection as unknown as PlatformaticConnection, // checked above
    tuning: Object.freeze({ ...tuning, groupProtocol, ...texts, decompression }),
  });
}

function refuse(detail: string): never {
  throw new PlatformaticDriverError("invalid-option", detail);
}
