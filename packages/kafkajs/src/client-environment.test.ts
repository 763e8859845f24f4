import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsumer, type ConsumerOptions } from "@cdckit/consumer";
import { createRegistry } from "@cdckit/registry";
import { describe, expect, test } from "vitest";
import { isKafkaJsDriverError, kafkajs, readClientEnvironment } from "./index.ts";

test("brokers, TLS, a login, the group, sizes and the registry become options of driver and consumer", () => {
  const read = readClientEnvironment({
    PATH: "/usr/bin",
    KAFKA_BOOTSTRAP_SERVERS: "broker-1:9093, broker-2:9093",
    KAFKA_SECURITY_PROTOCOL: "SASL_SSL",
    KAFKA_SASL_MECHANISM: "SCRAM-SHA-512",
    KAFKA_SASL_JAAS_CONFIG: 'org.apache.kafka.common.security.scram.ScramLoginModule required username="stock" password="secret";',
    KAFKA_GROUP_ID: "stock",
    KAFKA_CLIENT_ID: "stock-service",
    KAFKA_AUTO_OFFSET_RESET: "earliest",
    KAFKA_FETCH_MAX_BYTES: "5242880",
    KAFKA_KEY_DESERIALIZER: "org.apache.kafka.common.serialization.StringDeserializer",
    SCHEMA_REGISTRY_URL: "https://registry-1:8081,https://registry-2:8081",
    SCHEMA_REGISTRY_USERNAME: "reader",
    SCHEMA_REGISTRY_PASSWORD: "p:w",
  });
  expect(read).toEqual({
    connection: {
      brokers: ["broker-1:9093", "broker-2:9093"],
      ssl: true,
      sasl: { mechanism: "scram-sha-512", username: "stock", password: "secret" },
      clientId: "stock-service",
      maxBytes: 5_242_880,
    },
    groupId: "stock",
    from: "earliest",
    registry: { urls: ["https://registry-1:8081", "https://registry-2:8081"], auth: { basic: { username: "reader", password: "p:w" } } },
    ignored: ["KAFKA_KEY_DESERIALIZER"],
  });
  const options: Pick<ConsumerOptions, "registry"> = { ...(read.registry && { registry: read.registry }) };
  createConsumer({ driver: kafkajs(read.connection), groupId: "stock", topics: ["orders"], logger: false, ...options });
  expect(createRegistry(read.registry ?? {}).stats().urls).toEqual(["https://registry-1:8081", "https://registry-2:8081"]);
});

test("the short names are those of cdc-bench: a login and TLS without a protocol mean what they say", () => {
  const read = (env: Readonly<Record<string, string>>) => readClientEnvironment({ KAFKA_BROKERS: "localhost:9092", ...env }).connection;
  const login = { KAFKA_SASL_MECHANISM: "plain", KAFKA_SASL_USERNAME: "stock", KAFKA_SASL_PASSWORD: "secret\n" };
  const sasl = { mechanism: "plain", username: "stock", password: "secret" };
  expect(read({})).toEqual({ brokers: ["localhost:9092"] });
  expect(read({ KAFKA_SSL: "true" })).toEqual({ brokers: ["localhost:9092"], ssl: true });
  expect(read(login)).toEqual({ brokers: ["localhost:9092"], sasl });
  expect(read({ ...login, KAFKA_SSL: "true" })).toEqual({ brokers: ["localhost:9092"], ssl: true, sasl });
  expect(read({ ...login, KAFKA_SECURITY_PROTOCOL: "SASL_SSL" })).toEqual({ brokers: ["localhost:9092"], ssl: true, sasl });
  expect(read({ KAFKA_SASL_MECHANISM: "", KAFKA_SSL: " " })).toEqual({ brokers: ["localhost:9092"] });
});

test("certificates are files or texts, also in one line, and mean TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-environment-"));
  try {
    const file = join(folder, "ca.pem");
    writeFileSync(file, "a certificate");
    const env = { KAFKA_BROKERS: "a:1", KAFKA_SSL_CA: file, KAFKA_SSL_CERT: "-----BEGIN c\\nd", KAFKA_SSL_KEY: "-----BEGIN k" };
    expect(readClientEnvironment(env).connection.ssl).toEqual({ ca: "a certificate", cert: "-----BEGIN c\nd", key: "-----BEGIN k" });
  } finally {
    rmSync(folder, { recursive: true });
  }

  const env = { KAFKA_BROKERS: "a:1", KAFKA_SSL: "true", KAFKA_SSL_TRUSTSTORE_CERTIFICATES: "-----A-----\\nB\\n" };
  expect(readClientEnvironment(env).connection.ssl).toEqual({ ca: "-----A-----\nB" });
});

test("the registry takes a token, or user and password in one, as Java's clients do; without a URL there is none", () => {
  const read = (env: Readonly<Record<string, string>>) => readClientEnvironment({ KAFKA_BROKERS: "a:1", ...env }).registry;
  const url = { SCHEMA_REGISTRY_URL: "http://r:8081" };
  expect(read({})).toBeUndefined();
  expect(read(url)).toEqual({ urls: ["http://r:8081"] });
  expect(read({ ...url, SCHEMA_REGISTRY_TOKEN: "abc" })).toEqual({ urls: ["http://r:8081"], auth: { bearer: "abc" } });
  expect(read({ ...url, SCHEMA_REGISTRY_BEARER_AUTH_TOKEN: "abc" })).toEqual({ urls: ["http://r:8081"], auth: { bearer: "abc" } });
  expect(read({ ...url, SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO: "user:pass:word" })).toEqual({
    urls: ["http://r:8081"],
    auth: { basic: { username: "user", password: "pass:word" } },
  });
});

test("variables of other programs are ignored by their names: those of Kubernetes, of Kafka's scripts, of the service", () => {
  const env = {
    KAFKA_BROKERS: "kafka:9092",
    KAFKA_SERVICE_HOST: "10.0.0.7", // what Kubernetes sets for a service whose name is kafka
    KAFKA_PORT: "tcp://10.0.0.7:9092",
    KAFKA_PORT_9092_TCP_ADDR: "10.0.0.7",
    SCHEMA_REGISTRY_PORT: "tcp://10.0.0.8:8081",
    KAFKA_HEAP_OPTS: "-Xmx1G",
    KAFKA_OPTS: "-Dx=y",
    KAFKA_TOPIC: "orders",
    KAFKA_DEAD_LETTER_TOPIC: "dead",
  };
  const { ignored, ...read } = readClientEnvironment(env);
  expect(read).toEqual({ connection: { brokers: ["kafka:9092"] }, groupId: undefined, from: undefined, registry: undefined });
  expect(ignored.toSorted()).toEqual(
    Object.keys(env)
      .filter((name) => name !== "KAFKA_BROKERS")
      .toSorted(),
  );
});

test("what Kubernetes sets for a Service says nothing about TLS and a login, also if it is named kafka-ssl or kafka-sasl", () => {
  const links = ["KAFKA_SSL", "KAFKA_SASL", "SCHEMA_REGISTRY_SSL"].flatMap((service) => [
    [`${service}_SERVICE_HOST`, "10.0.0.7"],
    [`${service}_SERVICE_PORT`, "9093"],
    [`${service}_SERVICE_PORT_TCP_CLIENTS`, "9093"],
    [`${service}_PORT`, "tcp://10.0.0.7:9093"],
    [`${service}_PORT_9093_TCP`, "tcp://10.0.0.7:9093"],
    [`${service}_PORT_9093_TCP_PROTO`, "tcp"],
    [`${service}_PORT_9093_TCP_PORT`, "9093"],
    [`${service}_PORT_9093_TCP_ADDR`, "10.0.0.7"],
    [`${service}_PORT_9094_UDP_ADDR`, "10.0.0.7"],
  ]);
  const read = (more: Readonly<Record<string, string>>) =>
    readClientEnvironment({ KAFKA_BROKERS: "a:1", SCHEMA_REGISTRY_URL: "http://r", ...Object.fromEntries(links), ...more });
  const { connection, registry, ignored } = read({});
  expect({ connection, registry }).toEqual({ connection: { brokers: ["a:1"] }, registry: { urls: ["http://r"] } });
  expect(ignored.toSorted()).toEqual(links.map(([name]) => name).toSorted());
  const login = { KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_USERNAME: "u", KAFKA_SASL_PASSWORD: "p" };
  expect(read({ ...login, KAFKA_SECURITY_PROTOCOL: "SASL_SSL" }).connection).toMatchObject({ ssl: true, sasl: { username: "u" } });
});

test("a service with two clusters has a prefix for each", () => {
  const env = { SOURCE_KAFKA_BROKERS: "a:1", TARGET_BROKERS: "b:1", TARGET_REGISTRY_URL: "http://r", KAFKA_BROKERS: "c:1" };
  expect(readClientEnvironment(env, { prefix: "SOURCE_KAFKA_" }).connection).toEqual({ brokers: ["a:1"] });
  expect(readClientEnvironment(env, { prefix: "TARGET_", registryPrefix: "TARGET_REGISTRY_" })).toMatchObject({
    connection: { brokers: ["b:1"] },
    registry: { urls: ["http://r"] },
    ignored: [],
  });
});

describe("is refused, by the name of the variable and without a value that may be secret:", () => {
  const brokers = { KAFKA_BROKERS: "a:1" };
  const login = { ...brokers, KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_USERNAME: "secret-user", KAFKA_SASL_PASSWORD: "secret" };
  const registry = { ...brokers, SCHEMA_REGISTRY_URL: "http://r:8081" };
  const cases: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{}, "expected KAFKA_BROKERS or KAFKA_BOOTSTRAP_SERVERS, found none"],
    [
      { ...brokers, KAFKA_BOOTSTRAP_SERVERS: "b:1" },
      "KAFKA_BROKERS and KAFKA_BOOTSTRAP_SERVERS are two names of one setting, with two values",
    ],
    [{ ...brokers, KAFKA_GROUPID: "stock" }, "the variable KAFKA_GROUPID is not known; did you mean KAFKA_GROUP_ID?"],
    [{ ...brokers, KAFKA_SASL_PASWORD: "secret" }, "KAFKA_SASL"],
    [
      { ...registry, SCHEMA_REGISTRY_USER_NAME: "secret" },
      "SCHEMA_REGISTRY_USER_NAME is not known; did you mean SCHEMA_REGISTRY_USERNAME?",
    ],
    [
      { ...brokers, KAFKA_SECURITY_PROTOCOL: "TLS" },
      "expected KAFKA_SECURITY_PROTOCOL to be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
    ],
    [{ ...brokers, KAFKA_SSL: "secret" }, "expected KAFKA_SSL to be true or false"],
    [
      { ...brokers, KAFKA_SSL: "no", KAFKA_SSL_TRUSTSTORE_PASSWORD: "secret" },
      "KAFKA_SSL says that there is no TLS, and other variables say how",
    ],
    [{ ...brokers, KAFKA_SSL_CA: "/nowhere/secret" }, "the file that KAFKA_SSL_CA names cannot be read"],
    [
      { ...brokers, KAFKA_SSL: "true", KAFKA_SECURITY_PROTOCOL: "SSL" },
      "KAFKA_SSL and KAFKA_SECURITY_PROTOCOL are two names of one setting",
    ],
    [
      { ...brokers, KAFKA_SASL_USERNAME: "secret" },
      "expected KAFKA_SASL_MECHANISM to be PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, found GSSAPI",
    ],
    [
      { ...brokers, KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_USERNAME: "secret" },
      "expected KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, found only KAFKA_SASL_USERNAME",
    ],
    [{ ...login, KAFKA_SASL_JAAS_CONFIG: "secret" }, "KAFKA_SASL_JAAS_CONFIG and KAFKA_SASL_USERNAME are two logins: give one of them"],
    [
      { ...brokers, KAFKA_SASL_MECHANISM: "PLAIN", KAFKA_SASL_JAAS_CONFIG: "secret" },
      'expected KAFKA_SASL_JAAS_CONFIG to have username="..."',
    ],
    [{ ...login, KAFKA_SASL_LOGIN_CLASS: "secret" }, "KAFKA_SASL_LOGIN_CLASS cannot be read from variables: set it in code"],
    [
      { ...brokers, KAFKA_SSL: "true", KAFKA_SSL_ENABLED_PROTOCOLS: "TLSv1.3" },
      "KAFKA_SSL_ENABLED_PROTOCOLS cannot be read from variables",
    ],
    [
      { ...brokers, KAFKA_SSL: "true", KAFKA_SSL_TRUSTSTORE_LOCATION: "/nowhere/secret" },
      "the file that KAFKA_SSL_TRUSTSTORE_LOCATION names cannot be read",
    ],
    [{ ...brokers, KAFKA_SESSION_TIMEOUT_MS: "30s" }, "expected KAFKA_SESSION_TIMEOUT_MS to be a number"],
    [
      { ...registry, SCHEMA_REGISTRY_PASSWORD: "secret" },
      "expected SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, found only one of them",
    ],
    [
      { ...registry, SCHEMA_REGISTRY_PASSWORD: "secret", SCHEMA_REGISTRY_TOKEN: "secret" },
      "SCHEMA_REGISTRY_PASSWORD and SCHEMA_REGISTRY_TOKEN are two logins",
    ],
    [{ ...registry, SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO: "secret" }, "expected SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO to be user:password"],
    [{ ...brokers, SCHEMA_REGISTRY_TOKEN: "secret" }, "expected SCHEMA_REGISTRY_URL beside the registry's login, found none"],
    [
      { ...registry, SCHEMA_REGISTRY_CA: "secret" },
      "SCHEMA_REGISTRY_CA cannot be read: name the file of the registry's certificate in NODE_EXTRA_CA_CERTS",
    ],
  ];
  test.each(cases.map(([env, message]) => ({ env, message })))("$message", ({ env, message }) => {
    let error: unknown;
    try {
      readClientEnvironment(env);
    } catch (thrown) {
      error = thrown;
    }
    expect(isKafkaJsDriverError(error)).toBe(true);
    expect((error as Error).message).toContain("[invalid-option] ");
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain("secret");
  });
});
