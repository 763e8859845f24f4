import { silentLogger } from "@cdckit/consumer";
import { afterEach, expect, test, vi } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { TopicCheck } from "./topic-check.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A check of one partition of the topic `t`, whose id was "old". */
function checkOf(answers: readonly (string | null | Error)[]): {
  readonly check: TopicCheck<HeldPartition>;
  readonly held: HeldPartition;
  readonly asked: () => number;
} {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  assignments.add([{ topic: "t", partition: 0 }]).forEach((assignment) => (assignment.topicId = "old"));
  const [held] = assignments.all();
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  held.isStarting = false;
  let asked = 0;
  const topicIds = async (): Promise<ReadonlyMap<string, string>> => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? null;
    if (answer instanceof Error) {
      throw answer;
    }
    return new Map(answer === null ? [] : [["t", answer]]);
  };
  const check = new TopicCheck({ brokers: { topicIds }, assignments, logger: silentLogger, recreated: () => {} });
  return { check, held, asked: () => asked };
}

test.each<[string, string | null | Error, boolean]>([
  ["the topic that is held", "old", true],
  ["another topic", "new", false],
  ["no such topic, because it is between its deletion and its creation", null, false],
  ["nothing", new Error("no broker answers"), false],
])("what brokers say of a log counts only if they know %s after it", async (_name, answer, isStill) => {
  const { check, held } = checkOf(["old", answer]);
  await check.look();
  expect(await check.isStill(held)).toBe(isStill);
});

test("without topic ids, what brokers say of a log counts", async () => {
  const { check, held, asked } = checkOf([new Error("is not asked")]);
  held.assignment.topicId = null;
  expect([await check.isStill(held), asked()]).toEqual([true, 0]);
});

test("a batch is followed by a check until the brokers know its topic, though no other batch comes", async () => {
  vi.useFakeTimers();
  const { check, asked } = checkOf(["old", new Error("no broker answers"), null, "old"]);
  await check.look();
  expect(check.isDue).toBe(false);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked()).toBe(1); // whether it is due was read, and starts nothing
  check.followBatch();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked()).toBe(4);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([asked(), check.isDue]).toEqual([4, true]);
  check.stop();
  check.followBatch();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked()).toBe(4);
});

test("a broker that is late does not bring a deleted topic back: its partition would be read from the start over and over", async () => {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  const assign = (id: string): void => {
    assignments.add([{ topic: "t", partition: 0 }]).forEach((assignment) => (assignment.topicId = id));
    assignments.all().forEach((held) => (held.isStarting = false));
  };
  let answer = "new";
  let renewals = 0;
  const check = new TopicCheck({
    brokers: { topicIds: async () => new Map([["t", answer]]) },
    assignments,
    logger: silentLogger,
    recreated: () => {
      renewals++;
      assign("new");
    },
  });
  assign("old");
  expect([await check.look(), renewals]).toEqual([new Map([["t", "new"]]), 1]);
  answer = "old"; // of another broker
  expect([await check.look(), renewals]).toEqual([new Map(), 1]);
});
