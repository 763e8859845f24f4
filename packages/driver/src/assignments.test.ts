import { expect, test } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";

function setUp(): Assignments<HeldPartition & { next: bigint | null }> {
  return new Assignments<HeldPartition & { next: bigint | null }>({
    hold: (held) => ({ ...held, next: null }),
    positionOf: ({ next }) => next,
  });
}

const places = ["a", "b"].map((topic) => ({ topic, partition: 0 }));

test("what is about to be given up is not looked at for another topic id: a new assignment of it would be nobody's to give up", () => {
  const assignments = setUp();
  for (const assignment of assignments.add(places)) {
    assignment.topicId = `the id of ${assignment.topic}`;
  }
  assignments.all().forEach((held) => (held.isStarting = false));
  expect(assignments.identified()).toHaveLength(2);
  assignments.announceRelease(assignments.all());
  expect(assignments.identified()).toEqual([]);
});

test("a partition that is assigned again is another assignment, and the old one neither commits nor ends the new one", () => {
  const assignments = setUp();
  const [old] = assignments.add(places);
  const [was] = assignments.all();
  const [renewed] = assignments.add(places.slice(0, 1));
  if (old === undefined || was === undefined || renewed === undefined) {
    throw new Error("expected the partitions that were assigned");
  }
  expect([was.isOver, assignments.isCurrent(old), renewed.epoch]).toEqual([true, false, old.epoch + 1]);
  expect([old, renewed].map((assignment) => assignments.isAhead({ assignment, offset: 5n }))).toEqual([false, true]);
  assignments.release([was]);
  expect(assignments.isCurrent(renewed)).toBe(true);
});

test("a position is remembered with the id of its topic, when the partition is given up", () => {
  const assignments = setUp();
  assignments.add(places);
  const [first, second] = assignments.all();
  if (first === undefined || second === undefined) {
    throw new Error("expected the partitions that were assigned");
  }
  first.assignment.topicId = "id";
  first.next = 7n;
  second.next = 9n; // of a topic that nobody has told from another one
  assignments.clear();
  expect(places.map((place) => assignments.readBefore(place))).toEqual([{ offset: 7n, topicId: "id" }, null]);
});
