import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { PlatformaticDriverError } from "./errors.ts";
import { explainFailure, isRefusal, isUnanswered } from "./explain-failure.ts";

/** An error as the client makes it. */
function clientError(
  code: string,
  message: string,
  more: { readonly cause?: unknown; readonly errors?: readonly unknown[]; readonly apiCode?: number } = {},
): Error {
  return Object.assign(new Error(message), { code, ...more });
}

const reading = { groupId: "stock", topics: ["rows"] };
const network = (cause: unknown): Error => clientError("PLT_KFK_NETWORK", "Connection to b:1 failed.", { cause });

test.each<[string, unknown, string, boolean]>([
  ["nobody listens", network(clientError("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1")), "brokers-unreachable", false],
  ["a connection that is ended", clientError("PLT_KFK_NETWORK", "Connection closed"), "brokers-unreachable", false],
  ["a wrong password", network(clientError("PLT_KFK_AUTHENTICATION", "SASL authentication failed.")), "authentication-failed", true],
  [
    "a connection that ends, or a broker that falls silent, in the midst of a login",
    network(
      clientError("PLT_KFK_AUTHENTICATION", "Cannot find a suitable SASL mechanism.", {
        cause: clientError("PLT_KFK_NETWORK", "Connection closed"),
      }),
    ),
    "brokers-unreachable",
    false,
  ],
  [
    "a mechanism that brokers do not have",
    network(
      clientError("PLT_KFK_AUTHENTICATION", "Cannot find a suitable SASL mechanism.", {
        cause: clientError("PLT_KFK_RESPONSE", "Received response with error", {
          errors: [clientError("PLT_KFK_PROTOCOL", "The broker does not support the requested mechanism.", { apiCode: 33 })],
        }),
      }),
    ),
    "authentication-failed",
    true,
  ],
  ["a listener that speaks TLS, in the words of version 2", clientError("PLT_KFK_USER", "Broker requires TLS."), "protocol-mismatch", true],
  ["an unknown authority", network(clientError("SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate")), "authentication-failed", true],
  [
    "the key of another certificate",
    clientError("ERR_OSSL_X509_KEY_VALUES_MISMATCH", "error:05800074:x509 certificate routines::key values mismatch"),
    "authentication-failed",
    true,
  ],
  [
    "a connection that is ended before TLS is there, as by a proxy whose broker is away",
    network(
      clientError("PLT_KFK_USER", "TLS handshake failed. Please verify the broker supports TLS.", {
        cause: clientError("ECONNRESET", "Client network socket disconnected before secure TLS connection was established"),
      }),
    ),
    "brokers-unreachable",
    false,
  ],
  ["TLS on a plain listener", network(clientError("EPROTO", "write EPROTO: wrong version number")), "protocol-mismatch", true],
  [
    "a right that is missing",
    clientError("PLT_KFK_RESPONSE", "Received response with error", {
      errors: [clientError("PLT_KFK_PROTOCOL", "Not authorized", { apiCode: 29 })],
    }),
    "not-authorized",
    false,
  ],
  ["anything else", new Error("it broke"), "client-crashed", false],
])("%s", (_, error, code, refused) => {
  expect([explainFailure(error, "b:1", reading).code, isRefusal(error)]).toEqual([code, refused]);
});

test("the reason is what the innermost error says, also if it is of another realm, as in Jest", () => {
  const foreign: unknown = runInNewContext("Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:2'), { code: 'ECONNREFUSED' })");
  expect(explainFailure(network(foreign), "b:1", reading).message).toContain("cannot reach brokers b:1: connect ECONNREFUSED 127.0.0.1:2.");
  const error = network(clientError("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1"));
  expect(explainFailure(error, "b:1", reading).message).toMatch(
    /cannot reach brokers b:1: connect ECONNREFUSED 127\.0\.0\.1:1\. Is Kafka running/,
  );
});

const ownWord = new PlatformaticDriverError("brokers-unreachable", "the broker took the connection for one that is not logged in");
const refusedLogin = network(clientError("PLT_KFK_AUTHENTICATION", "SASL authentication failed."));

test.each<[string, unknown, boolean]>([
  ["nobody listens", network(clientError("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1")), true],
  ["a connection that is ended", clientError("PLT_KFK_NETWORK", "Connection closed"), true],
  ["a request that took too long, by the code that the client means", clientError("PLT_KFK_TIMEOUT", "Request timed out"), true],
  ["a name that does not resolve, without the client's own error", clientError("ENOTFOUND", "getaddrinfo ENOTFOUND b"), true],
  ["what the driver says of a broker", ownWord, true],
  ["an answer with a code", clientError("PLT_KFK_PROTOCOL", "Not authorized", { apiCode: 29 }), false],
  ["a refused login", refusedLogin, false],
  ["a RangeError of an answer that cannot be read", new RangeError("Attempt to access memory outside buffer bounds"), false],
  ["a TypeError of a request", new TypeError("values.map is not a function"), false],
  ["any other error", new Error("it broke"), false],
  ["an application's error whose code is a number", Object.assign(new Error("it broke"), { code: 14 }), false],
  ["a request that the client does not know", clientError("PLT_KFK_UNSUPPORTED_API", "Unsupported API"), false],
])("whether nobody has answered is said, and not what is left of all errors: %s", (_, error, expected) => {
  expect(isUnanswered(error)).toBe(expected);
});
