import { describe, expect, test } from "vitest";
import { AdminClients } from "./admin-clients.ts";
import { type Answer, codes, type LowLevelAdmin } from "./low-level-client.ts";

describe("AdminClients", () => {
  test("a client whose question was not answered in time is replaced, and ends when its last question has ended", async () => {
    const made: { readonly name: string; hasEnded: boolean }[] = [];
    const clients = new AdminClients(() => {
      const one = { name: `client ${made.length}`, hasEnded: false };
      made.push(one);
      return { disconnect: () => (one.hasEnded = true) } as unknown as LowLevelAdmin;
    });
    const open: Answer<string>[] = [];
    const ask = (): Promise<string> => clients.ask<string>((_, done) => open.push(done));
    const late = ask();
    clients.replace();
    expect(made).toEqual([{ name: "client 0", hasEnded: false }]); // a question still uses it
    open[0]?.(null, "late");
    expect([await late, made[0]?.hasEnded]).toEqual(["late", true]);

    const silent = ask();
    open[1]?.(Object.assign(new Error("timed out"), { code: codes.timedOut }), "");
    await expect(silent).rejects.toThrow("timed out");
    expect(made.map(({ hasEnded }) => hasEnded)).toEqual([true, true]);

    const next = ask();
    expect(made).toHaveLength(3);
    open[2]?.(Object.assign(new Error("no such topic"), { code: codes.unknownTopicOrPartition }), "");
    await expect(next).rejects.toThrow("no such topic");
    const last = ask();
    open[3]?.(null, "last");
    expect([await last, made.length]).toEqual(["last", 3]); // the broker has answered, so the client stays
    clients.replace();
    expect(made.map(({ hasEnded }) => hasEnded)).toEqual([true, true, true]);
  });

  test("questions are asked one after the other, and one that nobody waits for any more when its turn comes is not asked", async () => {
    const clients = new AdminClients(() => ({ disconnect: () => {} }) as unknown as LowLevelAdmin);
    const open: (() => void)[] = [];
    const ask = (name: string, unwanted?: AbortSignal): Promise<string> =>
      clients.ask<string>((_, done) => open.push(() => done(null, name)), unwanted);
    const [first, second, third] = [ask("first"), ask("second", AbortSignal.abort()), ask("third")];
    expect(open).toHaveLength(1);
    open[0]?.();
    expect(await first).toBe("first");
    await expect(second).rejects.toMatchObject({ code: "brokers-unreachable" });
    open[1]?.();
    expect([await third, open.length]).toEqual(["third", 2]);
  });
});
