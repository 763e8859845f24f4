import { expect, test } from "vitest";
import { isCompleteGroup } from "./complete-group.ts";

test.each([
  [[2, 2], 4, true],
  [[3, 2], 5, true],
  [[4, null], 4, false],
  [[4, 0], 4, false],
  [[2, 1], 4, false],
  [[1, null, 0], 1, false],
  [[1, 0, 0], 1, true],
  [[0, 0], 1, false],
])("members with %j of %i partitions are a complete group: %j", (members, partitions, isComplete) => {
  expect(isCompleteGroup(members, partitions)).toBe(isComplete);
});
