import { expect, test, vi } from "vitest";
import { connected, type OwnProducer, producerRetry } from "./own-producer.ts";

test("a producer that is given no producer id is disconnected: a client of the application's would keep its connection, and the process", async () => {
  const calls: string[] = [];
  const refused = new Error("no producer id");
  const producer = {
    connect: () => Promise.reject(refused),
    disconnect: async () => void calls.push("disconnect"),
  };
  const own = { producer, destroySockets: () => void calls.push("destroy sockets") } as unknown as OwnProducer; // as much as is called
  await expect(connected(own)).rejects.toBe(refused);
  await vi.waitFor(() => expect(calls).toEqual(["disconnect", "destroy sockets"]));
});

test("a producer tries again within milliseconds, which the end of a transaction takes, and for seconds, which a leader takes to move", () => {
  const { retries = 0, initialRetryTime = 0, maxRetryTime = 0 } = producerRetry;
  /** kafkajs doubles its pauses, and draws each of them. All of these are as much shorter than what they are drawn from. */
  const pausesMs = (shorter: number): readonly number[] =>
    Array.from({ length: retries }, (_, i) => Math.min(initialRetryTime * (1 - shorter) * (2 * (1 - shorter)) ** i, maxRetryTime));
  expect(pausesMs(0).filter((pauseMs) => pauseMs <= 20)).toHaveLength(3);
  expect(pausesMs(0.05).reduce((sum, pauseMs) => sum + pauseMs, 0)).toBeGreaterThan(6_000);
});
