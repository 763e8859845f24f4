import { silentLogger } from "@cdckit/consumer";
import { ProbeSink } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { type Held, heldPartitions } from "./assignments.ts";
import { explainFailure } from "./explain-failure.ts";
import type { FetchedPartition } from "./fetch-response.ts";
import { codes } from "./low-level-client.ts";
import { PartitionReader, type PartitionReaderParts } from "./partition-reader.ts";

function setUp() {
  const assignments = heldPartitions();
  assignments.add([{ topic: "rows", partition: 3 }]);
  const [held] = assignments.all();
  if (held === undefined) {
    throw new Error("expected a partition");
  }
  const seen: string[] = [];
  const refresh = (): Promise<void> => Promise.resolve(void seen.push("leaders"));
  const reader = new PartitionReader({
    subscription: { groupId: "g", topics: ["rows"], from: "earliest", logger: silentLogger },
    sink: new ProbeSink(),
    leaders: { refresh },
    topicCheck: { lookAgain: () => Promise.resolve(null) },
    waits: { failed: (_, cause) => void seen.push(`waits: ${(cause as Error).message}`), end: () => void seen.push("read") },
    nameOf: (code) => `ERROR_${code}`,
    ready: () => {},
    wake: () => {},
    fail: (error) => void seen.push(`fails: ${explainFailure(error, "b:1", { groupId: "stock", topics: ["rows"] }).message}`),
  } as Pick<PartitionReaderParts, "waits" | "nameOf" | "fail"> as unknown as PartitionReaderParts); // as much as is asked
  const take = (errorCode: number): void => reader.take(held, answer(held, errorCode), 0n);
  return { seen, take };
}

function answer({ assignment: { topic, partition } }: Held, errorCode: number): FetchedPartition {
  const nothing = { lastStableOffset: 0n, abortedTransactions: [], divergesAt: null, preferredReplica: -1, bytes: Buffer.alloc(0) };
  return { topic, partition, errorCode, ...nothing };
}

test("a user who may not read the topic fails the session, with the right that is missing", () => {
  const { seen, take } = setUp();
  take(codes.topicAuthorization);
  expect(seen).toEqual([
    "fails: [not-authorized] a fetch of rows[3] was answered with ERROR_29. The user needs Describe and Read on the topic rows",
  ]);
});

test.each([
  ["a corrupt message", 2],
  ["a disk that fails", codes.kafkaStorage],
  ["a leader that has moved", codes.notLeader],
  ["a code that nobody knows here", 999],
])("%s is waited for until a fetch of the partition succeeds", (_, code) => {
  const { seen, take } = setUp();
  take(code);
  take(0);
  expect(seen).toEqual([`waits: [partition-unavailable] a fetch of rows[3] was answered with ERROR_${code}`, "leaders", "read"]);
});
