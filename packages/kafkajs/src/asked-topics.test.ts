import { expect, test } from "vitest";
import { AskedTopics } from "./asked-topics.ts";

function setUp(...topics: string[]) {
  const cluster = { targetTopics: new Set(topics) };
  const askedTopics = new AskedTopics();
  askedTopics.askedBy(cluster as never);
  return {
    cluster,
    leaveOut: (...missing: string[]) => {
      askedTopics.leaveOut(new Set(missing));
      return [...cluster.targetTopics].sort().join();
    },
  };
}

test("what is missing is not asked about until it has come back", () => {
  const { leaveOut } = setUp("a", "b", "c");
  expect([leaveOut("b"), leaveOut("b", "c"), leaveOut("c"), leaveOut()]).toEqual(["a,c", "a", "a,b", "a,b,c"]);
});

test("if all are missing, all are asked about: none would mean every topic of the brokers", () => {
  const { leaveOut } = setUp("a", "b");
  expect([leaveOut("a"), leaveOut("a", "b"), leaveOut("b"), leaveOut("a", "b"), leaveOut()]).toEqual(["b", "a,b", "a", "a,b", "a,b"]);
});

test("a topic that kafkajs has subscribed to meanwhile is asked about", () => {
  const { cluster, leaveOut } = setUp("a", "b");
  leaveOut("b");
  cluster.targetTopics = new Set([...cluster.targetTopics, "later"]);
  expect([leaveOut("b"), leaveOut()]).toEqual(["a,later", "a,b,later"]);
});

test("without a consumer, nothing is left out", () => {
  expect(() => new AskedTopics().leaveOut(new Set(["a"]))).not.toThrow();
});
