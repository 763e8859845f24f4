import { expect, test } from "vitest";
import { refusedJoin } from "./refused-join.ts";

test.each([
  [[undefined, "ECONNREFUSED", 16], null],
  [[undefined, 23], "the group orders has members that divide its partitions by another strategy than sticky"],
  [[26], "the brokers do not allow this sessionTimeoutMs"],
  [[81], "the group orders has as many members as the brokers allow"],
])("what the codes %j say of a group that does not let a member in", (codes, beginning) => {
  const found = refusedJoin(codes, { groupId: "orders" }, "sticky");
  expect(beginning === null ? found : found?.slice(0, beginning.length)).toBe(beginning);
});
