import { expect, test } from "vitest";
import { Transactions } from "./transaction.ts";

test("a pool that gives no connection in time is named beside a silent server: nothing was open that could be closed", async () => {
  const pool = { connect: () => new Promise<never>(() => {}), end: async () => {} };
  const work = (): Promise<void> => Promise.reject(new Error("unreachable: there is no connection"));
  await expect(new Transactions(1).run(pool, { what: "claiming partitions" }, work)).rejects.toMatchObject({
    code: "unavailable",
    retriable: true,
    message:
      "[unavailable] connecting: no answer within 1 ms; the server is silent, or all connections of the pool are taken; it is tried again",
  });
});
