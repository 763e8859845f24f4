import { expect, test } from "vitest";
import { HeldPartitions } from "./assignments.ts";

test("what is to be committed counts as handled before the group has it: what retention makes us put back must not fall behind it", () => {
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
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
