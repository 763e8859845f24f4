import { silentLogger } from "@cdckit/consumer";
import type { BrokerQuestions } from "@cdckit/driver";
import { expect, test } from "vitest";
import { type Held, HeldPartitions } from "./assignments.ts";
import { TopicRecheck } from "./topic-recheck.ts";

type TopicIds = () => Promise<ReadonlyMap<string, string>>;

/** One partition of a topic whose id is "old". */
function setUp(topicIds: TopicIds): { readonly check: TopicRecheck; readonly assignments: HeldPartitions; readonly held: Held } {
  const assignments = new HeldPartitions();
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  held.assignment.topicId = "old";
  held.isStarting = false;
  const check = new TopicRecheck({
    brokers: { topicIds } as unknown as BrokerQuestions, // as much as is asked
    groupId: "g",
    assignments,
    logger: silentLogger,
    recreated: (recreated) => void assignments.add(recreated.map(({ assignment }) => assignment)),
    failed: () => {},
  });
  return { check, assignments, held };
}

test.each<[string, TopicIds]>([
  ["no broker answers", () => Promise.reject(new Error("no broker answers"))],
  ["the broker that is asked does not know the topic yet", () => Promise.resolve(new Map())],
])("after a fetch that has failed, nothing is handed over for as long as %s", async (_name, unknown) => {
  let answer = unknown;
  const { check, assignments, held } = setUp(() => answer());
  expect(await check.isSame(held)).toBe(true);
  assignments.recheckTopic();
  expect([await check.isSame(held), await check.isSame(held)]).toEqual([false, false]);
  answer = () => Promise.resolve(new Map([["t", "old"]]));
  expect(await check.isSame(held)).toBe(true);
  answer = unknown;
  expect(await check.isSame(held)).toBe(true);
});

test("a topic that was recreated while no broker answered is found out before anything of it is handed over", async () => {
  let answer: TopicIds = () => Promise.reject(new Error("no broker answers"));
  const { check, assignments, held } = setUp(() => answer());
  assignments.recheckTopic();
  expect(await check.isSame(held)).toBe(false);
  answer = () => Promise.resolve(new Map([["t", "new"]]));
  expect(await check.isSame(held)).toBe(false);
  expect([held.isOver, assignments.isCurrent(held.assignment)]).toEqual([true, false]);
});

test("an answer that was asked for before the fetch failed says nothing about the topic after it", async () => {
  const answers: ((id: string) => void)[] = [];
  const { check, assignments, held } = setUp(() => new Promise((resolve) => answers.push((id) => resolve(new Map([["t", id]])))));
  const early = check.look();
  assignments.recheckTopic();
  const isSame = check.isSame(held);
  answers[0]?.("old");
  await early;
  for (let turn = 0; turn < 20 && answers.length < 2; turn++) {
    await Promise.resolve();
  }
  answers[1]?.("new");
  expect(await isSame).toBe(false);
  expect(held.isOver).toBe(true);
});
