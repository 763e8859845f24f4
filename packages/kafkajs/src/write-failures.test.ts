import { expect, test } from "vitest";
import { asFenced, writeFailures } from "./write-failures.ts";

/** As kafkajs gives up after its last attempt. */
function afterAllAttempts(type: string): Error {
  const cause = Object.assign(new Error("it broke"), { name: "KafkaJSProtocolError", type });
  return Object.assign(new Error("it broke"), { name: "KafkaJSNumberOfRetriesExceeded", cause });
}

test("a topic of which a partition has no leader is like brokers that are away: it can be written to when one of them is back", () => {
  const away = { cause: { code: "brokers-unreachable" } };
  expect(writeFailures.ofSend(afterAllAttempts("LEADER_NOT_AVAILABLE"), [])).toMatchObject(away);
  expect(writeFailures.ofTransaction(afterAllAttempts("LEADER_NOT_AVAILABLE"), [], "g")).toMatchObject(away);
  expect(writeFailures.ofSend(afterAllAttempts("MESSAGE_TOO_LARGE"), [])).toMatchObject({
    cause: { name: "KafkaJSNumberOfRetriesExceeded" },
  });
});

test.each(["CERT_HAS_EXPIRED", "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"])(
  "a certificate that is refused is no outage, which would be waited for without end: %s",
  (code) => {
    const cause = Object.assign(new Error("Connection error"), { name: "KafkaJSConnectionError", code });
    const error = Object.assign(new Error("Connection error"), { name: "KafkaJSNumberOfRetriesExceeded", cause });
    expect(writeFailures.ofSend(error, [])).toMatchObject({ cause: { name: "KafkaJSNumberOfRetriesExceeded" } });
    expect(writeFailures.ofTransaction(error, [], "g")).toMatchObject({ cause: { name: "KafkaJSNumberOfRetriesExceeded" } });
    const away = Object.assign(new Error("Connection error"), { ...cause, code: "ECONNREFUSED" });
    expect(writeFailures.ofSend(away, [])).toMatchObject({ cause: { code: "brokers-unreachable" } });
  },
);

test("what brokers lack for transactions is said by the name of their setting", () => {
  const reasonOf = (error: Error): string =>
    writeFailures.ofTransaction(error, [{ topic: "t", key: null, value: null, headers: [] }], "g").message;
  const tooLong = Object.assign(new Error("as configured by max.transaction.timeout.ms"), { type: "INVALID_TRANSACTION_TIMEOUT" });
  expect(reasonOf(tooLong)).toMatch(/no transaction as long as 60000 ms: set their transaction\.max\.timeout\.ms/);
  const notFound = Object.assign(new Error("Failed to find group coordinator"), { name: "KafkaJSGroupCoordinatorNotFound" });
  expect(reasonOf(notFound)).toMatch(/as many brokers as their transaction\.state\.log\.replication\.factor \(3 by default\)\?$/);
});

test("a producer that is fenced off may be that of a transaction that stood still: no other member needs to be there", () => {
  const error = Object.assign(new Error("Producer attempted an operation with an old epoch"), { type: "INVALID_PRODUCER_EPOCH" });
  expect(String(asFenced(error, []))).toContain("or the brokers have ended its transaction, which took longer than 60000 ms");
  const other = new Error("no leader");
  expect(asFenced(other, [])).toBe(other);
});
