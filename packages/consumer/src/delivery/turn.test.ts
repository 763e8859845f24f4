import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { type Consumer, createConsumer } from "../consumer.ts";
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

  test("is over in time, too, if a record takes a good part of it", () => {
    const clock = virtualClock();
    let nowMs = 0;
    const turn = new Turn(clockWith(clock, { nowMs: () => nowMs }), null, 10);
    const lastedMs = Array.from({ length: 5 }, () => {
      const startedAtMs = nowMs;
      while (turn.restWhereDue() === null) {
        nowMs += 4; // the record is handled
      }
      return nowMs - startedAtMs;
    });
    expect(lastedMs[0], "nobody knows yet what a record takes").toBe(60);
    expect(Math.max(...lastedMs.slice(1))).toBeLessThanOrEqual(16);
  });

  test.each(["one after the other", "concurrently", "by a loop over a stream"])(
    "ends amid a batch of large records that are handled %s",
    async (how) => {
      const clock = virtualClock();
      const broker = new MemoryBroker({ t: 1 }, { clock });
      const value = JSON.stringify({ text: "x".repeat(readBytes / 4) });
      broker.append("t", ...Array.from({ length: 16 }, () => ({ key: "k", value })));
      let turns = 0;
      const turnsAt: number[] = [];
      const counted = clockWith(clock, {
        yieldToEventLoop: () => {
          turns++;
          return clock.yieldToEventLoop();
        },
      });
      const delivery = how === "concurrently" ? { concurrency: 4 } : {};
      const consumer = createConsumer({
        driver: memory({ broker }),
        groupId: "g",
        topics: ["t"],
        signals: false,
        clock: counted,
        delivery,
      });
      const handle = (): void => {
        turnsAt.push(turns);
        if (turnsAt.length === 16) {
          void consumer.stop();
        }
      };
      await clock.run(how === "by a loop over a stream" ? overStream(consumer, handle) : consumer.on("*", handle).run());
      expect((turnsAt.at(-1) ?? 0) - (turnsAt[0] ?? 0)).toBeGreaterThanOrEqual(3);
    },
  );
});

async function overStream(consumer: Consumer, handle: () => void): Promise<void> {
  for await (const { done } of consumer.stream()) {
    handle();
    done();
  }
}

function clockWith(clock: Clock, own: Partial<Clock>): Clock {
  return {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    after: (delayMs, call) => clock.after(delayMs, call),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
    ...own,
  };
}
