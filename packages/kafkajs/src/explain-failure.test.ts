import * as kafkaJs from "kafkajs";
import { describe, expect, test } from "vitest";
import { KafkaJsDriverError } from "./errors.ts";
import { explainFailure } from "./explain-failure.ts";

type ErrorClass = new (error: unknown, options?: object) => Error;

// kafkajs' types leave the arguments of its errors out.
const {
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
  KafkaJSNumberOfRetriesExceeded,
  KafkaJSProtocolError,
  KafkaJSSASLAuthenticationError,
} = kafkaJs as unknown as Readonly<
  Record<
    | "KafkaJSConnectionError"
    | "KafkaJSNonRetriableError"
    | "KafkaJSNumberOfRetriesExceeded"
    | "KafkaJSProtocolError"
    | "KafkaJSSASLAuthenticationError",
    ErrorClass
  >
>;

const reading = { groupId: "stock", topics: ["shop.a"] };

describe("what kafkajs fails with, in words", () => {
  test("a refused connection names the brokers and what to look at, also behind retries", () => {
    const refused = new KafkaJSConnectionError("Connection error: connect ECONNREFUSED 127.0.0.1:1", { broker: "127.0.0.1:1" });
    const error = explainFailure(new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 5, retryTime: 1 }), "127.0.0.1:1", reading);
    expect(error.message).toBe(
      "[brokers-unreachable] cannot reach brokers 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. Is Kafka running, and is this address one of its advertised listeners?",
    );
  });

  test("an address that brokers advertise, and that cannot be reached, is named, and not those that were given", () => {
    const refused = new KafkaJSConnectionError("Connection error: getaddrinfo ENOTFOUND kafka", { broker: "kafka:29092" });
    const failure = new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 5, retryTime: 1 });
    expect(explainFailure(failure, "localhost:9092, localhost:9093", reading).message).toBe(
      "[brokers-unreachable] brokers localhost:9092, localhost:9093 tell clients to connect to kafka:29092, which fails here: getaddrinfo ENOTFOUND kafka. Is that broker running, and can this machine reach what it advertises? Set its advertised.listeners, or connectTo",
    );
    expect(explainFailure(failure, "localhost:9092, kafka:29092", reading).message).toContain(
      "cannot reach brokers localhost:9092, kafka:29092",
    );
  });

  test.each(["--1.ipv6-literal.net:9092", "::1:9092"])(
    "an IPv6 address that was given is not taken for one that brokers advertise: %s",
    (broker) => {
      const refused = new KafkaJSConnectionError("Connection error: connect ECONNREFUSED ::1:9092", { broker });
      expect(explainFailure(refused, "[::1]:9092", reading).message).toContain("cannot reach brokers [::1]:9092: connect ECONNREFUSED");
    },
  );

  test.each([
    ["CERT_HAS_EXPIRED", "the certificate that the broker shows has expired"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "the broker refused the certificate of the client, or wants one"],
    ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", "the broker refused the certificate of the client"],
  ])("a certificate that is refused while a consumer runs is no broker that is away: %s", (code, said) => {
    const refused = new KafkaJSConnectionError("Connection error: of TLS", { broker: "b:1", code });
    const error = explainFailure(new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 5, retryTime: 1 }), "b:1", reading);
    expect(error.code).toBe("authentication-failed");
    expect(error.message).toContain(`b:1: ${said}`);
  });

  test("refused credentials are told apart from a missing network", () => {
    const error = explainFailure(new KafkaJSSASLAuthenticationError("SASL PLAIN authentication failed"), "b:9092", reading);
    expect(error.code).toBe("authentication-failed");
    expect(error.message).toContain("Check sasl.mechanism");
  });

  test("a missing right says which one is needed", () => {
    const refusal = new KafkaJSProtocolError(
      Object.assign(new Error("Not authorized to access group"), { type: "GROUP_AUTHORIZATION_FAILED", code: 30 }),
    );
    const error = explainFailure(new KafkaJSNonRetriableError(refusal, { cause: refusal }), "b:9092", reading);
    expect(error.code).toBe("not-authorized");
    expect(error.message).toContain("The user needs Read on the group stock");
  });

  test("an error of the driver's own comes through as it is, however deep kafkajs has put it", () => {
    const own = new KafkaJsDriverError("batch-unreadable", "a snappy batch is damaged");
    expect(explainFailure(new KafkaJSNonRetriableError(own, { cause: own }), "b:9092", reading)).toBe(own);
  });

  test("anything else is a crash with its cause", () => {
    const cause = new Error("boom");
    const error = explainFailure(cause, "b:9092", reading);
    expect([error.code, error.cause]).toEqual(["client-crashed", cause]);
    expect(explainFailure("no error at all", "b:9092", reading).code).toBe("client-crashed");
  });
});
