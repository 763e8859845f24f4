import { Kafka, logLevel } from "kafkajs";
import { describe, expect, test } from "vitest";
import { kafkajs } from "./kafkajs.ts";
import { type KafkaJsOptions, resolveKafkaJsOptions } from "./options.ts";

const kafka = new Kafka({ brokers: ["localhost:9092"], logLevel: logLevel.NOTHING });

describe("options of the kafkajs driver", () => {
  test("what is left out gets its default", () => {
    expect(resolveKafkaJsOptions({ brokers: ["b:9092"] }).tuning).toMatchObject({ sessionTimeoutMs: 30_000, maxWaitMs: 500 });
  });

  test("connection options reach kafkajs as they are, tuning does not", () => {
    const resolved = resolveKafkaJsOptions({ brokers: ["b:9092"], clientId: "me", ssl: true, maxWaitMs: 7 });
    expect(resolved.client).toEqual({ kind: "made", config: { brokers: ["b:9092"], clientId: "me", ssl: true } });
    expect(resolved.tuning.maxWaitMs).toBe(7);
  });

  test("what batches may become reaches the reader of records, and is asked of each batch if nobody says it", () => {
    const codecs = { gzip: (bytes: Uint8Array) => bytes };
    const { tuning } = resolveKafkaJsOptions({ brokers: ["b:9092"], maxDecompressedBytes: 7, codecs });
    expect(tuning.decompression).toEqual({ codecs, maxDecompressedBytes: 7 });
    expect(resolveKafkaJsOptions({ kafka, maxDecompressedBytes: 8 }).tuning.decompression).toEqual({ codecs: {}, maxDecompressedBytes: 8 });
    expect(resolveKafkaJsOptions({ brokers: ["b:9092"] }).tuning.decompression).toEqual({ codecs: {} });
  });

  test("a client of one's own is used as it is", () => {
    expect(resolveKafkaJsOptions({ kafka }).client).toEqual({ kind: "own", kafka });
  });

  test.each<[string, unknown, string]>([
    ["no brokers", {}, "brokers"],
    ["an empty list", { brokers: [] }, "brokers"],
    ["one text instead of a list", { brokers: "b:9092" }, "brokers"],
    [
      "an address without a port",
      { brokers: ["broker-1"] },
      'brokers[0] must be "host:port", such as "localhost:9092", without a scheme or a user: "broker-1" has no port',
    ],
    [
      "a port that is none",
      { brokers: ["b:9092", "b:port"] },
      'brokers[1] must be "host:port", such as "localhost:9092", without a scheme or a user: the port of "b:port" cannot be read',
    ],
    ["several addresses in one text", { brokers: ["a:1,b:2"] }, "make each an item of the list"],
    [
      "an option of kafkajs that is misspelt",
      { brokers: ["b:9092"], conectionTimeout: 1 },
      "conectionTimeout is no option; did you mean connectionTimeout?",
    ],
    ["kafkajs' own name of a setting", { brokers: ["b:9092"], sessionTimeout: 1 }, "did you mean sessionTimeoutMs?"],
    ["a misspelt retry", { brokers: ["b:9092"], retry: { retires: 1 } }, "retry.retires is no option; did you mean retries?"],
    [
      "a time that no timer can wait",
      { brokers: ["b:9092"], metadataMaxAgeMs: 2 ** 31 },
      "a positive integer, at most 2147483647, found 2147483648",
    ],
    ["an option that is nothing like any", { brokers: ["b:9092"], xyz: 1 }, "xyz is no option; there are brokers, ssl, sasl"],
    ["codecs that are none", { brokers: ["b:9092"], codecs: "gzip" }, "expected codecs to be an object of functions, found gzip"],
    ["an unknown compression", { brokers: ["b:9092"], codecs: { brotli: () => {} } }, "codecs.brotli is no compression of Kafka's"],
    [
      "a codec that is no function",
      { brokers: ["b:9092"], codecs: { gzip: true } },
      "expected codecs.gzip to be a function, found boolean",
    ],
    ["a static member", { brokers: ["b:9092"], groupInstanceId: "a" }, "groupInstanceId is not taken: kafkajs joins groups without a"],
    ["a protocol of groups", { brokers: ["b:9092"], groupProtocol: "consumer" }, "groupProtocol is not taken: kafkajs speaks the classic"],
    ["sockets of one's own", { brokers: ["b:9092"], socketFactory: () => {} }, "socketFactory is not taken: the driver makes the sockets"],
    [
      "an unknown mechanism",
      { brokers: ["b:9092"], sasl: { mechanism: "scram-sha256", username: "u", password: "p" } },
      "did you mean scram-sha-256?",
    ],
    [
      "a password that is not there",
      { brokers: ["b:9092"], sasl: { mechanism: "plain", username: "u", password: undefined } },
      "is it read from an environment variable that is not set?",
    ],
    ["a token without who brings it", { brokers: ["b:9092"], sasl: { mechanism: "oauthbearer" } }, "sasl.oauthBearerProvider"],
    ["options that are none", undefined, '() expects an object of options, such as { brokers: ["localhost:9092"] }, found undefined'],
    ["an address in their place", "b:9092", "found string"],
    ["a broker of a variable that is not set", { brokers: [undefined] }, "is it read from an environment variable that is not set?"],
    ["a rack that is no text", { brokers: ["b:9092"], rackId: 1 }, "expected rackId to be a text, found 1"],
    [
      "fetches that no response may bring",
      { brokers: ["b:9092"], maxBytes: 524_288_001 },
      "expected maxBytes to be a positive integer, at most 524288000",
    ],
    [
      "fetches of a partition that no response may bring",
      { brokers: ["b:9092"], maxBytesPerPartition: 2 ** 31 },
      "expected maxBytesPerPartition to be a positive integer, at most 524288000, found 2147483648",
    ],
    [
      "batches that are larger than can be read",
      { brokers: ["b:9092"], maxDecompressedBytes: 2 ** 30 + 1 },
      "expected maxDecompressedBytes to be a positive integer, at most 1073741824, found 1073741825",
    ],
    ["a time of no length", { brokers: ["b:9092"], maxWaitMs: 0 }, "maxWaitMs"],
    ["beats rarer than the session", { brokers: ["b:9092"], heartbeatIntervalMs: 9, sessionTimeoutMs: 9 }, "heartbeatIntervalMs"],
    ["a client and connection options", { kafka, clientId: "me" }, "clientId"],
    ["a client that is none", { kafka: {} }, "instance of kafkajs' Kafka"],
  ])("%s is refused with what was expected", (_name, options, part) => {
    expect(() => kafkajs(options as KafkaJsOptions)).toThrow(part);
  });

  test("an address that holds a password is not repeated", () => {
    expect(() => kafkajs({ brokers: ["kafka://user:canary@host:9092"] })).toThrow(/^(?!.*canary).*it looks like a URL$/);
  });

  test("mechanisms are taken as kafkajs takes them, one of the user's own too", () => {
    const mechanisms = [
      { mechanism: "SCRAM-SHA-512", username: "u", password: "p" },
      { mechanism: "mine", authenticationProvider: () => ({ authenticate: async () => {} }) },
    ];
    for (const sasl of mechanisms) {
      expect(resolveKafkaJsOptions({ brokers: ["b:9092"], sasl } as unknown as KafkaJsOptions).client.kind).toBe("made");
    }
  });

  test("nothing is connected before it is asked for", () => {
    expect(kafkajs({ brokers: ["127.0.0.1:1"] })).toMatchObject({ name: "kafkajs", capabilities: { crc: true, cooperative: false } });
    expect(kafkajs({ kafka: { consumer: () => {} } } as unknown as KafkaJsOptions).capabilities.crc).toBe(true);
  });
});
