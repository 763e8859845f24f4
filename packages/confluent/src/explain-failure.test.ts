import { expect, test } from "vitest";
import { noToken } from "./client-log.ts";
import { explainFailure } from "./explain-failure.ts";

const timedOut = Object.assign(new Error("Local: Timed out"), { code: -185 });

test.each<[string, number, string | null, string]>([
  [
    "nobody listens",
    -185,
    "b:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in state CONNECT)",
    "brokers-unreachable",
  ],
  ["nothing is logged", -195, null, "brokers-unreachable"],
  [
    "a wrong password",
    -185,
    "sasl_plaintext://b:1/bootstrap: SASL authentication error: Authentication failed: Invalid username or password",
    "authentication-failed",
  ],
  [
    "a broker that goes away while it is logged in to",
    -195,
    "sasl_plaintext://b:1/bootstrap: SASL authentication error: SaslAuthenticateRequest failed: Local: Broker transport failure (after 0ms in state DOWN)",
    "brokers-unreachable",
  ],
  [
    "a broker that goes away before the login",
    -195,
    "sasl_plaintext://b:1/bootstrap: SASL SCRAM-SHA-256 mechanism handshake failed: Local: Broker transport failure: broker's supported mechanisms: (n/a)",
    "brokers-unreachable",
  ],
  [
    "a mechanism that brokers do not have",
    -195,
    "sasl_plaintext://b:1/bootstrap: SASL SCRAM-SHA-512 mechanism handshake failed: Broker: Unsupported SASL mechanism: broker's supported mechanisms: PLAIN",
    "authentication-failed",
  ],
  [
    "a certificate that nobody knows",
    -185,
    "ssl://b:1/bootstrap: SSL handshake failed: error:0A000086:SSL routines::certificate verify failed",
    "authentication-failed",
  ],
  [
    "TLS on a plain listener",
    -185,
    "ssl://b:1/bootstrap: SSL handshake failed: error:0A00010B:SSL routines::wrong version number",
    "protocol-mismatch",
  ],
  [
    "plain on a TLS listener",
    -185,
    "b:1/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol configuration (connecting to a SSL listener?)",
    "protocol-mismatch",
  ],
  [
    "a certificate of the client that has expired",
    -195,
    "ssl://b:1/bootstrap: Receive failed: error:0A000416:SSL routines::sslv3 alert certificate unknown: SSL alert number 46",
    "authentication-failed",
  ],
  ["a token that cannot be had", -195, noToken, "authentication-failed"],
  ["a right that is missing", 29, null, "not-authorized"],
  ["anything else", -172, null, "client-crashed"],
])("%s", (_, code, line, expected) => {
  const error = explainFailure(
    Object.assign(new Error("Local: it failed"), { code }),
    "b:1",
    { lastFailure: line, fatal: null },
    { groupId: "stock", topics: ["rows"] },
  );
  expect(error.code).toBe(expected);
});

test.each([
  'No such configuration property: "socket.timeout"',
  'Invalid value for configuration property "socket.timeout.ms"',
  'Configuration property "socket.timeout.ms" value 1 is outside allowed range 10..300000\n',
  'Property "dr_cb" must be set through dedicated .._set_..() function',
  "`max.poll.interval.ms` must be >= `session.timeout.ms`",
  "not in pem format?",
])("a property that librdkafka does not take is an option that is wrong: %s", (message) => {
  const error = explainFailure(new Error(message), "b:1", { lastFailure: null, fatal: null }, { groupId: "stock", topics: ["rows"] });
  expect(error).toMatchObject({
    code: "invalid-option",
    message: expect.stringContaining(`configuration: ${message.trim().replace("?", "")}. Check`) as string,
  });
});

test("the reason is what librdkafka has logged", () => {
  expect(
    explainFailure(timedOut, "b:1", { lastFailure: "Connection refused", fatal: null }, { groupId: "stock", topics: ["rows"] }).message,
  ).toMatch(/cannot reach brokers b:1: Connection refused\. Is Kafka running/);
});

test.each([
  [
    "Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: Fatal consumer error",
    "fenced",
    "the same groupInstanceId, and has taken this one's place",
  ],
  [
    "Fatal error: Broker: The instance ID is still used by another member in the consumer group",
    "fenced",
    "the same groupInstanceId, and the group did not let this one in",
  ],
  [
    "Fatal error: Broker: Group authorization failed: ConsumerGroupHeartbeat fatal error: Broker: Group authorization failed",
    "not-authorized",
    "The user needs Read on the group stock",
  ],
  ["Fatal error: Broker: something else", "client-crashed", "something else"],
])("an end that is only logged has its reason: %s", (fatal, code, detail) => {
  const error = explainFailure(
    Object.assign(new Error("Local: Fatal error"), { code: -150 }),
    "b:1",
    { lastFailure: null, fatal },
    { groupId: "stock", topics: ["rows"] },
  );
  expect([error.code, error.message.includes(detail)]).toEqual([code, true]);
});
