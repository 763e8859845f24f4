import type { KafkaDriver } from "@cdckit/consumer";
import { kafkajs, type KafkaJsTuning } from "@cdckit/kafkajs";
import type { RegistryAuth } from "@cdckit/registry";
import type { KafkaConfig, SASLOptions } from "kafkajs";

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
}

/** Where the schema registry is. Its `auth` and the userinfo of its url are secrets. */
export interface RegistryConnection {
  readonly url: string;
  readonly auth?: RegistryAuth;
}

/** The driver's own default: more than one partition shares a fetch. */
const defaultFetchBytes = 10_485_760;

/** A driver that reads from these brokers. */
export function createClusterDriver(connection: ClusterConnection, session: Pick<KafkaJsTuning, "sessionTimeoutMs"> = {}): KafkaDriver {
  const { fetchBytes } = connection;
  const tuning = fetchBytes === undefined ? {} : { maxBytesPerPartition: fetchBytes, maxBytes: Math.max(fetchBytes, defaultFetchBytes) };
  return kafkajs({ ...kafkaConfigOf(connection), ...tuning, ...session });
}

/** The connection in kafkajs' words, whose type has one shape for each mechanism. */
export function kafkaConfigOf({ brokers, tls, login }: ClusterConnection): Pick<KafkaConfig, "brokers" | "ssl" | "sasl"> {
  return {
    brokers: [...brokers],
    ...(tls !== undefined && { ssl: { ...tls } }),
    ...(login !== undefined && { sasl: { ...login } as SASLOptions }),
  };
}
