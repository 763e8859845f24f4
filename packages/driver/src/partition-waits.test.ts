import type { WaitFor } from "@cdckit/consumer";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { PartitionWaits } from "./partition-waits.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

function setUp() {
  const open = new Map<WaitFor, unknown>();
  const sink = {
    waiting(wait: WaitFor) {
      open.set(wait, null);
      return { failed: (cause: unknown) => void open.set(wait, cause), end: () => void open.delete(wait) };
    },
  };
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  assignments.add([0, 1].map((partition) => ({ topic: "rows", partition })));
  const [first, second] = assignments.all();
  if (first === undefined || second === undefined) {
    throw new Error("expected two partitions");
  }
  return { open, assignments, first, second, waits: new PartitionWaits({ sink, what: "a fetch", host: "b:1" }) };
}

test("attempts that fail for a second are a wait with its place and the last cause, until one succeeds", () => {
  const { open, first, second, waits } = setUp();
  waits.failed(first, "one");
  expect(open.size).toBe(0);
  vi.advanceTimersByTime(1_000);
  waits.failed(first, "two");
  waits.failed(second, "its first one");
  expect([...open]).toEqual([[{ what: "a fetch", host: "b:1", place: "rows[0]" }, "two"]]);
  waits.failed(first, "three");
  expect([...open.values()]).toEqual(["three"]);
  waits.end(first);
  expect(open.size).toBe(0);
  waits.failed(first, "of another time");
  expect(open.size).toBe(0);
});

test.each([
  ["is about to be given up", "announceRelease"],
  ["was given up", "release"],
  ["was renewed", "add"],
  ["belongs to a session that has failed", "endReading"],
] as const)("a partition that %s is not waited for", (_, how) => {
  const { open, assignments, first, waits } = setUp();
  waits.failed(first, "one");
  vi.advanceTimersByTime(1_000);
  waits.failed(first, "two");
  expect(open.size).toBe(1);
  if (how === "add") {
    assignments.add([first.assignment]);
  } else {
    assignments[how]([first]);
  }
  waits.failed(first, "late");
  expect(open.size).toBe(0);
});

test("an attempt after which nothing comes for a second or longer, as is known, is a wait at once", () => {
  const { open, first, waits } = setUp();
  waits.failed(first, "a short pause", 999);
  expect(open.size).toBe(0);
  waits.failed(first, "a quota", 70_000);
  expect([...open.values()]).toEqual(["a quota"]);
});
