import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createEventStream, type EventStream } from "./event-stream.ts";

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

/** The stream behind a real server, and a way to read it. */
async function served(): Promise<{ readonly events: EventStream; connect(): Promise<IncomingMessage> }> {
  const events = createEventStream();
  const server = createServer((_request, response) => {
    if (!events.open(response, [{ name: "state", data: { at: 1 } }])) {
      response.writeHead(503).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  const connect = async (): Promise<IncomingMessage> => {
    const [response] = (await once(get({ host: "127.0.0.1", port, agent: false }), "response")) as [IncomingMessage];
    return response;
  };
  return { events, connect };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

test("every reader gets the state first, then what is sent, then the end", async () => {
  const { events, connect } = await served();
  const readers = [await connect(), await connect()];
  events.send({ name: "note", data: "a\n\nevent: forged" });
  events.close();
  for (const reader of readers) {
    expect(await textOf(reader)).toBe(
      'event: state\ndata: {"at":1}\n\nevent: note\ndata: "a\\n\\nevent: forged"\n\nevent: closing\ndata: null\n\n',
    );
  }
});

test("a reader that does not read misses what the next event says again, and is cut off before it fills our memory", async () => {
  const { events, connect } = await served();
  const slow = await connect();
  slow.pause();
  const big = "x".repeat(512 * 1024);
  for (let i = 0; i < 200; i++) {
    events.send({ name: "observation", data: big, isReplaceable: true });
  }
  expect(events.readers).toBe(1);
  for (let i = 0; i < 200 && events.readers > 0; i++) {
    events.send({ name: "records", data: big });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => events.readers).toBe(0);
  slow.destroy();
});

test("readers are behind if all of them are, until one has read", async () => {
  const { events, connect } = await served();
  expect(events.areBehind).toBe(false);
  const [slow, other] = [await connect(), await connect()];
  [slow, other].forEach((reader) => reader.pause());
  // What the system takes for them is no end of it.
  for (let i = 0; i < 200 && !events.areBehind; i++) {
    events.send({ name: "records", data: "x".repeat(100 * 1024) });
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([events.areBehind, events.readers]).toEqual([true, 2]);
  other.resume();
  await expect.poll(() => events.areBehind).toBe(false);
  slow.destroy();
});

test("there is an end to how many read, and who leaves makes room", async () => {
  const { events, connect } = await served();
  const readers = await Promise.all(Array.from({ length: 32 }, () => connect()));
  expect((await connect()).statusCode).toBe(503);
  readers[0]?.destroy();
  await expect.poll(() => events.readers).toBe(31);
  expect((await connect()).statusCode).toBe(200);
});
