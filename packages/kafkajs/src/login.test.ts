import { inspect } from "node:util";
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
