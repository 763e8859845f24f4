import { expect, test } from "vitest";
import { neededToCreate, neededToRead, neededToWrite, refusedResource } from "./missing-right.ts";

test.each([
  [29, "topic"],
  [30, "group"],
  [31, "cluster"],
  [53, "transactional-id"],
])("Kafka's code %s refuses a right on a %s", (code, resource) => {
  expect(refusedResource(["ERR", undefined, code])).toBe(resource);
});

test("other codes refuse no right", () => {
  expect(refusedResource([3, "29", undefined])).toBeNull();
});

test("the right that a reader lacks is named with its topics or its group", () => {
  const subscription = { groupId: "stock", topics: ["shop.a", /^shop\./] };
  expect(neededToRead("group", subscription)).toBe("The user needs Read on the group stock");
  expect(neededToRead("topic", subscription)).toBe("The user needs Describe and Read on the topics shop.a, /^shop\\./");
  expect(neededToRead("topic", { groupId: "stock", topics: ["a", "b", "c", "d", "e"] })).toMatch(/on the topics a, b, c and 2 more$/);
  expect(neededToRead("cluster", { groupId: "stock", topics: ["a"] })).toMatch(/on the topic a, and Read on the group stock$/);
});

test("the right that a writer lacks is named with its topic, its transactional ids or its group", () => {
  expect(neededToWrite("topic", ["out"], null)).toBe("The user needs Describe and Write on the topic out");
  expect(neededToWrite("transactional-id", ["out"], "stock")).toBe("The user needs Write on the transactional ids that begin with stock");
  expect(neededToWrite("group", ["out"], "stock")).toBe("The user needs Read on the group stock");
  expect(neededToWrite("cluster", ["out"], null)).toMatch(
    /^The user needs Describe and Write on the topic out; .*IdempotentWrite on the cluster/,
  );
});

test("who may not create a topic may also only not see it", () => {
  expect(neededToCreate("letters")).toBe("The user needs Create on the topic letters; if the topic is there, Describe and Write on it");
});
