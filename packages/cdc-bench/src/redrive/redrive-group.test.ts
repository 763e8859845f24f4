import { expect, test } from "vitest";
import { collectFilter, everything, type RedriveFilter } from "./redrive-filter.ts";
import { groupOf } from "./redrive-group.ts";

function filterOf(...texts: readonly string[]): RedriveFilter {
  return texts.reduce((filter, text) => collectFilter(text, filter), everything);
}

test("a selection has one group in whatever order its filters stand, so that no run writes again what it has written", () => {
  const group = groupOf("dead", null, filterOf("topic=a", "topic=b", "code=x", "code=y"));
  expect(groupOf("dead", null, filterOf("code=y", "topic=b", "code=x", "topic=a", "topic=b"))).toBe(group);
});

test("another selection, and another target, have a group of their own", () => {
  const groups = [
    groupOf("dead", null, everything),
    groupOf("dead", "other", everything),
    groupOf("dead", null, filterOf("topic=a")),
    groupOf("dead", null, filterOf("code=a")),
    groupOf("dead", null, filterOf("since=2026-01-31T08:00:00Z")),
  ];
  expect(groups[0]).toBe("cdc-bench-redrive-dead");
  expect(new Set(groups).size).toBe(groups.length);
});
