import { expect, test } from "vitest";
import { connected, type OwnProducer } from "./own-producer.ts";

test("a producer that is given no producer id is disconnected: a client of the application's would keep its connection, and the process", async () => {
  const calls: string[] = [];
  const refused = new Error("no producer id");
  const producer = {
    connect: () => Promise.reject(refused),
    disconnect: async () => void calls.push("disconnect"),
  };
  const own = { producer, destroySockets: () => void calls.push("destroy sockets") } as unknown as OwnProducer; // as much as is called
  await expect(connected(own)).rejects.toBe(refused);
  expect(calls).toEqual(["destroy sockets", "disconnect"]);
});
