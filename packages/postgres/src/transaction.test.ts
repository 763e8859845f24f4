import pg from "pg";
import { expect, test } from "vitest";
import { Transactions } from "./transaction.ts";

test("a pool that gives no connection in time is named beside a silent server: nothing was open that could be closed", async () => {
  const pool = { connect: () => new Promise<never>(() => {}), end: async () => {} };
  const work = (): Promise<void> => Promise.reject(new Error("unreachable: there is no connection"));
  await expect(new Transactions(1).run(pool, "claiming partitions", work)).rejects.toMatchObject({
    code: "unavailable",
    retriable: true,
    message:
      "[unavailable] connecting: no answer within 1 ms; the server is silent, or all connections of the pool are taken; it is tried again",
  });
});

test("a pool whose address cannot be read says what to change, without the address", async () => {
  const pool = new pg.Pool({ connectionString: "postgres://user:top/secret@db" });
  const running = new Transactions(1_000).run(pool as never, "claiming partitions", async () => {});
  await expect(running).rejects.toMatchObject({
    code: "login-failed",
    message: expect.stringContaining("connecting: there is no connection to be had: its address cannot be read: percent-encode"),
  });
  await expect(running).rejects.not.toThrow("secret");
});

test("a pool whose port is none says so, and is not tried for ever", async () => {
  const pool = new pg.Pool({ host: "127.0.0.1", port: 99_999 });
  await expect(new Transactions(1_000).run(pool as never, "claiming partitions", async () => {})).rejects.toMatchObject({
    code: "login-failed",
    retriable: false,
    message: expect.stringContaining("its port is none: check port, or PGPORT"),
  });
});

test("a client in place of a pool is refused in words, not tried for ever", async () => {
  const pool = { connect: async () => undefined, end: async () => {} };
  await expect(new Transactions(1_000).run(pool as never, "claiming partitions", async () => {})).rejects.toMatchObject({
    code: "invalid-option",
    retriable: false,
    message: expect.stringContaining("give a pg.Pool, not a pg.Client"),
  });
});
