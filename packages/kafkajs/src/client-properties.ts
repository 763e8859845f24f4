import type { ConnectionOptions } from "node:tls";
import type { SASLOptions } from "kafkajs";
import type { KafkaJsConnection, KafkaJsTuning } from "./options.ts";
import { Properties, refuse } from "./properties.ts";
import { readProperties } from "./properties-text.ts";

/** What a `client.properties` of Java's clients says, in the names of cdckit. */
export interface ClientProperties {
  /** The options for `kafkajs`: brokers, TLS, login, sizes and times. */
  readonly connection: KafkaJsConnection & KafkaJsTuning;
  /** `group.id`. Undefined if there is none. */
  readonly groupId: string | undefined;
  /** `auto.offset.reset`, for the option `from`. Undefined if there is none. */
  readonly from: "earliest" | "latest" | undefined;
  /** The names of properties that mean nothing here, such as those of deserializers. */
  readonly ignored: readonly string[];
}

/** Properties that are numbers, with the option that each is. */
const numbers: Readonly<Record<string, keyof KafkaJsTuning | "requestTimeout">> = {
  "session.timeout.ms": "sessionTimeoutMs",
  "heartbeat.interval.ms": "heartbeatIntervalMs",
  "max.partition.fetch.bytes": "maxBytesPerPartition",
  "fetch.max.bytes": "maxBytes",
  "fetch.max.wait.ms": "maxWaitMs",
  "metadata.max.age.ms": "metadataMaxAgeMs",
  "request.timeout.ms": "requestTimeout",
};

/** The names of all properties that are read. */
export const knownProperties: readonly string[] = [
  "bootstrap.servers",
  "client.id",
  "group.id",
  "auto.offset.reset",
  "security.protocol",
  "sasl.mechanism",
  "sasl.jaas.config",
  "sasl.username",
  "sasl.password",
  "ssl.truststore.type",
  "ssl.truststore.location",
  "ssl.truststore.password",
  "ssl.truststore.certificates",
  "ssl.keystore.type",
  "ssl.keystore.location",
  "ssl.keystore.password",
  "ssl.keystore.certificate.chain",
  "ssl.keystore.key",
  "ssl.key.password",
  "ssl.endpoint.identification.algorithm",
  ...Object.keys(numbers),
];

const mechanisms: Readonly<Record<string, "plain" | "scram-sha-256" | "scram-sha-512">> = {
  PLAIN: "plain",
  "SCRAM-SHA-256": "scram-sha-256",
  "SCRAM-SHA-512": "scram-sha-512",
};

const protocols: Readonly<Record<string, { readonly tls: boolean; readonly login: boolean }>> = {
  PLAINTEXT: { tls: false, login: false },
  SSL: { tls: true, login: false },
  SASL_PLAINTEXT: { tls: false, login: true },
  SASL_SSL: { tls: true, login: true },
};

/**
 * Reads the text of a `client.properties`, as Java's clients have it: `kafkajs(readClientProperties(text).connection)`. Throws a
 * `KafkaJsDriverError` that names the property for what cannot be done here: what concerns security is never ignored. Files that it names
 * (`ssl.keystore.location`) are read at once.
 */
export function readClientProperties(text: string): ClientProperties {
  return Object.freeze(clientOf(new Properties(readProperties(text))));
}

/** What properties say, wherever they were read. */
export function clientOf(properties: Properties): ClientProperties {
  const brokers = properties
    .required("bootstrap.servers")
    .split(",")
    .map((broker) => broker.trim())
    .filter((broker) => broker !== "");
  const clientId = properties.take("client.id");
  const protocol = properties.choice("security.protocol", protocols) ?? { tls: false, login: false };
  const ssl = tlsOf(properties);
  const sasl = protocol.login ? loginOf(properties) : undefined;
  const tuning: Record<string, number> = {};
  for (const [name, option] of Object.entries(numbers)) {
    const value = properties.number(name);
    if (value !== undefined) {
      tuning[option] = value;
    }
  }
  const from = properties.choice("auto.offset.reset", { earliest: "earliest", latest: "latest" } as const);
  return {
    connection: { brokers, ...tuning, ...(clientId && { clientId }), ...(protocol.tls && { ssl }), ...(sasl && { sasl }) },
    groupId: properties.take("group.id"),
    from,
    ignored: properties.rest(protocol),
  };
}

/** TLS as the properties say: certificates in PEM, in the properties or in files, or a key store of PKCS12. */
function tlsOf(properties: Properties): true | ConnectionOptions {
  const ssl: ConnectionOptions = {};
  const trustType = properties.take("ssl.truststore.type") ?? "JKS";
  properties.take("ssl.truststore.password");
  const trustFile = properties.file("ssl.truststore.location");
  if (trustFile !== undefined && trustType !== "PEM") {
    refuse(
      `expected ${properties.nameOf("ssl.truststore.type")} to be PEM, found ${trustType}: Node reads no other; keytool -exportcert -rfc writes PEM`,
    );
  }
  const ca = properties.take("ssl.truststore.certificates") ?? trustFile;
  const keyType = properties.take("ssl.keystore.type") ?? "JKS";
  const keyFile = properties.file("ssl.keystore.location");
  if (keyFile !== undefined && keyType !== "PEM" && keyType !== "PKCS12") {
    refuse(
      `expected ${properties.nameOf("ssl.keystore.type")} to be PEM or PKCS12, found ${keyType}: Node reads no other; keytool -importkeystore writes PKCS12`,
    );
  }
  const [cert, key] = [properties.take("ssl.keystore.certificate.chain"), properties.take("ssl.keystore.key")];
  const [storePassword, keyPassword] = [properties.take("ssl.keystore.password"), properties.take("ssl.key.password")];
  Object.assign(
    ssl,
    ca && { ca },
    keyFile && (keyType === "PEM" ? { cert: keyFile, key: keyFile } : { pfx: keyFile }),
    cert && { cert },
    key && { key },
  );
  const passphrase = keyType === "PKCS12" ? (storePassword ?? keyPassword) : keyPassword;
  Object.assign(ssl, passphrase && { passphrase });
  const checksName =
    !properties.isThere("ssl.endpoint.identification.algorithm") || properties.take("ssl.endpoint.identification.algorithm") !== undefined;
  if (!checksName) {
    ssl.checkServerIdentity = () => undefined; // an empty algorithm: whoever wrote the file has turned it off
  }
  return Object.keys(ssl).length === 0 ? true : ssl;
}

function loginOf(properties: Properties): SASLOptions {
  const name = properties.take("sasl.mechanism") ?? "GSSAPI"; // Java's default
  const mechanism = mechanisms[name];
  if (mechanism === undefined) {
    return refuse(
      `expected ${properties.nameOf("sasl.mechanism")} to be ${Object.keys(mechanisms).join(", ")}, found ${name}: give kafkajs() the option sasl for any other`,
    );
  }
  return { mechanism, ...credentialsOf(properties) };
}

/** Java has both in one property. librdkafka has a property for each, and so has whoever writes variables by hand. */
function credentialsOf(properties: Properties): { readonly username: string; readonly password: string } {
  const [username, password] = [properties.take("sasl.username"), properties.take("sasl.password")];
  const [userName, passwordName, jaasName] = ["sasl.username", "sasl.password", "sasl.jaas.config"].map(properties.nameOf);
  if (username === undefined && password === undefined) {
    const jaas = properties.required("sasl.jaas.config");
    const [inJaas, passwordInJaas] = [jaasValue(jaas, "username"), jaasValue(jaas, "password")];
    return inJaas === undefined || passwordInJaas === undefined
      ? refuse(`expected ${jaasName} to have username="..." and password="..."`) // without its text, which may hold a password
      : { username: inJaas, password: passwordInJaas };
  }
  if (properties.take("sasl.jaas.config") !== undefined) {
    return refuse(`${jaasName} and ${username === undefined ? passwordName : userName} are two logins: give one of them`);
  }
  return username === undefined || password === undefined
    ? refuse(`expected ${userName} and ${passwordName}, found only ${username === undefined ? passwordName : userName}`)
    : { username, password };
}

/** `username="a"` of `...LoginModule required username="a" password="b";`, with `\"` for a quotation mark. */
function jaasValue(jaas: string, name: string): string | undefined {
  const [, quoted] = new RegExp(`\\s${name}\\s*=\\s*"((?:\\\\.|[^"\\\\])*)"`, "s").exec(jaas) ?? [];
  return quoted?.replace(/\\(.)/gs, "$1");
}
