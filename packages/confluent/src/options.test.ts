import { describe, expect, test } from "vitest";
import { confluent } from "./confluent.ts";
import { type ConfluentOptions, resolveConfluentOptions } from "./options.ts";
import { connectionProperties, consumerProperties, producerProperties } from "./properties.ts";

const brokers = ["b:9092"];

describe("options of the driver for Confluent's client", () => {
  test("what is left out gets its default", () => {
    expect(resolveConfluentOptions({ brokers }).tuning).toMatchObject({
      sessionTimeoutMs: 30_000,
      maxWaitMs: 500,
      groupProtocol: "classic",
    });
  });

  test("the protocol of KIP-848 has the brokers' session timeout, and sends none of its own", () => {
    const resolved = resolveConfluentOptions({ brokers, groupProtocol: "consumer" });
    expect(resolved.tuning.sessionTimeoutMs).toBe(45_000);
    expect(Object.keys(consumerProperties(resolved, "g"))).not.toContain("session.timeout.ms");
    expect(confluent({ brokers, groupProtocol: "consumer" }).capabilities.kip848).toBe(true);
  });

  test("a login over TLS is one of librdkafka's protocols", () => {
    const sasl = { mechanism: "scram-sha-512", username: "u", password: "p" } as const;
    expect(connectionProperties({ brokers, sasl, ssl: { ca: "PEM" } })).toMatchObject({
      "security.protocol": "sasl_ssl",
      "sasl.mechanisms": "SCRAM-SHA-512",
      "ssl.ca.pem": "PEM",
      "enable.ssl.certificate.verification": true,
    });
    expect(connectionProperties({ brokers })).not.toHaveProperty("security.protocol");
  });

  const sasl = { mechanism: "plain", username: "u", password: "secret" } as const;
  test.each<[string, Partial<ConfluentOptions>, string | undefined]>([
    ["a login, and TLS by the properties", { sasl, properties: { "security.protocol": "sasl_ssl" } }, "sasl_ssl"],
    ["a login, and TLS in capital letters", { sasl, properties: { "security.protocol": "SASL_SSL" } }, "sasl_ssl"],
    ["TLS, and a login by the properties", { ssl: true, properties: { "security.protocol": "sasl_ssl" } }, "sasl_ssl"],
    ["TLS, and a mechanism by the properties", { ssl: true, properties: { "sasl.mechanisms": "OAUTHBEARER" } }, "sasl_ssl"],
    ["a mechanism by its other name", { properties: { "sasl.mechanism": "GSSAPI" } }, "sasl_plaintext"],
    ["TLS by the properties alone", { properties: { "security.protocol": "ssl" } }, "ssl"],
    ["no TLS", { ssl: false, sasl, properties: { "security.protocol": "sasl_plaintext" } }, "sasl_plaintext"],
    ["neither", { ssl: false, properties: { "security.protocol": "plaintext" } }, "plaintext"],
  ])("%s: neither takes the other away", (_, options, protocol) => {
    const { connection } = resolveConfluentOptions({ brokers, ...options });
    expect(connectionProperties(connection)["security.protocol"]).toBe(protocol);
  });

  test("an answer is waited for for 20 s, for longer if brokers hold fetches back for longer, and for as long as the properties say", () => {
    const timeoutOf = (options: Partial<ConfluentOptions>): unknown =>
      consumerProperties(resolveConfluentOptions({ brokers, ...options }), "g")["socket.timeout.ms"];
    expect([timeoutOf({}), timeoutOf({ maxWaitMs: 30_000 })]).toEqual([20_000, 35_000]);
    expect(timeoutOf({ properties: { "socket.timeout.ms": 60_000 } })).toBe(60_000);
  });

  test("a producer takes what brokers take, unless the properties say less: topics have limits of their own", () => {
    const maxBytesOf = (options: Partial<ConfluentOptions>): unknown =>
      producerProperties(resolveConfluentOptions({ brokers, ...options }).connection)["message.max.bytes"];
    expect(maxBytesOf({})).toBe(104_857_600);
    expect(maxBytesOf({ properties: { "message.max.bytes": 5_000 } })).toBe(5_000);
  });

  test("without checksums the driver says so", () => {
    expect(confluent({ brokers }).capabilities.crc).toBe(true);
    expect(confluent({ brokers, properties: { "check.crcs": false } }).capabilities.crc).toBe(false);
  });

  test.each<[string, object, string]>([
    ["no brokers", {}, "brokers"],
    ["an address without a port", { brokers: ["broker-1"] }, 'brokers[0] must be "host:port"'],
    ["several addresses in one text", { brokers: ["a:1,b:2"] }, 'brokers[0] must be "host:port"'],
    ["a misspelt option", { brokers, maxQueudBytes: 1 }, "did you mean maxQueuedBytes?"],
    ["a text as a number", { brokers, maxWaitMs: "7" }, "expected maxWaitMs to be a positive integer"],
    ["a time that no timer can wait", { brokers, metadataMaxAgeMs: 2 ** 31 }, "a positive integer, at most 2147483647, found 2147483648"],
    ["heartbeats that are too rare", { brokers, heartbeatIntervalMs: 30_000 }, "heartbeatIntervalMs"],
    ["a rebalance shorter than a session", { brokers, rebalanceTimeoutMs: 1_000 }, "rebalanceTimeoutMs"],
    ["an unknown mechanism", { brokers, sasl: { mechanism: "plan", username: "u", password: "secret" } }, "did you mean plain?"],
    ["an empty password", { brokers, sasl: { mechanism: "plain", username: "u", password: "" } }, "found an empty text"],
    ["a certificate as bytes", { brokers, ssl: { ca: Buffer.from("x") } }, "expected ssl.ca to be a text"],
    ["a property that a promise rests on", { brokers, properties: { "enable.auto.commit": true } }, "enable.auto.commit"],
    ["a property that is no value", { brokers, properties: { debug: {} } }, 'properties["debug"]'],
    [
      "a login in clear text beside TLS",
      { brokers, ssl: true, sasl, properties: { "security.protocol": "sasl_plaintext" } },
      "to be sasl_ssl",
    ],
    ["TLS that is off and on", { brokers, ssl: false, properties: { "security.protocol": "ssl" } }, "to be plaintext or sasl_plaintext"],
    [
      "a login over a protocol without one",
      { brokers, sasl, properties: { "security.protocol": "ssl" } },
      "to be sasl_plaintext or sasl_ssl",
    ],
    [
      "a mechanism over a protocol without a login",
      { brokers, properties: { "security.protocol": "ssl", "sasl.mechanisms": "OAUTHBEARER" } },
      "to be sasl_plaintext or sasl_ssl",
    ],
    [
      "a security protocol that is none",
      { brokers, properties: { "security.protocol": "tls" } },
      "to be plaintext or ssl or sasl_plaintext",
    ],
    ["two mechanisms", { brokers, sasl, properties: { "sasl.mechanisms": "OAUTHBEARER" } }, 'properties["sasl.mechanisms"]'],
    ["two passwords", { brokers, sasl, properties: { "sasl.password": "secret" } }, 'properties["sasl.password"]'],
    ["a protocol that is none", { brokers, groupProtocol: "eager" }, "groupProtocol"],
    ["no options at all", undefined as never, "confluent() expects an object of options"],
    ["an empty instance id", { brokers, groupInstanceId: "" }, "groupInstanceId"],
  ])("%s is refused, and the message names it", (_, options, text) => {
    expect(() => resolveConfluentOptions(options as ConfluentOptions)).toThrow(
      expect.objectContaining({ code: "invalid-option", message: expect.stringContaining(text) as string }),
    );
    expect(() => resolveConfluentOptions(options as ConfluentOptions)).not.toThrow(/secret/);
  });
});
