import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { Sockets } from "./sockets.ts";
import { KeptFetches } from "./wire/kept-fetches.ts";

test("a closed socket that is let go of over and over listens for nothing", async () => {
  const server = createServer((accepted) => accepted.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const socket = new Sockets().factory({ host: "127.0.0.1", port, ssl: null as never, onConnect: () => {} }) as Socket;
  socket.resume();
  await once(socket, "close");
  for (let restart = 0; restart < 20; restart++) {
    socket.unref();
  }
  expect(socket.listenerCount("connect")).toBe(0);
  server.close();
});

test("a socket that is destroyed and let go of over and over, before it is closed, listens for nothing", async () => {
  const server = createServer((accepted) => accepted.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = new Sockets().factory({ host: "127.0.0.1", port, ssl: null as never, onConnect: () => {} }) as Socket;
  await once(socket, "connect");
  socket.destroy();
  for (let waiting = 0; waiting < 20; waiting++) {
    socket.unref();
  }
  expect(socket.listenerCount("connect")).toBe(0);
  await once(socket, "close");
  server.close();
});

test("a socket goes to the address that connectTo names", async () => {
  const server = createServer((accepted) => accepted.end(framed([Buffer.from("here")]))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { sockets, asked } = socketsTo(server);
  const socket = sockets.factory({ host: "broker.invalid", port: 9_092, ssl: null as never, onConnect: () => {} }) as Socket;
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect([asked, answer.toString("utf8", 4)]).toEqual([[{ host: "broker.invalid", port: 9_092 }], "here"]);
  server.close();
});

test("an IPv6 address in brackets reaches its socket whole, although kafkajs ends a host at the first colon", async () => {
  const server = createServer((accepted) => accepted.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { sockets, asked } = socketsTo(server);
  const client = new Kafka({
    brokers: sockets.brokersWhileOpen(["[fe80::1]:9092"]),
    socketFactory: sockets.factory,
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  });
  await expect(client.admin().connect()).rejects.toThrow("onnection");
  expect(asked).toContainEqual({ host: "fe80::1", port: 9_092 });
  sockets.destroy();
  server.close();
});

/** Sockets that all go to this server, and the brokers that they were asked for. */
function socketsTo(server: Server): { readonly sockets: Sockets; readonly asked: readonly unknown[] } {
  const { port } = server.address() as AddressInfo;
  const asked: unknown[] = [];
  const connectTo = (broker: unknown): { host: string; port: number } => {
    asked.push(broker);
    return { host: "127.0.0.1", port };
  };
  return { sockets: new Sockets(null, connectTo), asked };
}

/** A socket to a peer that answers what it is asked with these bytes, in these chunks. */
async function asked(
  chunks: readonly Buffer[],
  end = false,
): Promise<{ readonly socket: Socket; readonly frames: Buffer[]; readonly kept: KeptFetches }> {
  const server = createServer((accepted) => {
    accepted.setNoDelay(true);
    accepted.once("data", () => send(accepted, chunks, end));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const kept = new KeptFetches();
  const frames: Buffer[] = [];
  const socket = new Sockets(null, undefined, kept).factory({ host: "127.0.0.1", port, ssl: null as never, onConnect: () => {} }) as Socket;
  socket.on("data", (frame: Buffer) => frames.push(frame));
  socket.once("close", () => server.close());
  socket.write(fetchRequest, "binary");
  return { socket, frames, kept };
}

/** Sends the chunks one after another, each by itself. */
function send(accepted: Socket, [first, ...others]: readonly Buffer[], end: boolean): void {
  if (first !== undefined) {
    accepted.write(first, () => setImmediate(() => send(accepted, others, end)));
  } else if (end) {
    accepted.end();
  }
}

/** A request as kafkajs writes it, version 0: orders[0] from offset 7. Correlation id 11. */
const fetchRequest = framed([
  int16(1),
  int16(0),
  int32(11),
  text("me"),
  int32(-1),
  int32(0),
  int32(1),
  int32(1),
  text("orders"),
  int32(1),
  int32(0),
  int64(7n),
  int32(99),
]);

const records = Buffer.alloc(200_000, 1);
records[16] = 2;

/** The response to it. */
const fetchResponse = framed([
  int32(11),
  int32(1),
  text("orders"),
  int32(1),
  int32(0),
  int16(0),
  int64(30n),
  int32(records.length),
  records,
]);

test.each([[7], [1_000], [150_000], [1_000_000]])(
  "of a Fetch response kafkajs gets what stands for its records, in chunks of %i bytes",
  async (size) => {
    const other = framed([int32(12), text("of another request")]);
    const bytes = Buffer.concat([other, fetchResponse, other]);
    const whole = bytes.subarray(0, size < 1_000 ? 400 : bytes.length); // small chunks for the beginning alone
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));
    const { socket, frames, kept } = await asked([...chunks, bytes.subarray(whole.length)], true);
    await once(socket, "end");
    expect([frames.length, frames[0], frames[2]]).toEqual([3, other, other]);
    const [, answer] = frames as [Buffer, Buffer];
    expect([answer.readInt32BE(4), answer.length < 200]).toEqual([11, true]);
    const standIn = { key: answer.subarray(-28, -12), value: answer.subarray(-8) };
    expect(kept.take(standIn)?.bytes.equals(records)).toBe(true);
  },
);

test.each([
  ["a web server", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")]],
  ["a length of 2 GB", [Buffer.from([0x7f, 0xff, 0xff, 0xff, 0])]],
  [
    "records that are longer than their frame",
    [framed([int32(11), int32(1), text("orders"), int32(1), int32(0), int16(0), int64(30n), int32(999)])],
  ],
])("a peer that answers otherwise than Kafka ends its own connection with an error: %s", async (_, chunks) => {
  const { socket, frames } = await asked(chunks);
  const [error] = (await once(socket, "error")) as [Error];
  expect(error.message).toContain("[protocol-mismatch] expected");
  expect([frames, socket.destroyed]).toEqual([[], true]);
});

test("a frame that kafkajs cannot read ends its own connection with an error, and not the process", async () => {
  const { socket } = await asked([framed([Buffer.from("aabbcc", "hex")])]);
  socket.on("data", (frame: Buffer) => frame.readInt32BE(4)); // as kafkajs reads the correlation id
  const [error] = (await once(socket, "error")) as [Error];
  expect(error.message).toContain("[protocol-mismatch] expected a response");
});

test.each<[string, Buffer]>([
  ["nothing in it", int32(0)],
  ["half a correlation id", framed([int16(1)])],
  ["fewer bytes than none", int32(-1)],
  ["a web page", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
])("a client whose record batches are not read from the wire is refused, and no process ends, if an answer has %s", async (_, answer) => {
  const server = createServer((accepted) => {
    accepted.on("error", () => {});
    accepted.once("data", () => accepted.write(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Sockets();
  const brokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  const client = new Kafka({
    brokers,
    socketFactory: sockets.factory,
    logLevel: logLevel.NOTHING,
    connectionTimeout: 30_000,
    retry: { retries: 0 },
  });
  await expect(client.admin().connect()).rejects.toThrow("[protocol-mismatch] expected");
  sockets.destroy();
  server.close();
});

test("half a frame is handed to nobody, and its end is seen", async () => {
  const { socket, frames } = await asked([fetchResponse.subarray(0, 100_000)], true);
  await once(socket, "end");
  expect(frames).toEqual([]);
});

function framed(parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length), body]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([int16(value.length), Buffer.from(value)]);
}
