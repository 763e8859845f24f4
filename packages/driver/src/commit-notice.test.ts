import { silentLogger, type Subscription } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { CommitNotice } from "./commit-notice.ts";
import type { Start } from "./starts.ts";

const text = "the group has committed these partitions, so they go on there and the option from has no effect";

function startOf(partition: number, committed: bigint | null): Start {
  const assignment = { topic: "shop.orders", partition, epoch: 1, topicId: "id" };
  return { assignment, offset: committed ?? 0n, committed, skipped: null } as unknown as Start; // as much as is read of it
}

function setUp(given: Partial<Subscription>) {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, info: (fields: object, message: string) => void lines.push([fields, message]) };
  return { lines, notice: new CommitNotice({ from: "earliest", logger, ...given }) };
}

test("a start after a commit says that `from` has no effect, and one without a commit says nothing", () => {
  const { lines, notice } = setUp({ isFromGiven: true });
  notice.started([startOf(0, null)]);
  expect(lines).toEqual([]);
  notice.started([startOf(0, null), startOf(1, 6n)]);
  expect(lines).toEqual([[{ partitions: ["shop.orders[1]"], from: "earliest" }, expect.stringContaining(text)]]);
});

test("each partition is named once, however often the group is joined", () => {
  const { lines, notice } = setUp({ isFromGiven: true });
  notice.started([startOf(1, 6n)]);
  notice.started([startOf(1, 7n)]);
  notice.started([startOf(1, 7n), startOf(2, 1n)]);
  const named = (partition: string) => [{ partitions: [partition], from: "earliest" }, expect.stringContaining(text)];
  expect(lines).toEqual([named("shop.orders[1]"), named("shop.orders[2]")]);
});

test.each<[string, Partial<Subscription>]>([
  ["nobody gave `from`", { isFromGiven: false }],
  ["the positions are kept elsewhere", { startAt: async () => [] }],
])("nothing is said if %s", (_, given) => {
  const { lines, notice } = setUp(given);
  notice.started([startOf(0, 6n)]);
  expect(lines).toEqual([]);
});
