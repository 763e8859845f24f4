import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { explainFailure } from "./explain-failure.ts";
import { loginOf } from "./login.ts";

/** The function for a token that kafkajs gets for this one. */
function providerOf(oauthBearerProvider: () => Promise<{ value: string }>): () => Promise<unknown> {
  const login = loginOf(Object.freeze({ mechanism: "oauthbearer", oauthBearerProvider }));
  return "oauthBearerProvider" in login ? login.oauthBearerProvider : () => Promise.resolve();
}

test("kafkajs may write into the login that it gets", () => {
  const sasl = Object.freeze({ mechanism: "plain", username: "u", password: "p" } as const);
  expect(Object.assign(loginOf(sasl), { more: true })).toEqual({ ...sasl, more: true });
});

test("a token is passed on as it is given", async () => {
  const token = { value: "t", extensions: { logicalCluster: "lkc-1" } };
  expect(await providerOf(async () => token)()).toBe(token);
});

test.each<[string, () => Promise<{ value: string }>, string]>([
  ["rejects", () => Promise.reject(new TypeError("secret123")), "found TypeError thrown"],
  [
    "throws",
    () => {
      throw new TypeError("secret123");
    },
    "found TypeError thrown",
  ],
  ["gives nothing", async () => undefined as never, "found no value"],
])("if a function for a token %s, kafkajs tries again, and nothing of it is shown", async (_, provider, text) => {
  const error: unknown = await providerOf(provider)().catch((failure: unknown) => failure);
  expect(error).toMatchObject({ name: "KafkaJSConnectionError", retriable: true });
  expect(explainFailure(error, "b:9092", { groupId: "g", topics: ["t"] })).toMatchObject({
    code: "authentication-failed",
    message: expect.stringContaining(text) as string,
  });
  expect(inspect(error, { depth: 10 })).not.toContain("secret123");
});

/** What kafkajs learns from a login if the broker does this with the request that holds the credential. */
async function loginAt(
  withCredential: (accepted: Socket, correlation: Buffer) => void,
  sasl: Parameters<typeof loginOf>[0],
  requestTimeout = 30_000,
): Promise<unknown> {
  const answers = new Map([
    [18, Buffer.from("0000" + "00000003" + "001200000002" + "001100000001" + "002400000001", "hex")], // ApiVersions: itself and both of a login
    [17, Buffer.concat([Buffer.from("000000000003", "hex"), ...["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"].map(shortText)])],
  ]);
  const server = createServer((accepted) => {
    accepted.on("error", () => {});
    accepted.on("data", (request) => {
      const correlation = request.subarray(8, 12);
      const answer = answers.get(request.readInt16BE(4));
      return answer === undefined ? withCredential(accepted, correlation) : accepted.write(framed(correlation, answer));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const options = {
    brokers: [`127.0.0.1:${port}`],
    sasl: loginOf(sasl),
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    requestTimeout,
  };
  const admin = new Kafka(options).admin();
  const failure: unknown = await admin.connect().catch((error: unknown) => error);
  await admin.disconnect();
  server.close();
  return failure;
}

function shortText(text: string): Buffer {
  return Buffer.concat([Buffer.of(0, text.length), Buffer.from(text)]);
}

function framed(correlation: Buffer, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(correlation.length + content.length);
  return Buffer.concat([length, correlation, content]);
}

const plain = { mechanism: "plain", username: "u", password: "p" } as const;
const scram = { mechanism: "scram-sha-256", username: "u", password: "p" } as const;

test.each(
  [plain, scram].flatMap((sasl) => [
    [sasl.mechanism, "ends the connection", (accepted: Socket): void => void accepted.end(), sasl, 30_000] as const,
    [sasl.mechanism, "cuts the connection", (accepted: Socket): void => void accepted.resetAndDestroy(), sasl, 30_000] as const,
    [sasl.mechanism, "answers nothing", (): void => {}, sasl, 200] as const,
  ]),
)("a login by %s in whose midst a broker %s was not refused, and kafkajs tries again", async (_, __, behave, sasl, requestTimeout) => {
  const failure = await loginAt(behave, sasl, requestTimeout);
  expect(explainFailure(failure, "b:9092", { groupId: "g", topics: ["t"] }).code).toBe("brokers-unreachable");
});

test.each([plain, scram])("a login that a broker refuses is final: $mechanism", async (sasl) => {
  const refusal = Buffer.concat([Buffer.of(0, 58), shortText("wrong"), Buffer.alloc(4)]);
  const failure = await loginAt((accepted, correlation) => void accepted.write(framed(correlation, refusal)), sasl);
  expect(explainFailure(failure, "b:9092", { groupId: "g", topics: ["t"] }).code).toBe("authentication-failed");
});

/** Kafka's answers to a login: no error, no message, these bytes, and how long the login lasts. */
function answerOf(bytes: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([Buffer.from("0000ffff", "hex"), length, Buffer.from(bytes), Buffer.alloc(8)]);
}

test.each([
  ["accepts", "", undefined],
  ["refuses", '{"status":"invalid_token"}', "authentication-failed"],
])("a token that a broker %s with an answer without an error code", async (_, bytes, code) => {
  const sasl = { mechanism: "oauthbearer", oauthBearerProvider: async () => ({ value: "secret123" }) } as const;
  const failure = await loginAt((accepted, correlation) => void accepted.write(framed(correlation, answerOf(bytes))), sasl);
  expect(failure === undefined ? failure : explainFailure(failure, "b:9092", { groupId: "g", topics: ["t"] }).code).toBe(code);
  expect(inspect(failure, { depth: 10 })).not.toContain("secret123");
});
