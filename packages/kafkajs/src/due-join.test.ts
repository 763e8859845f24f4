import { ProbeSink } from "@cdckit/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DueJoin } from "./due-join.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const place = { topic: "t", partition: 0 };
const other = { topic: "t", partition: 1 };
const cause = new Error("another producer writes for this partition now");

function setUp() {
  const sink = new ProbeSink();
  const due = new DueJoin({ sink, host: "b:9092" });
  /** How long the member waits before it joins. */
  const pauseMs = (): number => {
    const startedMs = performance.now();
    while (due.take() === null) {
      vi.advanceTimersByTime(100);
    }
    return performance.now() - startedMs;
  };
  return { due, pauseMs, places: () => [...sink.waits].map((wait) => [wait.place, wait.causes.length]) };
}

test("two programs with one transactional id join after growing pauses, not one after the other without end, and each shows that it waits", () => {
  const { due, pauseMs, places } = setUp();
  const pauses = Array.from({ length: 7 }, () => {
    due.fenced(place, cause);
    due.fenced(other, cause); // in the same generation
    const paused = pauseMs();
    due.joined([place, other]);
    return paused;
  });
  expect(pauses).toEqual([0, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  expect(places()).toEqual([
    ["t[0]", 7],
    ["t[1]", 7],
  ]);
});

test("a transaction that succeeds between two fences ends the wait, and not the pauses: the other program is still there", () => {
  const { due, pauseMs, places } = setUp();
  due.fenced(place, cause);
  pauseMs();
  due.joined([place]);
  due.written(place);
  expect(places()).toEqual([]);
  due.fenced(place, cause);
  expect([pauseMs(), places()]).toEqual([1_000, [["t[0]", 1]]]);
});

test("a partition that another member gets is not waited for, nor one of which nothing more comes", () => {
  const { due, pauseMs, places } = setUp();
  due.fenced(place, cause);
  due.fenced(other, cause);
  pauseMs();
  due.joined([place]);
  expect(places()).toEqual([["t[0]", 1]]);
  vi.advanceTimersByTime(30_000);
  expect([due.take(), places()]).toEqual([null, []]);
  due.fenced(place, cause);
  expect(pauseMs()).toBe(0);
});

test("topics that were deleted are given up at once, whatever else is waited for", () => {
  const { due, pauseMs } = setUp();
  due.fenced(place, cause);
  pauseMs();
  due.joined([place]);
  due.fenced(place, cause);
  due.topicsDeleted();
  expect(due.take()).toBe("topics were deleted");
});
