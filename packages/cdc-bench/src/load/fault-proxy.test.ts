import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseFault } from "./fault.ts";
import { type FaultProxy, openFaultProxy } from "./fault-proxy.ts";

/** A machine that stands still for a moment is no slow proxy, which fails each time. */
const slowMachines = { retry: 2 };

/** What a broker is here: it sends back what it gets. */
let echo: Server;
let port: number;
let accepted = 0;
const open: { destroy(): unknown }[] = [];
const proxies: FaultProxy[] = [];

beforeEach(async () => {
  accepted = 0;
  echo = createServer((socket) => {
    accepted++;
    open.push(socket);
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  port = (echo.address() as AddressInfo).port;
});

afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  open.splice(0).forEach((socket) => socket.destroy());
  echo.close();
});

async function proxyWith(...faults: readonly string[]): Promise<FaultProxy> {
  const proxy = await openFaultProxy(faults.map(parseFault));
  proxies.push(proxy);
  return proxy;
}

async function connected(proxy: FaultProxy): Promise<Socket> {
  const socket = connect(proxy.connectTo({ host: "127.0.0.1", port }));
  open.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Sends bytes and resolves when as many have come back, with the time that it took. */
function roundTrip(socket: Socket, bytes: Buffer): Promise<{ readonly elapsedMs: number; readonly received: Buffer }> {
  const startedAtMs = performance.now();
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(new Error("closed")));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= bytes.length) {
        resolve({ elapsedMs: performance.now() - startedAtMs, received: Buffer.concat(chunks) });
      }
    });
    socket.write(bytes);
  });
}

function patterned(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 31) >> 3));
}

describe("a proxy", () => {
  test("passes on megabytes unchanged, in their order, and counts them", async () => {
    const proxy = await proxyWith();
    const bytes = patterned(9_000_001);
    const { received } = await roundTrip(await connected(proxy), bytes);
    expect(received.equals(bytes)).toBe(true);
    expect(proxy.passed).toEqual({ connections: 1, toBrokersBytes: bytes.length, fromBrokersBytes: bytes.length });
  });

  test("gives each broker a listener of its own, and more brokers than it opened with", async () => {
    const proxy = await proxyWith();
    const ports = new Set<number>();
    for (let i = 0; i < 20; i++) {
      ports.add(proxy.connectTo({ host: `broker-${i}`, port: 9_092 }).port);
      expect(proxy.connectTo({ host: `broker-${i}`, port: 9_092 })).toEqual({ host: "127.0.0.1", port: [...ports].at(-1) });
      await new Promise((resolve) => setImmediate(resolve));
      await connected(proxy); // the turns of the event loop in which a spare listener is opened
    }
    expect(ports.size).toBe(20);
  });

  test("ends the connection to the broker when the client ends its own", async () => {
    const socket = await connected(await proxyWith());
    await roundTrip(socket, Buffer.from("bye"));
    socket.end();
    await once(socket, "close");
    await expect.poll(() => new Promise((resolve) => echo.getConnections((_, count) => resolve(count)))).toBe(0);
  });

  test("resets the client when nobody listens at the broker's address", async () => {
    const proxy = await proxyWith();
    echo.close();
    const socket = await connected(proxy);
    await new Promise((resolve) => socket.once("close", resolve));
    expect(accepted).toBe(0);
  });

  test("that is closed lets go of its connections and its ports", async () => {
    const proxy = await proxyWith();
    const socket = await connected(proxy);
    const closed = once(socket, "close");
    await proxy.close();
    await closed;
    const refused = connect(proxy.connectTo({ host: "127.0.0.1", port }));
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
  });
});

describe("latency", () => {
  test("delays each direction, and not each piece of what is sent", slowMachines, async () => {
    const bytes = patterned(500_000);
    const { elapsedMs, received } = await roundTrip(await connected(await proxyWith("latency=100ms")), bytes);
    expect(received.equals(bytes)).toBe(true);
    expect(elapsedMs).toBeGreaterThanOrEqual(199);
    expect(elapsedMs).toBeLessThan(3_000);
  });

  test("of a window that has not begun costs nothing", async () => {
    const proxy = await proxyWith("latency=30s@1m");
    proxy.begin();
    expect((await roundTrip(await connected(proxy), Buffer.from("x"))).elapsedMs).toBeLessThan(10_000);
  });
});

test("bandwidth is shared by all connections of a direction", slowMachines, async () => {
  const proxy = await proxyWith("bandwidth=8mbit"); // a megabyte a second
  const sockets = [await connected(proxy), await connected(proxy)];
  const trips = await Promise.all(sockets.map((socket) => roundTrip(socket, patterned(150_000))));
  const slowestMs = Math.max(...trips.map(({ elapsedMs }) => elapsedMs));
  // 300,000 bytes there take 300 ms; they come back while they still go.
  expect(slowestMs).toBeGreaterThanOrEqual(295);
  expect(slowestMs).toBeLessThan(3_000);
});

describe("a cut", () => {
  test("resets what is open, and lets new connections in", async () => {
    const proxy = await proxyWith("cut@50ms");
    const socket = await connected(proxy);
    await roundTrip(socket, Buffer.from("x"));
    const failed = once(socket, "error");
    proxy.begin();
    const [error] = (await failed) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNRESET");
    expect((await roundTrip(await connected(proxy), Buffer.from("again"))).received.toString()).toBe("again");
  });

  test("with a window refuses connections until it ends", async () => {
    const refusing = await proxyWith("cut@0s..30m");
    refusing.begin();
    await expect(connected(refusing).then((socket) => roundTrip(socket, Buffer.from("x")))).rejects.toThrow(/closed|ECONNRESET/);
    expect(accepted).toBe(0);
    const proxy = await proxyWith("cut@0s..400ms");
    proxy.begin();
    await expect
      .poll(
        async () =>
          roundTrip(await connected(proxy), Buffer.from("x")).then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
  });
});

test("a black hole keeps connections open and lets nothing through, and what was sent arrives when it ends", async () => {
  const proxy = await proxyWith("blackhole@0s..400ms");
  const socket = await connected(proxy);
  const beganMs = performance.now(); // not when it is sent, which may be later
  proxy.begin();
  const { received } = await roundTrip(socket, Buffer.from("held"));
  expect(received.toString()).toBe("held");
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(395);
});

test("a black hole without an end does not keep a proxy from closing", async () => {
  const proxy = await proxyWith("blackhole@0s");
  const socket = await connected(proxy);
  proxy.begin();
  const trip = roundTrip(socket, Buffer.from("lost"));
  await Promise.all([expect(trip).rejects.toThrow("closed"), proxy.close()]);
});
