import { expect, onTestFinished, test, vi } from "vitest";
import { Cluster } from "./cluster.ts";
import { Link } from "./link.ts";
import type { PlatformaticModule } from "./low-level-client.ts";

/** Brokers that offer one version of ConsumerGroupHeartbeat each, and the requests that they got: `a1` is broker a, asked in version 1. */
function setUp(versions: Readonly<Record<string, number>> = { broker: 1 }) {
  const brokers = new Map(
    Object.entries(versions).map(([host, version]) => [host, { version, isGone: false, connections: [] as Connection[] }]),
  );
  const asked: string[] = [];
  class Connection {
    host = "";
    closed = (): void => {};
    on(event: string, listener: () => void): void {
      this.closed = event === "close" ? listener : this.closed;
    }
    async connect(host: string): Promise<void> {
      this.host = host;
      brokers.get(host)?.connections.push(this);
    }
    async close(): Promise<void> {}
  }
  const answered = <T>({ host }: Connection, answer: T): T => {
    if (brokers.get(host)?.isGone === true) {
      throw new Error("the connection was ended");
    }
    return answer;
  };
  const heartbeat = (version: number) => ({
    api: {
      async: async (connection: Connection) => {
        asked.push(`${connection.host}${version}`);
        return answered(connection, {});
      },
    },
  });
  const offered = async (connection: Connection) => {
    const version = brokers.get(connection.host)?.version;
    return answered(connection, { apiKeys: [{ apiKey: 68, minVersion: version, maxVersion: version }] });
  };
  const module = {
    Connection,
    apiVersionsV3: { api: { async: offered } },
    consumerGroupHeartbeatV0: heartbeat(0),
    consumerGroupHeartbeatV1: heartbeat(1),
  };
  const cluster = new Cluster({
    module: module as unknown as PlatformaticModule, // as much as is called
    brokers: Object.keys(versions).map((host) => `${host}:9092`),
    clientId: "test",
    connection: {} as never, // neither TLS nor a login
  });
  const beat = (host: string) => cluster.ask({ host, port: 9092 }, "member", "ConsumerGroupHeartbeat", []);
  const beatAnywhere = () => cluster.anywhere(({ host }) => beat(host));
  return { brokers, asked, cluster, beat, beatAnywhere };
}

test("after a request that was not answered, the broker is asked again for the versions that it knows", async () => {
  const { brokers, asked, beat } = setUp();
  const broker = brokers.get("broker");
  await beat("broker");
  Object.assign(broker ?? {}, { isGone: true });
  await expect(beat("broker")).rejects.toThrow("the connection was ended");
  Object.assign(broker ?? {}, { isGone: false, version: 0 });
  await beat("broker");
  expect(asked).toEqual(["broker1", "broker1", "broker0"]);
});

test("so it is after its connection has ended although nobody waited for an answer, and after all were dropped", async () => {
  const { brokers, asked, cluster, beat } = setUp();
  const broker = brokers.get("broker");
  await beat("broker");
  Object.assign(broker ?? {}, { version: 0 });
  broker?.connections.forEach(({ closed }) => closed());
  await beat("broker");
  Object.assign(broker ?? {}, { version: 1 });
  cluster.drop();
  await beat("broker");
  expect(asked).toEqual(["broker1", "broker0", "broker1"]);
});

test("in a rolling upgrade each broker is asked in a version that it knows", async () => {
  const { asked, beat } = setUp({ a: 0, b: 1 });
  await beat("a");
  await beat("b");
  await beat("a");
  expect(asked).toEqual(["a0", "b1", "a0"]);
});

test("what any broker can answer is asked of another one each time", async () => {
  const { asked, beatAnywhere } = setUp({ a: 1, b: 1, c: 1 });
  for (let i = 0; i < 4; i++) {
    await beatAnywhere();
  }
  expect(asked).toEqual(["a1", "b1", "c1", "a1"]);
});

test("a broker that has not answered is asked last, until it answers", async () => {
  const { brokers, asked, beat, beatAnywhere } = setUp({ a: 1, b: 1 });
  const a = brokers.get("a");
  await beat("a");
  Object.assign(a ?? {}, { isGone: true });
  await expect(beat("a")).rejects.toThrow("the connection was ended");
  for (let i = 0; i < 3; i++) {
    await beatAnywhere();
  }
  expect(asked.splice(0)).toEqual(["a1", "a1", "b1", "b1", "b1"]);
  Object.assign(a ?? {}, { isGone: false });
  await beat("a");
  await beatAnywhere();
  await beatAnywhere();
  expect(asked.slice(1).toSorted()).toEqual(["a1", "b1"]);
});

test("an address whose connections have ended is forgotten: brokers may come back at another one again and again", async () => {
  const { brokers, cluster, beat } = setUp({ a: 1, b: 1 });
  await beat("a");
  await beat("b");
  brokers.get("a")?.connections.forEach(({ closed }) => closed());
  const dropped = vi.spyOn(Link.prototype, "drop");
  onTestFinished(() => dropped.mockRestore());
  cluster.drop();
  expect(dropped).toHaveBeenCalledTimes(2); // the questions and the heartbeats of b
  await beat("a");
  cluster.drop();
  expect(dropped).toHaveBeenCalledTimes(4);
});
