import { checkHeartbeats, groupProtocolOf, membershipDefaults, numberOptions } from "@cdckit/driver";
import { checkConnection, checks } from "./check-connection.ts";
import { ConfluentDriverError, makeError } from "./errors.ts";

/** Options of the group membership and of fetches. */
export interface ConfluentTuning {
  /**
   * The group removes a member that has sent no heartbeat for so long. Heartbeats go on while handlers run. With `groupProtocol: "consumer"`
   * the brokers decide (`group.consumer.session.timeout.ms`).
   * @default 30_000, 45_000 with groupProtocol "consumer"
   */
  readonly sessionTimeoutMs?: number;
  /**
   * How long members may take in a rebalance to drain and to join again (librdkafka's `max.poll.interval.ms`). It must be at least
   * `sessionTimeoutMs`. The drain itself is bounded by `shutdownTimeoutMs` of the consumer.
   * @default 60_000
   */
  readonly rebalanceTimeoutMs?: number;
  /**
   * Milliseconds between two heartbeats. It must be smaller than `sessionTimeoutMs`; about a third of it is usual.
   * @default 3_000
   */
  readonly heartbeatIntervalMs?: number;
  /**
   * Largest number of bytes of one partition in a fetch. Batches of a partition that wait for the consumer are bounded by it, too.
   * @default 1_048_576
   */
  readonly maxBytesPerPartition?: number;
  /**
   * Largest number of bytes of all partitions in a fetch.
   * @default 10_485_760
   */
  readonly maxBytes?: number;
  /**
   * How many bytes librdkafka may have fetched ahead, over all partitions. They are outside of the JavaScript heap.
   * @default 16_777_216
   */
  readonly maxQueuedBytes?: number;
  /**
   * How many records are taken from librdkafka at a time. Turning them into objects holds up the event loop.
   * @default 1_000
   */
  readonly maxRecords?: number;
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
   * The protocol of the group: `"classic"` with cooperative rebalances, or `"consumer"`, the one of KIP-848, which needs brokers from Kafka 4.0 on.
   * @default "classic"
   */
  readonly groupProtocol?: "classic" | "consumer";
  /**
   * Makes this a static member (`group.instance.id`). If it comes back within the session timeout, no partition moves. A static member does not
   * leave the group when it stops: until its session expires, nobody reads its partitions, so lower the session timeout if you scale down often.
   * Every member needs an id of its own; a member whose id another one uses halts with `fenced`.
   * @default none
   */
  readonly groupInstanceId?: string;
}

/** PEM texts, and what librdkafka's OpenSSL needs with them. */
export interface ConfluentTls {
  /** Certificates of the authorities that are trusted. The system's own if it is absent. */
  readonly ca?: string;
  /** The client's own certificate, for brokers that want one. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
  /** What `key` is encrypted with, if it is. */
  readonly passphrase?: string;
  /**
   * Whether the brokers' certificates must be signed by a trusted authority and have the brokers' names.
   * @default true
   */
  readonly rejectUnauthorized?: boolean;
}

/** How the client logs in. Other mechanisms are set by librdkafka's own names in `properties`, in place of this option. */
export interface ConfluentLogin {
  /** The SASL mechanism, in Kafka's names in lower case. */
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  /** The name of the user. */
  readonly username: string;
  /** The password of the user. It is never logged. */
  readonly password: string;
}

/** How the brokers are reached. */
export interface ConfluentConnection {
  /** Addresses, `host:port`; an IPv6 address in brackets, as in `[::1]:9092`. */
  readonly brokers: readonly string[];
  /**
   * `true` for TLS with the system's authorities, or the PEM texts.
   * @default false: no TLS
   */
  readonly ssl?: boolean | ConfluentTls;
  /**
   * The login.
   * @default none
   */
  readonly sasl?: ConfluentLogin;
  /**
   * The name of the client in the brokers' logs, metrics and quotas.
   * @default "cdckit"
   */
  readonly clientId?: string;
  /** More of librdkafka's properties, by its names. Those that the driver sets itself are refused. */
  readonly properties?: Readonly<Record<string, string | number | boolean>>;
}

/** The options of `confluent`: how the brokers are reached, and those of the membership and of fetches. */
export type ConfluentOptions = ConfluentConnection & ConfluentTuning;

export interface ResolvedConfluentOptions {
  readonly connection: ConfluentConnection;
  readonly tuning: Required<Omit<ConfluentTuning, "groupInstanceId" | "groupProtocol">> &
    Required<Pick<ConfluentTuning, "groupProtocol">> &
    Pick<ConfluentTuning, "groupInstanceId">;
}

const fetchDefaults = Object.freeze({
  maxBytesPerPartition: 1_048_576,
  maxBytes: 10_485_760,
  maxQueuedBytes: 16_777_216,
  maxRecords: 1_000,
  maxWaitMs: 500,
  metadataMaxAgeMs: 60_000,
});

/** Every option, present and checked. Throws a `ConfluentDriverError` that names the wrong one. */
export function resolveConfluentOptions(options: ConfluentOptions): ResolvedConfluentOptions {
  checks.given(options);
  const { groupProtocol: protocol, groupInstanceId, ...others } = options;
  const groupProtocol = groupProtocolOf(protocol, makeError);
  if (groupInstanceId !== undefined && (typeof groupInstanceId !== "string" || groupInstanceId === "")) {
    refuse("expected groupInstanceId to be a text that is not empty");
  }
  const defaults = { ...membershipDefaults(groupProtocol), ...fetchDefaults };
  const { numbers: tuning, others: connection } = numberOptions(others, defaults, makeError);
  checkHeartbeats(tuning, makeError);
  if (tuning.rebalanceTimeoutMs < tuning.sessionTimeoutMs) {
    refuse("expected rebalanceTimeoutMs to be at least sessionTimeoutMs: librdkafka demands it");
  }
  checkConnection(connection, [...Object.keys(defaults), "groupProtocol", "groupInstanceId"]);
  return Object.freeze({
    connection: connection as unknown as ConfluentConnection, // checked above
    tuning: Object.freeze({ ...tuning, groupProtocol, ...(groupInstanceId === undefined ? {} : { groupInstanceId }) }),
  });
}

function refuse(detail: string): never {
  throw new ConfluentDriverError("invalid-option", detail);
}
