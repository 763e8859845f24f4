import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { expect, test, vi } from "vitest";
import { Connections } from "./connections.ts";

test("a silent connection is replaced, also if the clock was set back since it was opened", async () => {
  const server = createServer((accepted) => accepted.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const now = Date.now.bind(Date);
  let behindMs = 0;
  vi.spyOn(Date, "now").mockImplementation(() => now() - behindMs);
  const reconnected: string[] = [];
  const connectTo = () => {
    queueMicrotask(() => (behindMs = 3_600_000)); // after the socket was made, and before anything is sent on it
    return { host: "127.0.0.1", port };
  };
  const connections = new Connections({ reconnected: (why) => reconnected.push(why) }, "b:9092", connectTo);
  const kafka = new Kafka({
    brokers: ["b:9092"],
    socketFactory: connections.sockets.factory,
    requestTimeout: 200,
    retry: { retries: 0 },
    logLevel: logLevel.NOTHING,
  });
  try {
    await expect(connections.watched(kafka.admin({ retry: { retries: 0 } })).connect()).rejects.toThrow("timed out");
    expect(reconnected).toEqual(["b:9092 did not answer ApiVersions in time"]);
  } finally {
    vi.restoreAllMocks();
    connections.destroy();
    server.close();
  }
});
