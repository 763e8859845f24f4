import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { createConsumer } from "../consumer.ts";
import { Lease } from "./lease.ts";
import { PartitionLife } from "./partition-life.ts";
import { Turn } from "./turn.ts";

/** More than what a broker has under way until its socket is read. */
const readBytes = 262_144;

describe("a turn", () => {
  test("is over when so much was read that a broker may wait for its socket, and the next one counts anew", async () => {
    const clock = virtualClock();
    const lease = new Lease({ clock, wait: () => ({ failed: () => {}, end: () => {} }) });
    const turn = new Turn(clock, new PartitionLife(clock, lease).fence, 10);
    turn.hasRead(readBytes - 1);
    expect(turn.restWhereDue()).toBe(null);
    turn.hasRead(1);
    const rest = turn.restWhereDue();
    expect(rest).not.toBe(null);
    await clock.run(Promise.resolve(rest));
    expect(turn.restWhereDue()).toBe(null);
  });

  test.each([
    ["one after the other", {}],
    ["concurrently", { concurrency: 4 }],
  ])("ends amid a batch of large records that are handled %s", async (_, delivery) => {
    const clock = virtualClock();
    const broker = new MemoryBroker({ t: 1 }, { clock });
    const value = JSON.stringify({ text: "x".repeat(readBytes / 4) });
    broker.append("t", ...Array.from({ length: 16 }, () => ({ key: "k", value })));
    let turns = 0;
    const turnsAt: number[] = [];
    const counted: Clock = {
      ...{ nowMs: () => clock.nowMs(), wallMs: () => clock.wallMs(), after: (delayMs, call) => clock.after(delayMs, call) },
      yieldToEventLoop: () => {
        turns++;
        return clock.yieldToEventLoop();
      },
    };
    const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock: counted, delivery });
    consumer.on("*", () => {
      turnsAt.push(turns);
      if (turnsAt.length === 16) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect((turnsAt.at(-1) ?? 0) - (turnsAt[0] ?? 0)).toBeGreaterThanOrEqual(3);
  });
});
