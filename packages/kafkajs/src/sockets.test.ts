import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { Sockets } from "./sockets.ts";

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

test("a socket goes to the address that connectTo names", async () => {
  const server = createServer((accepted) => accepted.end("here")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asked: unknown[] = [];
  const sockets = new Sockets(null, (broker) => {
    asked.push(broker);
    return { host: "127.0.0.1", port };
  });
  const socket = sockets.factory({ host: "broker.invalid", port: 9_092, ssl: null as never, onConnect: () => {} }) as Socket;
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect([asked, answer.toString()]).toEqual([[{ host: "broker.invalid", port: 9_092 }], "here"]);
  server.close();
});
