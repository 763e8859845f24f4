import { expect, test } from "vitest";
import { writeFailures } from "./write-failures.ts";

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
