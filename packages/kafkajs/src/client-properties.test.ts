import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isKafkaJsDriverError, kafkajs, readClientProperties } from "./index.ts";
import { readProperties } from "./properties-text.ts";

describe("a properties file is read as Java reads it:", () => {
  const cases: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ["separators", "a=1\nb:2\nc 3\nd = 4\ne", { a: "1", b: "2", c: "3", d: "4", e: "" }],
    ["comments, blank lines and indentation", "# a=1\n  ! b=2\n\n  c=3#4", { c: "3#4" }],
    ["lines that go on", "a=1,\\\n   2,\\\r\n3\nb=4\\\\\nc=5", { a: "1,2,3", b: "4\\", c: "5" }],
    ["escapes", "a\\ b\\:c=\\t\\u00e9\\q=x", { "a b:c": "\té" + "q=x" }],
    ["the last of a name", "a=1\na=2", { a: "2" }],
    ["names of objects", "__proto__=1\nconstructor=2", { constructor: "2", ["__proto__"]: "1" }],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => expect(readProperties(text)).toEqual(new Map(Object.entries(expected))));
  }
});

test("brokers, TLS, a login, the group and sizes become options of the driver and the consumer", () => {
  const read = readClientProperties(`
    # Confluent Cloud
    bootstrap.servers=broker-1:9093, broker-2:9093
    security.protocol=SASL_SSL
    sasl.mechanism=SCRAM-SHA-512
    sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
      username="stock" password="se\\\\"cret;=";
    client.id=stock-service
    group.id=stock
    auto.offset.reset=earliest
    session.timeout.ms=45000
    fetch.max.bytes=5242880
    request.timeout.ms=20000
    key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
  `);
  expect(read).toEqual({
    connection: {
      brokers: ["broker-1:9093", "broker-2:9093"],
      ssl: true,
      sasl: { mechanism: "scram-sha-512", username: "stock", password: 'se"cret;=' },
      clientId: "stock-service",
      sessionTimeoutMs: 45_000,
      maxBytes: 5_242_880,
      requestTimeout: 20_000,
    },
    groupId: "stock",
    from: "earliest",
    ignored: ["key.deserializer"],
  });
  expect(() => kafkajs(read.connection)).not.toThrow();
});

test("without security.protocol nothing is encrypted, as in Java, and what there is for TLS has no effect", () => {
  const read = readClientProperties("bootstrap.servers=localhost:9092\nssl.truststore.type=PEM\nssl.truststore.certificates=PEM");
  expect(read).toEqual({ connection: { brokers: ["localhost:9092"] }, groupId: undefined, from: undefined, ignored: [] });
});

test("certificates come from the properties, from PEM files and from PKCS12", () => {
  const folder = mkdtempSync(join(tmpdir(), "cdckit-properties-"));
  try {
    const [pem, store] = [join(folder, "ca.pem"), join(folder, "key.p12")];
    writeFileSync(pem, "ca in a file");
    writeFileSync(store, "a store");
    const ssl = (lines: string) => readClientProperties(`bootstrap.servers=a:1\nsecurity.protocol=SSL\n${lines}`).connection.ssl;
    expect(ssl(`ssl.truststore.type=PEM\nssl.truststore.location=${pem}`)).toEqual({ ca: Buffer.from("ca in a file") });
    expect(ssl(`ssl.keystore.type=PKCS12\nssl.keystore.location=${store}\nssl.keystore.password=p`)).toEqual({
      pfx: Buffer.from("a store"),
      passphrase: "p",
    });
    expect(
      ssl(
        "ssl.truststore.type=PEM\nssl.truststore.certificates=ca\nssl.keystore.type=PEM\nssl.keystore.certificate.chain=cert\nssl.keystore.key=key\nssl.key.password=p",
      ),
    ).toEqual({
      ca: "ca",
      cert: "cert",
      key: "key",
      passphrase: "p",
    });
    expect(ssl("ssl.endpoint.identification.algorithm=https")).toBe(true);
    const unchecked = ssl("ssl.endpoint.identification.algorithm=") as import("node:tls").ConnectionOptions;
    expect(unchecked.checkServerIdentity?.("host", {} as never)).toBeUndefined();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("is refused, and no value that may be secret is in the message:", () => {
  const login = 'sasl.jaas.config=PlainLoginModule required username="u" password="secret";';
  const cases: readonly (readonly [string, string])[] = [
    ["group.id=a", "expected bootstrap.servers, found none"],
    [
      "bootstrap.servers=a:1\nsecurity.protocol=TLS",
      'expected security.protocol to be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, found "TLS"',
    ],
    [
      "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL",
      "expected sasl.mechanism to be PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, found GSSAPI",
    ],
    [
      "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=AWS_MSK_IAM",
      "found AWS_MSK_IAM: give kafkajs() the option sasl for any other",
    ],
    ["bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "expected sasl.jaas.config, found none"],
    [
      "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=x password=secret;",
      'expected sasl.jaas.config to have username="..."',
    ],
    [
      `bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n${login}\nsasl.login.class=x`,
      "sasl.login.class cannot be read from a file",
    ],
    ["bootstrap.servers=a:1\nsecurity.protocol=SSL\nssl.enabled.protocols=TLSv1.3", "ssl.enabled.protocols cannot be read from a file"],
    [
      "bootstrap.servers=a:1\nsecurity.protocol=SSL\nssl.truststore.location=/nowhere/trust.jks",
      "the file that ssl.truststore.location names cannot be read",
    ],
    ["bootstrap.servers=a:1\nauto.offset.reset=none", 'expected auto.offset.reset to be one of earliest, latest, found "none"'],
    ["bootstrap.servers=a:1\nsession.timeout.ms=30s", "expected session.timeout.ms to be a number"],
  ];
  for (const [text, message] of cases) {
    test(message, () => {
      let error: unknown;
      try {
        readClientProperties(text);
      } catch (thrown) {
        error = thrown;
      }
      expect(isKafkaJsDriverError(error)).toBe(true);
      expect((error as Error).message).toContain(`[invalid-option] `);
      expect((error as Error).message).toContain(message);
      expect((error as Error).message).not.toContain("secret");
    });
  }
});
