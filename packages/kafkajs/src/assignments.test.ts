import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Held, HeldPartitions } from "./assignments.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function start(assignments: HeldPartitions, { assignment }: Held): void {
  for (const held of assignments.heldOf([assignment])) {
    assignments.started(held, { assignment, offset: 0n, committed: null, skipped: null });
  }
}

test.each<[string, (assignments: HeldPartitions, first: Held) => void]>([
  ["has started", start],
  ["was given up", (assignments, first) => assignments.release([first])],
])("who waits for a start goes on as soon as a partition %s, and leaves no timer", async (_, happen) => {
  const assignments = new HeldPartitions();
  assignments.renew({ t: [0, 1] });
  const waits = Promise.all([assignments.untilStarted(60_000), assignments.untilStarted(60_000)]);
  happen(assignments, assignments.all()[0] as Held);
  await waits;
  expect(vi.getTimerCount()).toBe(0);
});

test("who waits for a start that stays unknown goes on after its time", async () => {
  const assignments = new HeldPartitions();
  assignments.renew({ t: [0] });
  const wait = assignments.untilStarted(500);
  vi.advanceTimersByTime(500);
  await wait;
  expect(vi.getTimerCount()).toBe(0);
});

test("the group's commit is known by the start that is committed or may be, and moves on", () => {
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  const [held] = assignments.all();
  if (assignment === undefined || held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  expect(assignments.reachedOf(assignment)).toBeNull();
  held.uncommittedStart = 5n;
  start(assignments, held);
  expect([held.reached, assignments.reachedOf(assignment)]).toEqual([null, 5n]);
  assignments.committed([{ assignment, offset: 7n }]);
  expect(assignments.reachedOf(assignment)).toBe(7n);
});

test("the group's commit stays known when this member moves the partition, and is forgotten with the topic", () => {
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  assignments.all().forEach((held) => start(assignments, held));
  if (assignment === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  assignments.committed([{ assignment, offset: 7n }]);
  const [moved] = assignments.add([assignment]);
  const held = assignments.at("t", 0);
  if (moved === undefined || held === undefined) {
    throw new Error("expected the partition that was moved");
  }
  assignments.started(held, { assignment: moved, offset: 1n, skipped: null });
  expect(assignments.reachedOf(moved)).toBe(7n);
  start(assignments, held); // as of a recreated topic, whose commits are gone
  expect(assignments.reachedOf(moved)).toBeNull();
});
