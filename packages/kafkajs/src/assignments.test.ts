import { expect, test } from "vitest";
import { Assignments } from "./assignments.ts";

test("what is to be committed counts as handled before the group has it: what retention makes us put back must not fall behind it", () => {
  const assignments = new Assignments();
  const [assignment] = assignments.renew({ t: [0] }, false);
  if (assignment === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  const held = assignments.held(assignment);
  assignments.committed([{ assignment, offset: 43n }]);
  assignments.handled([{ assignment, offset: 44n }]);
  expect(held).toMatchObject({ reached: 43n, handledTo: 44n });
  assignments.committed([{ assignment, offset: 44n }]);
  expect(held).toMatchObject({ reached: 44n, handledTo: 44n });
  assignments.handled([{ assignment, offset: 40n }]);
  expect(held).toMatchObject({ handledTo: 44n });
});

test("what is about to be given up is not looked at for another topic id: a new assignment of it would be nobody's to give up", () => {
  const assignments = new Assignments();
  for (const assignment of assignments.renew({ a: [0], b: [0] }, false)) {
    assignment.topicId = `the id of ${assignment.topic}`;
  }
  expect(assignments.identified()).toHaveLength(2);
  assignments.announceRelease();
  expect(assignments.identified()).toEqual([]);
});
