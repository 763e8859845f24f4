import { silentLogger } from "@cdckit/consumer";
import { ProbeSink } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { type Held, heldPartitions, placeAt } from "./assignments.ts";
import { explainFailure } from "./explain-failure.ts";
import type { FetchedPartition } from "./fetch-response.ts";
import { HandOver } from "./hand-over.ts";
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
  const nothing = {
    isByName: false,
    lastStableOffset: 0n,
    abortedTransactions: [],
    divergesAt: null,
    preferredReplica: -1,
    bytes: Buffer.alloc(0),
  };
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

/** A partition whose topic has an id, what is done with bytes that were fetched of it, and the end of the check of its topic. */
function setUpCheck() {
  const did: string[] = [];
  const assignments = heldPartitions();
  assignments.add([{ topic: "rows", partition: 3 }]);
  const [held] = assignments.all() as [Held];
  Object.assign(held, { isStarting: false });
  held.assignment.topicId = "id";
  placeAt(held, 0n);
  let checked = (): void => {};
  const topicCheck = {
    isDue: true,
    followBatch: () => void did.push("followed"),
    look: () => {
      did.push("checked");
      return new Promise<void>((resolve) => (checked = resolve));
    },
  };
  const unreadable = (): void => void did.push("read"); // one byte is no batch
  const handOver = new HandOver({ sink: new ProbeSink(), assignments, unreadable, wake: () => {} });
  const parts = { topicCheck, waits: { end: () => {} }, decompression: {}, ready: (one: Held) => handOver.goOn(one) };
  const reader = new PartitionReader(parts as unknown as PartitionReaderParts); // as much as is asked
  const take = (isByName: boolean): void => reader.take(held, { ...answer(held, 0), isByName, bytes: Buffer.alloc(1) }, 0n);
  return { did, take, askForMore: () => handOver.goOn(held), checked: () => checked() };
}

test("what was fetched by the topic's name waits for a check, also if the consumer wants more before: it may be of another topic", async () => {
  const { did, take, askForMore, checked } = setUpCheck();
  take(true);
  askForMore();
  expect(did).toEqual(["followed", "checked"]);
  checked();
  await expect.poll(() => did).toEqual(["followed", "checked", "read"]);
});

test("what was fetched by the topic's id is handed over at once: the broker refuses the fetch of another topic", () => {
  const { did, take } = setUpCheck();
  take(false);
  expect(did).toEqual(["read"]);
});
