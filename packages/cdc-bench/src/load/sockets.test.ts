import { once } from "node:events";
import { expect, test } from "vitest";
import { openSocket, withoutColons } from "./sockets.ts";

test.each(["::1%no", "fe80::1%no-such-zone"])("a socket of kafkajs goes to %s", async (address) => {
  const [host = "", port] = withoutColons(`[${address}]:9092`).split(":"); // as kafkajs does
  const socket = openSocket({ host, port: Number(port), ssl: undefined as never, onConnect: () => {} });
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException & { readonly address?: string }];
  expect(error).toMatchObject({ syscall: "connect", address, port: 9_092 });
});

test.each(["localhost:9092", "b-1.example.com:9092", "127.0.0.1:9092"])("%s stays as it is", (broker) => {
  expect(withoutColons(broker)).toBe(broker);
});
