import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { probeListener } from "./probe-listener.ts";

/** The mechanisms that a listener offers which answers a handshake with this count, and then with these bytes. */
async function mechanismsOf(count: number, names: Buffer): Promise<readonly string[] | null> {
  const head = Buffer.alloc(14);
  head.writeInt32BE(head.length - 4 + names.length, 0);
  head.write("cdcb", 4); // the correlation id
  head.writeInt16BE(33, 8); // the mechanism is not supported
  head.writeInt32BE(count, 10);
  const server = createServer((socket) => {
    socket.on("error", () => {}); // the TLS attempt is refused with what is no TLS
    socket.once("data", () => socket.write(Buffer.concat([head, names])));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const listener = await probeListener(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
  return listener.speaks === "kafka" ? listener.mechanisms : null;
}

/** What is found at a listener that does this with each connection. */
async function foundAt(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onConnection(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { speaks } = await probeListener(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  sockets.forEach((socket) => socket.destroy());
  server.close();
  return speaks;
}

test("a listener that accepts and answers nothing is told from a web server that waits for the end of a line", async () => {
  const [silent, web] = await Promise.all([
    foundAt(() => {}),
    foundAt((socket) => {
      let received = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString("latin1");
        if (received.includes("\r\n\r\n")) {
          socket.end("HTTP/1.1 200 OK\r\n\r\n");
        }
      });
    }),
  ]);
  expect({ silent, web }).toEqual({ silent: "nothing", web: "http" });
}, 15_000);

test("the mechanisms of a listener are those that its answer has room for, whatever lengths it names", async () => {
  const plain = Buffer.from("\0\x05PLAIN");
  expect(await mechanismsOf(1, plain)).toEqual(["PLAIN"]);
  expect(await mechanismsOf(2, Buffer.concat([plain, Buffer.from([0x80, 0x00])])), "a length below zero").toEqual(["PLAIN"]);
  expect(await mechanismsOf(2 ** 31 - 1, Buffer.concat([plain, Buffer.from([0xff, 0xfe])])), "one that points at itself").toEqual([
    "PLAIN",
  ]);
  expect(await mechanismsOf(2, Buffer.concat([plain, Buffer.from([0x7f, 0xff, 0x41])])), "one beyond the end").toEqual(["PLAIN"]);
});
