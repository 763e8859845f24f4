import { inspect } from "node:util";
import { expect, test } from "vitest";
import { explainFailure, isRefusal } from "./explain-failure.ts";
import { type PlatformaticOptions, resolvePlatformaticOptions } from "./options.ts";
import { connectionOptions, platformatic } from "./platformatic.ts";

const brokers = ["b:9092"];

test("what is left out gets its default", () => {
  expect(resolvePlatformaticOptions({ brokers }).tuning).toMatchObject({ sessionTimeoutMs: 30_000, maxWaitMs: 500 });
});

test("what batches may become reaches the reader of records, and is asked of each batch if nobody says it", () => {
  expect(resolvePlatformaticOptions({ brokers, maxDecompressedBytes: 7 }).tuning.decompression).toEqual({ maxDecompressedBytes: 7 });
  expect(resolvePlatformaticOptions({ brokers }).tuning.decompression).toEqual({});
});

test("the classic protocol is the default, and with the other one the brokers' usual session timeout", () => {
  expect(platformatic({ brokers }).capabilities.kip848).toBe(false);
  expect(platformatic({ brokers, groupProtocol: "consumer" }).capabilities.kip848).toBe(true);
  expect(resolvePlatformaticOptions({ brokers }).tuning).toMatchObject({ groupProtocol: "classic", sessionTimeoutMs: 30_000 });
  const tuning = { groupProtocol: "consumer", sessionTimeoutMs: 45_000 };
  expect(resolvePlatformaticOptions({ brokers, groupProtocol: "consumer" }).tuning).toMatchObject(tuning);
});

test("a login is passed on in the client's words, and TLS as Node takes it", () => {
  const sasl = { mechanism: "scram-sha-512", username: "u", password: "p" } as const;
  expect(connectionOptions({ brokers, sasl, ssl: true })).toEqual({ tls: {}, sasl: { ...sasl, mechanism: "SCRAM-SHA-512" } });
  expect(connectionOptions({ brokers, ssl: false })).toEqual({});
});

/** The function for a token that the client gets for this one. */
function tokenOf(token: () => Promise<string>): () => Promise<string> {
  const { sasl } = connectionOptions({ brokers, sasl: { mechanism: "oauthbearer", token } });
  return sasl?.token as typeof token;
}

test("a function gives a credential to each connection, and only text gets through it", async () => {
  const given: unknown[] = ["first", "second", "", undefined];
  const token = async (): Promise<string> => given.shift() as string;
  const ask = tokenOf(token);
  expect([await ask(), await ask()]).toEqual(["first", "second"]);
  await expect(ask()).rejects.toThrow("expected the function sasl.token to give a text, found an empty text");
  await expect(ask()).rejects.toThrow("found undefined");
});

test.each<[string, () => Promise<string>]>([
  ["rejects", () => Promise.reject(new TypeError("secret123"))],
  [
    "throws",
    () => {
      throw new TypeError("secret123");
    },
  ],
])("nothing of what a function for a credential %s with is shown, and it is no refusal of the brokers", async (_, token) => {
  const ofClient = await tokenOf(token)().catch((cause: unknown) =>
    Object.assign(new Error("the provider threw an error", { cause }), { code: "PLT_KFK_AUTHENTICATION" }),
  );
  const error = explainFailure(ofClient, "b:9092", { groupId: "stock", topics: ["rows"] });
  expect(error).toMatchObject({ code: "authentication-failed", message: expect.stringContaining("found TypeError thrown") as string });
  expect(inspect(ofClient, { depth: 10 })).not.toContain("secret123");
  expect(isRefusal(ofClient)).toBe(false);
});

test.each<[string, object, string]>([
  ["no brokers", {}, "brokers"],
  ["an address without a port", { brokers: ["broker-1"] }, 'brokers[0] must be "host:port"'],
  ["several addresses in one text", { brokers: ["a:1,b:2"] }, 'brokers[0] must be "host:port"'],
  ["a misspelt option", { brokers, maxQueudBytes: 1 }, "did you mean maxQueuedBytes?"],
  ["a text as a number", { brokers, maxWaitMs: "7" }, "expected maxWaitMs to be a positive integer"],
  ["more bytes than a request can ask for", { brokers, maxBytesPerPartition: 3_000_000_000 }, "at most 2147483647, found 3000000000"],
  ["a time that no timer can wait", { brokers, metadataMaxAgeMs: 2 ** 31 }, "a positive integer, at most 2147483647, found 2147483648"],
  [
    "batches larger than can be read",
    { brokers, maxDecompressedBytes: 2 ** 30 + 1 },
    "expected maxDecompressedBytes to be a positive integer",
  ],
  ["heartbeats that are too rare", { brokers, heartbeatIntervalMs: 30_000 }, "heartbeatIntervalMs"],
  ["an unknown mechanism", { brokers, sasl: { mechanism: "plan", username: "u", password: "secret" } }, "did you mean plain?"],
  ["an empty password", { brokers, sasl: { mechanism: "plain", username: "u", password: "" } }, "found an empty text"],
  ["a token for a mechanism with passwords", { brokers, sasl: { mechanism: "plain", token: "secret" } }, "sasl.token is no option"],
  ["a protocol that is none", { brokers, groupProtocol: "eager" }, "groupProtocol"],
  ["an empty instance id", { brokers, groupInstanceId: "" }, "groupInstanceId"],
  ["no options at all", undefined as never, "platformatic() expects an object of options"],
  ["an empty rack", { brokers, rackId: "" }, "rackId"],
  ["a client that is none", { brokers, client: "@platformatic/kafka" }, "expected client to be the module"],
])("%s is refused, and the message names it", (_, options, text) => {
  expect(() => resolvePlatformaticOptions(options as PlatformaticOptions)).toThrow(
    expect.objectContaining({ code: "invalid-option", message: expect.stringContaining(text) as string }),
  );
  expect(() => resolvePlatformaticOptions(options as PlatformaticOptions)).not.toThrow(/secret/);
});
