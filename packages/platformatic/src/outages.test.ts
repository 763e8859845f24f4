import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import * as client from "@platformatic/kafka";
import { describe, expect, test } from "vitest";
import { Cluster, type ClusterParts } from "./cluster.ts";
import { isUnanswered } from "./explain-failure.ts";
import type { PlatformaticModule } from "./low-level-client.ts";

type Outage = readonly [string, (accepted: Socket) => void];

/** Brokers and proxies that are away, or go away: what they do with a connection, and with what they read on it. */
const withoutAnswer: readonly Outage[] = [
  ["a connection is ended at once, as by a proxy whose broker is away", (accepted) => accepted.end()],
  ["a connection is cut at once", (accepted) => accepted.resetAndDestroy()],
  ["a connection is ended at the first request", (accepted) => accepted.on("data", () => accepted.end())],
  ["a connection is cut at the first request", (accepted) => accepted.on("data", () => accepted.resetAndDestroy())],
  ["nothing is answered", (accepted) => accepted.resume()],
];
const inAnswers: readonly Outage[] = [
  ["a connection is ended in the midst of an answer", (accepted) => accepted.on("data", () => accepted.end(Buffer.of(0, 0, 1, 0, 0, 0)))],
  [
    "a connection is cut in the midst of an answer",
    (accepted) => accepted.on("data", () => accepted.write(Buffer.of(0, 0, 1, 0, 0, 0), () => accepted.resetAndDestroy())),
  ],
  ["a connection is ended between a handshake and its login", (accepted) => handshakeThen(accepted, () => accepted.end())],
  ["a connection is cut between a handshake and its login", (accepted) => handshakeThen(accepted, () => accepted.resetAndDestroy())],
  ["a proxy answers", (accepted) => accepted.on("data", () => accepted.end("HTTP/1.1 503 Service Unavailable\r\n\r\n"))],
  ["an answer to no request", (accepted) => accepted.on("data", () => accepted.write(Buffer.of(0, 0, 0, 8, 1, 1, 1, 1, 0, 0, 0, 0)))],
];

/** Answers a SaslHandshake, which takes PLAIN. Whatever comes next is not answered. */
function handshakeThen(accepted: Socket, end: () => void): void {
  accepted.once("data", (request: Buffer) => {
    const correlation = request.subarray(8, 12);
    accepted.write(Buffer.concat([Buffer.of(0, 0, 0, 17), correlation, Buffer.of(0, 0, 0, 0, 0, 1, 0, 5), Buffer.from("PLAIN")]));
    accepted.once("data", end);
  });
}

async function failureAt(port: number, connection: ClusterParts["connection"]): Promise<unknown> {
  const module = client as unknown as PlatformaticModule; // the driver's own description of it
  const cluster = new Cluster({ module, brokers: [`127.0.0.1:${port}`], clientId: "me", connection, answerDeadlineMs: 200 });
  try {
    return await cluster.metadata([]).then(
      () => "answered",
      (error: unknown) => error,
    );
  } finally {
    cluster.close();
  }
}

describe.each<[string, ClusterParts["connection"], readonly Outage[]]>([
  ["without a login", {}, [...withoutAnswer, ...inAnswers]],
  ["with a login", { sasl: { mechanism: "PLAIN", username: "me", password: "secret" } }, [...withoutAnswer, ...inAnswers]],
  ["with TLS", { tls: {} }, withoutAnswer], // what is answered without TLS says that the listener speaks none
])("over a connection %s, nobody has answered, and no login was refused, if", (_, connection, outages) => {
  test.each(outages)("%s", { timeout: 20_000 }, async (_, behave) => {
    const server = createServer((accepted) => {
      accepted.on("error", () => {});
      behave(accepted);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const failure = await failureAt((server.address() as AddressInfo).port, connection);
    server.close();
    expect(isUnanswered(failure), String(failure)).toBe(true);
  });

  test("nobody listens", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    expect(isUnanswered(await failureAt(port, connection))).toBe(true);
  });
});
