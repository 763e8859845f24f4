import { virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../observe/logger.ts";
import { Waits } from "../observe/waits.ts";
import { Lease } from "./lease.ts";

const next = { withinMs: 3_500, host: "broker:9092" };

function setUp() {
  const clock = virtualClock();
  const waits = new Waits({ clock, logger: silentLogger });
  const lease = new Lease({ clock, wait: (wait) => waits.open(wait) });
  return { clock, lease, report: () => waits.report() };
}

describe("a group that is silent", () => {
  test("is shown 5 s after its last acknowledgement, with the broker, long before the lease is over", async () => {
    const { clock, lease, report } = setUp();
    lease.extend(45_000, next);
    await clock.advance(4_900);
    expect(report()).toEqual([]);
    await clock.advance(200);
    expect(lease.isOver).toBe(false);
    expect(report()).toMatchObject([
      { what: "the group's acknowledgement of this member", host: "broker:9092", failures: 1, cause: expect.stringContaining("for 5 s") },
    ]);
    lease.extend(45_000, next);
    expect(report()).toEqual([]);
  });

  test("is not shown while acknowledgements come in time, nor if none was promised, nor after the close", async () => {
    const { clock, lease, report } = setUp();
    for (let beats = 0; beats < 10; beats++) {
      lease.extend(45_000, next);
      await clock.advance(3_500);
      expect(report()).toEqual([]);
    }
    lease.extend(45_000);
    await clock.advance(20_000);
    expect(report()).toEqual([]);
    lease.extend(45_000, next);
    lease.close();
    await clock.advance(20_000);
    expect(report()).toEqual([]);
  });

  test("has longer if its heartbeats are further apart", async () => {
    const { clock, lease, report } = setUp();
    lease.extend(60_000, { ...next, withinMs: 10_000 });
    await clock.advance(11_400);
    expect(report()).toEqual([]);
    await clock.advance(200);
    expect(report()).toHaveLength(1);
  });

  test("is one wait, also when the lease is over", async () => {
    const { clock, lease, report } = setUp();
    lease.extend(10_000, next);
    await clock.advance(11_000);
    void lease.renewed();
    expect(report()).toMatchObject([{ host: "broker:9092", failures: 2 }]);
    lease.extend(10_000, next);
    expect(report()).toEqual([]);
  });

  test("is not shown if an acknowledgement is in a socket when the timer fires: this process stood still", async () => {
    const clock = virtualClock();
    const waits = new Waits({ clock, logger: silentLogger });
    let answer = (): void => {};
    const sockets = { ...clock, after: clock.after.bind(clock), nowMs: () => clock.nowMs(), wallMs: () => clock.wallMs() };
    const yieldToEventLoop = async (): Promise<void> => answer();
    const lease = new Lease({ clock: { ...sockets, yieldToEventLoop }, wait: (wait) => waits.open(wait) });
    answer = () => lease.extend(45_000, next);
    lease.extend(45_000, next);
    await clock.advance(5_100);
    expect(waits.report()).toEqual([]);
  });
});
