import { silentLogger, type Subscription } from "@cdckit/consumer";
import { expect, test } from "vitest";
import type { BrokerQuestions, TopicIdsByName } from "./broker-questions.ts";
import { DriverError } from "./errors.ts";
import type { LogEnds, Position } from "./lost-range.ts";
import { placeOf } from "./place.ts";
import { preflight } from "./preflight.ts";

const subscription: Subscription = { groupId: "g", topics: ["t"], from: "earliest", logger: silentLogger, lostRange: "earliest" };

/** Brokers that answer the ids in turn, and have another log of this name by the time that they are asked for its ends. */
function brokersThatAnswer(ids: readonly TopicIdsByName[], commit: Position, log: LogEnds): BrokerQuestions {
  let asked = 0;
  return {
    topics: async () => ["t"],
    partitionsOf: async () => [{ topic: "t", partition: 0 }],
    topicIds: async () => ids[asked++],
    committed: async () => new Map([[placeOf("t", 0), commit]]),
    ends: async () => new Map([[placeOf("t", 0), log]]),
  } as unknown as BrokerQuestions; // as much as is asked
}

function check(ids: readonly TopicIdsByName[], commit: Position = { offset: 643n, topicId: "old" }): Promise<readonly string[]> {
  return preflight(brokersThatAnswer(ids, commit, { low: 0n, high: 0n }), subscription, (...error) => new DriverError(...error));
}

test.each<[string, TopicIdsByName, TopicIdsByName]>([
  ["is recreated between the questions", new Map([["t", "old"]]), new Map([["t", "new"]])],
  ["is deleted between the questions", new Map([["t", "old"]]), new Map([["t", null]])],
  ["is created between the questions", new Map([["t", null]]), new Map([["t", "new"]])],
  ["is unknown before and after, and its log and its commits are not yet gone", new Map([["t", null]]), new Map([["t", null]])],
])("a topic that %s does not end the member: the start of its partitions finds out whose the position is", async (_name, before, after) => {
  expect(await check([before, after])).toEqual(["t"]);
});

test.each([
  ["is read", { topics: ["t", "kept"] }, "The user needs Describe and Read on the topic kept"],
  [
    "takes dead letters",
    { topics: ["t"], writesTo: [{ topic: "kept", option: "failure.deadLetterTopic", create: null }] },
    "The user needs Describe and Write on the topic kept",
  ],
])("a topic that %s and that the user may not see is no missing topic: the error names the right", async (_name, more, needed) => {
  const brokers: BrokerQuestions = {
    ...brokersThatAnswer([], { offset: 0n, topicId: null }, { low: 0n, high: 0n }),
    hidden: async (topics) => topics.filter((topic) => topic === "kept"),
  };
  const checked = preflight(brokers, { ...subscription, ...more }, (...error) => new DriverError(...error));
  await expect(checked).rejects.toMatchObject({ code: "not-authorized", message: expect.stringContaining(needed) as string });
});

test("a topic that was recreated is read from its start, if lostRange says so", async () => {
  const ids = new Map([["t", "new"]]);
  expect(await check([ids, ids])).toEqual(["t"]);
});

test.each<[string, TopicIdsByName]>([
  ["of this topic", new Map([["t", "old"]])],
  ["on brokers without topic ids", new Map()],
])("a position after the end of the log ends the member before it joins: %s", async (_name, ids) => {
  await expect(check([ids, ids])).rejects.toMatchObject({ code: "offset-out-of-range" });
});
