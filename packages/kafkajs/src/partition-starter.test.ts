import { silentLogger } from "@cdckit/consumer";
import { ProbeSink } from "@cdckit/testkit";
import type { Consumer } from "kafkajs";
import { expect, test } from "vitest";
import { Assignments, type KafkaJsOffsets } from "./assignments.ts";
import { type BrokerOffsets, placeOf } from "./broker-offsets.ts";
import { Commits } from "./commits.ts";
import { PartitionControl } from "./partition-control.ts";
import { PartitionStarter } from "./partition-starter.ts";
import type { Transactions } from "./transactions.ts";

/** Two partitions with records 5 to 9. What the group has committed of the first is gone. */
function setUp() {
  const assignments = new Assignments();
  const sink = new ProbeSink();
  const sought: string[] = [];
  const sent: KafkaJsOffsets[] = [];
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const ends = new Map([0, 1].map((partition) => [placeOf("t", partition), { low: 5n, high: 10n }]));
  const committed = new Map([
    [placeOf("t", 0), { offset: 2n, topicId: "id" }],
    [placeOf("t", 1), { offset: 6n, topicId: "id" }],
  ]);
  const brokerOffsets = {
    topicIds: () => answered.then(() => new Map([["t", "id"]])),
    committed: () => Promise.resolve(committed),
    ends: () => Promise.resolve(ends),
  } as unknown as BrokerOffsets; // as much as is asked
  const consumer = {
    pause: () => {},
    resume: () => {},
    seek: ({ partition, offset }: { partition: number; offset: string }) => void sought.push(`${partition}@${offset}`),
  } as unknown as Consumer; // as much as is asked
  const commits = new Commits({ assignments, transactions: {} as Transactions, refused: () => {} });
  commits.useGeneration(async (offsets) => void sent.push(offsets));
  const failures: string[] = [];
  const starter = new PartitionStarter({
    brokerOffsets,
    subscription: { groupId: "g", topics: ["t"], from: "earliest", logger: silentLogger },
    sink,
    assignments,
    control: new PartitionControl(consumer, assignments),
    commits,
    brokers: "b:1",
    over: new AbortController().signal,
    fail: (error) => void failures.push(error.message),
  });
  return { assignments, starter, sought, sent, failures, commits, answer };
}

test("what the group's position lacks fails the session that starts there", async () => {
  const { assignments, starter, failures, sought, answer } = setUp();
  const [first, second] = assignments.renew({ t: [0, 1] }, true);
  starter.begin([first, second].flatMap((one) => one ?? []));
  answer();
  await assignments.heldOf(assignments.current())[0]?.start;
  expect(failures).toEqual([expect.stringContaining("the records from 2 to 4 are gone")]);
  expect(sought).toEqual([]);
});

test("a range that is lost for a partition that was moved meanwhile fails nothing, and the others start", async () => {
  const { assignments, starter, failures, sought, commits, sent, answer } = setUp();
  const both = assignments.renew({ t: [0, 1] }, true);
  const [first, second] = both;
  starter.begin(both);
  const moved = first === undefined ? null : starter.move(first, 7n);
  if (moved === null || second === undefined) {
    throw new Error("expected two partitions, and the first of them moved");
  }
  const committed = commits.commit([{ assignment: moved, offset: 7n }]);
  answer();
  await Promise.all(assignments.heldOf([moved, second]).map(({ start }) => start));
  await committed;
  expect(failures).toEqual([]);
  expect(sought.sort()).toEqual(["0@7", "1@6"]);
  expect([moved.topicId, sent]).toEqual([
    "id",
    [{ topics: [{ topic: "t", partitions: [{ partition: 0, offset: "7", metadata: "cdckit/1 topic=id" }] }] }],
  ]);
});
