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
    const [slow, late] = [ask(), ask()];
    open[1]?.(Object.assign(new Error("timed out"), { code: codes.timedOut }), "");
    await expect(late).rejects.toThrow("timed out");
    expect(made).toEqual([{ name: "client 0", hasEnded: false }]); // another question still uses it

    const next = ask();
    expect(made).toHaveLength(2);
    open[0]?.(null, "slow");
    expect(await slow).toBe("slow");
    expect(made.map(({ hasEnded }) => hasEnded)).toEqual([true, false]);

    open[2]?.(Object.assign(new Error("no such topic"), { code: codes.unknownTopicOrPartition }), "");
    await expect(next).rejects.toThrow("no such topic");
    const last = ask();
    open[3]?.(null, "last");
    expect([await last, made.length]).toEqual(["last", 2]); // the broker has answered, so the client stays
    clients.replace();
    expect(made.map(({ hasEnded }) => hasEnded)).toEqual([true, true]);
  });
});
