import type { ConnectionOptions } from "node:tls";
import { isKafkaJsDriverError, readClientEnvironment } from "@cdckit/kafkajs";
import { BenchError, withoutCode } from "../bench-error.ts";
import type { Terminal } from "../terminal.ts";

type Environment = Terminal["env"];

/** Variables of a connection that `cdc-bench` reads itself: those that have a flag, and the password. */
const shortNames = ["BROKERS", "SSL", "SSL_CA", "SSL_CERT", "SSL_KEY", "SASL_MECHANISM", "SASL_USERNAME", "SASL_PASSWORD"].map(
  (suffix) => `KAFKA_${suffix}`,
);
/** All names of what concerns the connection, those of Java's clients too. Other variables are settings of a service, such as its group. */
const connectionName = /^KAFKA_(BROKERS|BOOTSTRAP_SERVERS|SECURITY_PROTOCOL|SASL_.+|SSL(_.+)?)$/;

/** What flags say of the same. A flag counts more than a variable. */
export interface ConnectionFlags {
  readonly brokers?: readonly string[];
  readonly ssl?: boolean;
  readonly saslMechanism?: string;
  readonly saslUsername?: string;
}

/**
 * The environment with the connection in the short names. What has the names of Java's clients is read by the reader that services use. A
 * protocol that was asked for and not read would become a connection without TLS, with the password readable: what the reader cannot do is
 * refused.
 */
export function inShortNames(flags: ConnectionFlags, env: Environment): Environment {
  const isThere = (name: string): boolean => (env[name] ?? "").trim() !== "";
  const hasBrokers = flags.brokers !== undefined || isThere("KAFKA_BROKERS") || isThere("KAFKA_BOOTSTRAP_SERVERS");
  const hasOthers = Object.keys(env).some((name) => connectionName.test(name) && !shortNames.includes(name) && isThere(name));
  if (!hasBrokers || !hasOthers) {
    return env;
  }
  const { brokers, ssl, sasl } = readConnection(withFlags(flags, env));
  const { mechanism, username, password } = (sasl ?? {}) as Readonly<Record<string, string | undefined>>; // plain or SCRAM: no other is read
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !connectionName.test(name))),
    KAFKA_BROKERS: String(brokers),
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username,
    KAFKA_SASL_PASSWORD: password,
    ...(ssl !== undefined && ssl !== false && tlsVariables(ssl === true ? {} : ssl)),
  };
}

/** The variables for the reader. A flag and a variable of one setting do not contradict each other. */
function withFlags({ brokers, ssl, saslMechanism, saslUsername }: ConnectionFlags, env: Environment): Environment {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => connectionName.test(name))),
    ...(brokers !== undefined && { KAFKA_BROKERS: brokers.join(","), KAFKA_BOOTSTRAP_SERVERS: undefined }),
    ...(ssl !== undefined && env["KAFKA_SECURITY_PROTOCOL"] !== undefined && { KAFKA_SSL: undefined }),
    ...(saslMechanism !== undefined && { KAFKA_SASL_MECHANISM: saslMechanism }),
    ...(saslUsername !== undefined && { KAFKA_SASL_USERNAME: saslUsername }),
  };
}

function readConnection(env: Environment): ReturnType<typeof readClientEnvironment>["connection"] {
  try {
    return readClientEnvironment(env).connection;
  } catch (error) {
    if (isKafkaJsDriverError(error)) {
      const detail = withoutCode(error.message);
      throw new BenchError("usage", `the environment variables for Kafka are wrong: ${detail}.`, { cause: error });
    }
    throw error;
  }
}

function tlsVariables({ ca, cert, key, ...others }: ConnectionOptions): Environment {
  const names = { pfx: "KAFKA_SSL_KEYSTORE_TYPE=PKCS12", passphrase: "KAFKA_SSL_KEY_PASSWORD" } as const;
  const [unread] = Object.keys(others);
  if (unread !== undefined) {
    const name = unread in names ? names[unread as keyof typeof names] : "KAFKA_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM";
    throw new BenchError(
      "usage",
      `cdc-bench cannot do what ${name} says: it takes certificates as PEM, a key that is not encrypted, and checks the name.`,
    );
  }
  const text = (pem: ConnectionOptions["ca" | "cert" | "key"]): string | undefined => (pem === undefined ? undefined : String(pem));
  return { KAFKA_SSL: "true", KAFKA_SSL_CA: text(ca), KAFKA_SSL_CERT: text(cert), KAFKA_SSL_KEY: text(key) };
}
