import { RecordArrayBatch, recordOf, virtualClock } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { Fence } from "../delivery/fence.ts";
import { Lease } from "../delivery/lease.ts";
import { Counters } from "../observe/counters.ts";
import { silentLogger } from "../observe/logger.ts";
import { Waits } from "../observe/waits.ts";
import { DeadLetters } from "./dead-letters.ts";
import { resolveFailureOptions } from "./failure-options.ts";

/** A record of the partition that a fence is of, and what writes its letters. */
function setUp() {
  const clock = virtualClock();
  const waits = new Waits({ clock, logger: silentLogger });
  const assignment = { topic: "t", partition: 0, epoch: 1 };
  const record = recordOf(Buffer.from("v"), { topic: "t", partition: 0, offset: 5n, key: Buffer.from("k") });
  const place = { assignment, batch: new RecordArrayBatch({ assignment, records: [record] }), record: 0, ordinal: 1 };
  const makeFence = (): Fence => new Fence(clock, new Lease({ clock, wait: (wait) => waits.open(wait) }));
  const makeLetters = (poison: "dead-letter" | "park-key", send: () => Promise<void>): DeadLetters =>
    new DeadLetters({
      topic: "dead",
      groupId: "g",
      options: resolveFailureOptions({ poison, deadLetterTopic: "dead" }),
      clock,
      random: () => 0.5,
      counters: new Counters(),
      logger: silentLogger,
      waits,
      send,
    });
  return { clock, assignment, place, makeFence, makeLetters };
}

test("a letter is tried for as long as no broker can be reached, which is no attempt of it; what brokers refuse halts after some", async () => {
  const { clock, place, makeFence, makeLetters } = setUp();
  const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const away = Object.assign(new Error("[send-failed] writing to dead failed"), { code: "send-failed", cause: refused });
  const tooLarge = Object.assign(new Error("too large"), { code: "send-failed" });
  const sendsOf = async (answers: (attempt: number) => Error | null): Promise<readonly [attempts: number, isWritten: unknown]> => {
    let attempts = 0;
    const letters = makeLetters("dead-letter", async () => {
      const failure = answers(++attempts);
      if (failure !== null) {
        throw failure;
      }
    });
    const fence = makeFence();
    const written = letters
      .setAside(place, { kind: "parked", behind: 4n }, fence)
      .catch((error: unknown) => (error as { code: string }).code);
    const outcome = await clock.run(written);
    return [attempts, outcome];
  };
  expect(await sendsOf((attempt) => (attempt <= 40 ? away : null))).toEqual([41, true]);
  expect(await sendsOf(() => tooLarge)).toEqual([5, "dead-letter-failed"]);
});

test("a key is not parked if its partition went while the dead letter was sent: nobody would forget it", async () => {
  const { assignment, place, makeFence, makeLetters } = setUp();
  const parkedAfter = async (sent: (fence: Fence) => void): Promise<number> => {
    const fence = makeFence();
    const letters = makeLetters("park-key", async () => {
      letters.parkedKeys.release([assignment]);
      sent(fence);
    });
    expect(await letters.setAside(place, { kind: "parked", behind: 4n }, fence)).toBe(true);
    return letters.parkedKeys.count;
  };
  expect(await parkedAfter(() => {})).toBe(1);
  expect(await parkedAfter((fence) => fence.close())).toBe(0);
});
