import { virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { Lease } from "./lease.ts";
import { PartitionLife } from "./partition-life.ts";
import { PumpLoop } from "./pump-loop.ts";
import { Turns } from "./turns.ts";

/** A loop whose step is `advance`, and which is entered again after each pause. */
function setUp(advance: (run: () => boolean) => boolean, maxBlockMs = 1_000) {
  const clock = virtualClock();
  const lease = new Lease({ clock, wait: () => ({ failed: () => {}, end: () => {} }) });
  const life = new PartitionLife(clock, lease);
  let pauses = 0;
  const loop: PumpLoop = new PumpLoop(
    life,
    new Turns(clock, maxBlockMs),
    () => advance(() => loop.run()),
    () => {
      pauses++;
      loop.run();
    },
  );
  return { clock, lease, life, loop, pauses: () => pauses };
}

describe("the loop of a partition", () => {
  test("repeats its step until there is nothing more to do", () => {
    let left = 40;
    const { loop } = setUp(() => left-- > 0);
    expect(loop.run()).toBe(true);
    expect(left).toBe(-1);
  });

  test("is not entered a second time by what a step calls", () => {
    const inner: boolean[] = [];
    let left = 3;
    const { loop } = setUp((run) => {
      inner.push(run());
      return left-- > 0;
    });
    loop.run();
    expect(inner).toEqual([false, false, false, false]);
  });

  test("pauses for the event loop when its time is over, and goes on after that", async () => {
    let left = 100;
    const { clock, loop, pauses } = setUp(() => left-- > 0, 0);
    loop.run();
    expect(loop.isPaused).toBe(true);
    expect(left).toBeGreaterThan(0);
    await clock.advance(1_000);
    expect(left).toBe(-1);
    expect(pauses()).toBeGreaterThan(1);
  });

  test("does nothing while the lease is over, and goes on when the group has answered", async () => {
    let left = 3;
    const { clock, lease, loop } = setUp(() => left-- > 0);
    lease.extend(0);
    expect(loop.run()).toBe(false);
    expect(left).toBe(3);
    lease.extend(60_000);
    await clock.advance(1);
    expect(left).toBe(-1);
  });

  test("ends when the partition is fenced, even in the middle", () => {
    let count = 0;
    const { loop, life } = setUp(() => {
      count++;
      if (count === 5) {
        life.fenceOff();
      }
      return true;
    });
    loop.run();
    expect(count).toBe(5);
  });

  test("can be entered again after a step has thrown", () => {
    let isBroken = true;
    const { loop } = setUp(() => {
      if (isBroken) {
        throw new Error("broken");
      }
      return false;
    });
    expect(() => loop.run()).toThrow("broken");
    isBroken = false;
    expect(loop.run()).toBe(true);
  });
});
