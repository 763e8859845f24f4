import { expect, test } from "vitest";
import { Cluster } from "./cluster.ts";
import type { PlatformaticModule } from "./low-level-client.ts";

const at = { host: "broker", port: 9092 };

/** A broker that offers one version of ConsumerGroupHeartbeat, and the versions in which it was asked. */
function setUp() {
  const broker = { version: 1, isGone: false };
  const asked: number[] = [];
  class Connection {
    on(): void {}
    async connect(): Promise<void> {}
    async close(): Promise<void> {}
  }
  const heartbeat = (version: number) => ({
    api: {
      async: async () => {
        asked.push(version);
        if (broker.isGone) {
          throw new Error("the connection was ended");
        }
        return {};
      },
    },
  });
  const module = {
    Connection,
    apiVersionsV3: { api: { async: async () => ({ apiKeys: [{ apiKey: 68, minVersion: broker.version, maxVersion: broker.version }] }) } },
    consumerGroupHeartbeatV0: heartbeat(0),
    consumerGroupHeartbeatV1: heartbeat(1),
  };
  const cluster = new Cluster({
    module: module as unknown as PlatformaticModule, // as much as is called
    brokers: ["broker:9092"],
    clientId: "test",
    connection: {} as never, // neither TLS nor a login
  });
  return { broker, asked, cluster, beat: () => cluster.ask(at, "member", "ConsumerGroupHeartbeat", []) };
}

test("after a request that was not answered, the brokers are asked again for the versions that they know", async () => {
  const { broker, asked, beat } = setUp();
  await beat();
  broker.isGone = true;
  await expect(beat()).rejects.toThrow("the connection was ended");
  Object.assign(broker, { isGone: false, version: 0 });
  await beat();
  expect(asked).toEqual([1, 1, 0]);
});

test("so they are after the connections were dropped", async () => {
  const { broker, asked, cluster, beat } = setUp();
  await beat();
  cluster.drop();
  broker.version = 0;
  await beat();
  expect(asked).toEqual([1, 0]);
});
