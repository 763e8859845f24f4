import { virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { Lease } from "./lease.ts";
import { PartitionLife } from "./partition-life.ts";

function newLife(): PartitionLife {
  const clock = virtualClock();
  return new PartitionLife(clock, new Lease({ clock, wait: () => ({ failed: () => {}, end: () => {} }) }));
}

describe("what may start on a partition", () => {
  test("while it is open, any record may start", () => {
    const life = newLife();
    life.handles(7n);
    expect([life.mayStart(3n), life.mayStart(8n)]).toEqual([true, true]);
    expect([life.reading.isClosed, life.fence.isClosed]).toEqual([false, false]);
  });

  test.each([
    { handled: [7n, 5n], inHandUpTo: -1n },
    { handled: [5n], inHandUpTo: 7n },
    { handled: [], inHandUpTo: 7n },
  ])(
    "while it finishes, nothing is read, and only records up to the highest one that is handled or in hand may start",
    ({ handled, inHandUpTo }) => {
      const life = newLife();
      handled.forEach((offset) => life.handles(offset));
      life.finish(inHandUpTo);
      expect([life.mayStart(6n), life.mayStart(7n), life.mayStart(8n)]).toEqual([true, true, false]);
      expect([life.reading.isClosed, life.fence.isClosed]).toEqual([true, false]);
    },
  );

  test("that limit falls when what was in hand has failed, and never rises", () => {
    const life = newLife();
    life.handles(5n);
    life.finish(7n);
    life.finish(6n);
    expect([life.mayStart(6n), life.mayStart(7n)]).toEqual([true, false]);
    life.finish();
    expect([life.mayStart(5n), life.mayStart(6n)]).toEqual([true, false]);
    life.handles(9n);
    life.finish(9n);
    expect([life.mayStart(5n), life.mayStart(6n)]).toEqual([true, false]);
  });

  test("nothing may start if it finishes before anything is handled or in hand", () => {
    const life = newLife();
    life.finish();
    expect(life.mayStart(0n)).toBe(false);
  });

  test("after it is fenced, nothing may start", () => {
    const life = newLife();
    life.handles(7n);
    life.fenceOff("another member has it");
    expect(life.mayStart(7n)).toBe(false);
    expect([life.reading.isClosed, life.fence.isClosed, life.fencedBecause]).toEqual([true, true, "another member has it"]);
  });

  test("a partition that has finished is fenced, and keeps the reason of an earlier fence", () => {
    const finished = newLife();
    finished.finish();
    finished.finished();
    expect([finished.isFenced, finished.fencedBecause]).toEqual([true, null]);
    const fenced = newLife();
    fenced.fenceOff("another member has it");
    fenced.fenceOff();
    expect(fenced.fencedBecause).toBe("another member has it");
  });

  test("a wait for the next attempt ends as soon as its fence is closed", async () => {
    const life = newLife();
    const waits = Promise.all([life.reading.pause(60_000), life.fence.pause(60_000)]);
    life.finish();
    await life.reading.pause(60_000);
    life.finished();
    await waits;
    expect(life.isFenced).toBe(true);
  });
});
