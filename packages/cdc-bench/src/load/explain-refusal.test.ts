import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { explainRefusal } from "./explain-refusal.ts";

const brokers = ["127.0.0.1:1"];
const login = { mechanism: "plain", username: "u", password: "canary-password" } as const;

function failure(fields: Readonly<Record<string, unknown>>, message: string): Error {
  return new Error("kafkajs gave up", { cause: Object.assign(new Error(message), fields) });
}

test("a certificate for another name says which names are to be made equal", async () => {
  const error = await explainRefusal({ brokers, tls: {} }, failure({ code: "ERR_TLS_CERT_ALTNAME_INVALID" }, "Connection error: ..."));
  expect(error.detail).toMatch(/^Kafka at 127\.0\.0\.1:1: the certificate that the broker shows is for another name: give --brokers/);
});

test("a missing right says which ones are needed", async () => {
  const error = await explainRefusal({ brokers, login }, failure({ type: "TOPIC_AUTHORIZATION_FAILED" }, "Not authorized"));
  expect(error.detail).toContain("the user may not do this (topic): it needs Describe and Read on the topics");
});

test("a broker that repeats the password is not repeated, nor kept as the cause", async () => {
  const error = await explainRefusal(
    { brokers, login },
    failure({ name: "KafkaJSSASLAuthenticationError" }, "no user u with canary-password"),
  );
  expect(error.detail).toContain("the broker refused the login (PLAIN)");
  expect([error.detail.includes("canary"), error.cause]).toEqual([false, undefined]);
});

test("a port that speaks HTTP is told as such", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const error = await explainRefusal({ brokers: [address] }, failure({}, "Closed connection"));
  expect(error.detail).toBe(`${address} speaks HTTP, not Kafka's protocol: give --brokers the port of a Kafka listener.`);
  for (const socket of sockets) {
    socket.destroy();
  }
  server.close();
});
