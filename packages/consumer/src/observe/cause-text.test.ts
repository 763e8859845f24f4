import { expect, test } from "vitest";
import { causeText } from "./cause-text.ts";

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test.each([
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND registry.example"],
  ["EAI_AGAIN", "getaddrinfo EAI_AGAIN registry.example"],
  ["EPROTO", "write EPROTO"],
  ["UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match certificate's altnames"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "wrong version number"],
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify the first certificate"],
])("an error of the system, the network or a certificate with the code %s shows its message", (code, message) => {
  expect(causeText(coded(code, message))).toBe(message);
});

test.each(["EUSERTAKEN", "EMAIL", "E2", "ERR_ORDER", "toString", "__proto__"])(
  "an application's own error with the code %s shows its name and its code, because its message may hold data",
  (code) => {
    expect(causeText(coded(code, "ann@example.com is taken"))).toBe(`Error (${code})`);
  },
);

test("of an answer that a broker has refused, @platformatic/kafka's own words are shown: they say why", () => {
  const code = coded("PLT_KFK_PROTOCOL", "The instance ID is still used by another member in the consumer group.");
  const answer = Object.assign(new AggregateError([code], "Received response with error while executing API ConsumerGroupHeartbeat(v1)"), {
    code: "PLT_KFK_RESPONSE",
  });
  expect(causeText(answer)).toBe(
    "Received response with error while executing API ConsumerGroupHeartbeat(v1): The instance ID is still used by another member in the consumer group.",
  );
});

test("the innermost message that is shown stands for what a client says below it without one, and an application's own error for itself", () => {
  const client = Object.assign(new Error("Broker: Not enough in-sync replicas"), { code: 19 });
  const driver = Object.assign(new Error("[send-failed] writing to t failed: Broker: Not enough in-sync replicas", { cause: client }), {
    code: "send-failed",
  });
  const outer = Object.assign(new Error("[transaction-failed] nothing was written", { cause: driver }), { code: "transaction-failed" });
  expect(causeText(outer)).toBe(
    "[transaction-failed] nothing was written: [send-failed] writing to t failed: Broker: Not enough in-sync replicas",
  );
  const own = coded("EUSERTAKEN", "ann@example.com is taken");
  expect(causeText(Object.assign(new Error("[handler-failed] a handler failed", { cause: own }), { code: "handler-failed" }))).toBe(
    "[handler-failed] a handler failed: Error (EUSERTAKEN)",
  );
});
