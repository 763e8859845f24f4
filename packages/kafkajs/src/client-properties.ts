import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { SASLOptions } from "kafkajs";
import { KafkaJsDriverError } from "./errors.ts";
import type { KafkaJsConnection, KafkaJsTuning } from "./options.ts";
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
  const properties = new Properties(readProperties(text));
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
  return Object.freeze({
    connection: { brokers, ...tuning, ...(clientId && { clientId }), ...(protocol.tls && { ssl }), ...(sasl && { sasl }) },
    groupId: properties.take("group.id"),
    from,
    ignored: properties.rest(protocol),
  });
}

/** The properties that are left: each is taken once. */
class Properties {
  readonly #left: Map<string, string>;

  constructor(entries: ReadonlyMap<string, string>) {
    this.#left = new Map(entries);
  }

  /** Undefined if the property is not there, or empty. */
  take(name: string): string | undefined {
    const value = this.#left.get(name)?.trim();
    this.#left.delete(name);
    return value === "" ? undefined : value;
  }

  required(name: string): string {
    return this.take(name) ?? refuse(`expected ${name}, found none`);
  }

  /** The property is there, whatever it is: an empty one means something, too. */
  isThere(name: string): boolean {
    return this.#left.has(name);
  }

  choice<Choice>(name: string, choices: Readonly<Record<string, Choice>>): Choice | undefined {
    const value = this.take(name);
    if (value === undefined) {
      return undefined;
    }
    return Object.hasOwn(choices, value)
      ? choices[value]
      : refuse(`expected ${name} to be one of ${Object.keys(choices).join(", ")}, found ${JSON.stringify(value)}`);
  }

  number(name: string): number | undefined {
    const value = this.take(name);
    if (value !== undefined && !/^\d{1,15}$/.test(value)) {
      refuse(`expected ${name} to be a number`);
    }
    return value === undefined ? undefined : Number(value);
  }

  /** What is written in a file that a property names. */
  file(name: string): Buffer | undefined {
    const path = this.take(name);
    try {
      return path === undefined ? undefined : readFileSync(path);
    } catch (cause) {
      throw new KafkaJsDriverError("invalid-option", `the file that ${name} names cannot be read`, { cause });
    }
  }

  /** The names that nothing has taken. What would change how the connection is secured is refused. */
  rest({ tls, login }: { readonly tls: boolean; readonly login: boolean }): readonly string[] {
    const unknown = [...this.#left.keys()].find((name) => (tls && name.startsWith("ssl.")) || (login && name.startsWith("sasl.")));
    return unknown === undefined
      ? [...this.#left.keys()]
      : refuse(`${unknown} cannot be read from a file: set it in code, as an option of kafkajs()`);
  }
}

/** TLS as the properties say: certificates in PEM, in the properties or in files, or a key store of PKCS12. */
function tlsOf(properties: Properties): true | ConnectionOptions {
  const ssl: ConnectionOptions = {};
  const trustType = properties.take("ssl.truststore.type") ?? "JKS";
  properties.take("ssl.truststore.password");
  const trustFile = properties.file("ssl.truststore.location");
  if (trustFile !== undefined && trustType !== "PEM") {
    refuse(`expected ssl.truststore.type to be PEM, found ${trustType}: Node reads no other; keytool -exportcert -rfc writes PEM`);
  }
  const ca = properties.take("ssl.truststore.certificates") ?? trustFile;
  const keyType = properties.take("ssl.keystore.type") ?? "JKS";
  const keyFile = properties.file("ssl.keystore.location");
  if (keyFile !== undefined && keyType !== "PEM" && keyType !== "PKCS12") {
    refuse(`expected ssl.keystore.type to be PEM or PKCS12, found ${keyType}: Node reads no other; keytool -importkeystore writes PKCS12`);
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
      `expected sasl.mechanism to be ${Object.keys(mechanisms).join(", ")}, found ${name}: give kafkajs() the option sasl for any other`,
    );
  }
  const jaas = properties.required("sasl.jaas.config");
  const [username, password] = [jaasValue(jaas, "username"), jaasValue(jaas, "password")];
  if (username === undefined || password === undefined) {
    return refuse('expected sasl.jaas.config to have username="..." and password="..."'); // without its text, which may hold a password
  }
  return { mechanism, username, password };
}

/** `username="a"` of `...LoginModule required username="a" password="b";`, with `\"` for a quotation mark. */
function jaasValue(jaas: string, name: string): string | undefined {
  const [, quoted] = new RegExp(`\\s${name}\\s*=\\s*"((?:\\\\.|[^"\\\\])*)"`, "s").exec(jaas) ?? [];
  return quoted?.replace(/\\(.)/gs, "$1");
}

function refuse(detail: string): never {
  throw new KafkaJsDriverError("invalid-option", detail);
}
