import type { KafkaDriver } from "@cdckit/consumer";
import type { ApicurioIdSpace } from "@cdckit/decode";
import { kafkajs, type KafkaJsTuning } from "@cdckit/kafkajs";
import type { RegistryLogin } from "@cdckit/registry";
import type { KafkaConfig, SASLOptions } from "kafkajs";
import { timedCodecs } from "./decompression-time.ts";
import { openSocket, withoutColons } from "./sockets.ts";

/** What a TLS connection is made with, as PEM. All of it absent: the authorities that Node knows, and no certificate of our own. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export type SaslMechanism = "plain" | "scram-sha-256" | "scram-sha-512";

export interface SaslLogin {
  readonly mechanism: SaslMechanism;
  readonly username: string;
  readonly password: string;
}

/** Where the brokers are, and how to reach them. Holds secrets: no part of it but the brokers may be printed. */
export interface ClusterConnection {
  readonly brokers: readonly string[];
  /** Absent if the connection is plain. */
  readonly tls?: TlsSettings;
  readonly login?: SaslLogin;
  /** Most bytes of one partition in a fetch. */
  readonly fetchBytes?: number;
  /** Most bytes that one record batch may become. Absent: the driver's own limit. */
  readonly maxDecompressedBytes?: number;
}

/** Where the schema registry is. Its `auth` and the userinfo of its url are secrets. */
export interface RegistryConnection {
  readonly url: string;
  readonly auth?: { readonly basic: RegistryLogin } | { readonly bearer: string };
  /** What ids of four bytes are at an Apicurio registry. Absent: content ids. */
  readonly numericIds?: ApicurioIdSpace;
}

/** The driver's own default: more than one partition shares a fetch. */
const defaultFetchBytes = 10_485_760;
const defaultPartitionBytes = 1_048_576;
const defaultMaxWaitMs = 500;

/**
 * The session of a member of a group that is made to be measured, and deleted then. A member that is stopped while it joins is remembered for
 * as long, and so long takes it to leave nothing behind after Ctrl-C.
 */
export const throwAwaySession: Required<Pick<KafkaJsTuning, "sessionTimeoutMs">> = Object.freeze({ sessionTimeoutMs: 10_000 });

/** A live stream that gets partitions is read whole, and what is in them is not seconds old: the driver's own default is a minute. */
const metadataMaxAgeMs = 5_000;

/** A driver that reads from these brokers. */
export function createClusterDriver(
  connection: ClusterConnection,
  session: Pick<KafkaJsTuning, "sessionTimeoutMs"> = throwAwaySession,
): KafkaDriver {
  const { fetchBytes, maxDecompressedBytes } = connection;
  const tuning: KafkaJsTuning = {
    metadataMaxAgeMs,
    ...(fetchBytes !== undefined && { maxBytesPerPartition: fetchBytes, maxBytes: Math.max(fetchBytes, defaultFetchBytes) }),
    ...(maxDecompressedBytes !== undefined && { maxDecompressedBytes }),
  };
  return kafkajs({ ...kafkaConfigOf(connection), codecs: timedCodecs, ...tuning, ...session });
}

/**
 * The limits of fetches that are to be compared, for a consumer of kafkajs. A driver has them if its connection has their `maxBytesPerPartition`
 * as `fetchBytes`: without a limit it asks for more than kafkajs does.
 */
export function fetchLimitsOf({ fetchBytes }: ClusterConnection): {
  readonly maxBytesPerPartition: number;
  readonly maxBytes: number;
  readonly maxWaitTimeInMs: number;
} {
  return {
    maxBytesPerPartition: fetchBytes ?? defaultPartitionBytes,
    maxBytes: Math.max(fetchBytes ?? 0, defaultFetchBytes),
    maxWaitTimeInMs: defaultMaxWaitMs,
  };
}

/** The connection in kafkajs' words, whose type has one shape for each mechanism. */
export function kafkaConfigOf({ brokers, tls, login }: ClusterConnection): Pick<KafkaConfig, "brokers" | "ssl" | "sasl"> {
  return {
    brokers: [...brokers],
    ...(tls !== undefined && { ssl: { ...tls } }),
    ...(login !== undefined && { sasl: { ...login } as SASLOptions }),
  };
}

/** The same for a client of kafkajs itself, which knows no IPv6 addresses. */
export function clientConfigOf(connection: ClusterConnection): Pick<KafkaConfig, "brokers" | "ssl" | "sasl" | "socketFactory"> {
  return { ...kafkaConfigOf(connection), brokers: connection.brokers.map(withoutColons), socketFactory: openSocket };
}
