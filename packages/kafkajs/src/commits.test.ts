import { expect, test } from "vitest";
import { HeldPartitions, type KafkaJsOffsets } from "./assignments.ts";
import { GroupCommits } from "./commits.ts";

function setUp() {
  const assignments = new HeldPartitions();
  const transactions = { transact: () => Promise.reject(new Error("expected no transaction")) };
  const commits = new GroupCommits({ assignments, transactions, refused: () => {} });
  const sent: string[] = [];
  const generation =
    (name: string, answer: () => Promise<void> = () => Promise.resolve()) =>
    ({ topics }: KafkaJsOffsets) => {
      const offsets = topics.flatMap(({ partitions }) => partitions.map(({ offset, metadata }) => `${offset} of ${metadata}`));
      sent.push(`${name}: ${offsets.join()}`);
      return answer();
    };
  return { assignments, commits, sent, generation };
}

test("what a partition is put back to is not sent any more when the partition has gone before its turn has come", async () => {
  const { assignments, commits, sent, generation } = setUp();
  let answer = (): void => {};
  commits.useGeneration(generation("first", () => new Promise((resolve) => (answer = resolve))));
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (assignment === undefined || held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  held.isStarting = false;
  const committed = commits.commit([{ assignment, offset: 7n }]);
  const putBack = commits.putBack([{ assignment, offset: 3n }]);
  commits.useGeneration(generation("second"));
  assignments.renew({ t: [0] });
  answer();
  await Promise.all([committed, putBack]);
  expect(sent).toEqual(["first: 7 of null"]);
});

test("the commit of a partition that is still starting waits for its topic's id", async () => {
  const { assignments, commits, sent, generation } = setUp();
  commits.useGeneration(generation("first"));
  const [assignment] = assignments.renew({ t: [0] });
  const held = assignment === undefined ? undefined : assignments.held(assignment);
  if (assignment === undefined || held === undefined) {
    throw new Error("expected the partition that was assigned");
  }
  held.start = Promise.resolve().then(() => {
    assignment.topicId = "A".repeat(22);
    held.isStarting = false;
  });
  await commits.commit([{ assignment, offset: 7n }]);
  expect(sent).toEqual([`first: 7 of cdckit/1 topic=${"A".repeat(22)};`]);
});
