import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { type ConnectionAttempt, explainedByListeners } from "./listener-contrast.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const unreachable = makeError("brokers-unreachable", "Connection closed");
let web: Server;
let broker: string;

beforeAll(async () => {
  web = createServer();
  await new Promise<void>((listening) => web.listen(0, "127.0.0.1", listening));
  broker = `127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(() => web.close());

test("a listener that wants something else says so in place of a connection that was ended, which is the cause", async () => {
  const error = await explainedByListeners(unreachable, { brokers: [broker] }, makeError);
  expect(error).toMatchObject({ code: "protocol-mismatch", cause: unreachable });
  expect(error.message).toBe(
    `[protocol-mismatch] ${broker} speaks HTTP, not Kafka's protocol: give \`brokers\` the port of a Kafka listener`,
  );
});

test.each<[string, DriverError<string>, ConnectionAttempt | null, AbortSignal?]>([
  ["it is about something else", makeError("topic-missing", "no topic"), { brokers: ["127.0.0.1:1"] }],
  ["nobody listens", makeError("brokers-unreachable", "connect ECONNREFUSED 127.0.0.1:1"), { brokers: ["127.0.0.1:1"] }],
  ["no listener answers", unreachable, { brokers: ["127.0.0.1:1"] }],
  ["it is not known what was tried", unreachable, null],
  ["the certificate that was shown cannot be read", unreachable, { brokers: ["127.0.0.1:1"], tls: { cert: "none" } }],
  ["the start was given up", unreachable, { brokers: ["127.0.0.1:1"] }, AbortSignal.abort()],
])("the error stays as it is if %s", async (_, error, attempt, closed) => {
  expect(await explainedByListeners(error, attempt, makeError, closed)).toBe(error);
});
