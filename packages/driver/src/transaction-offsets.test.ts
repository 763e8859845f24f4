import type { OffsetCommit } from "@cdckit/consumer";
import { expect, onTestFinished, test, vi } from "vitest";
import { Assignments, type HeldPartition } from "./assignments.ts";
import { Commits } from "./commits.ts";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { placeOf } from "./place.ts";
import { TransactionOffsets } from "./transaction-offsets.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);

/** A member that holds a partition of which the group has committed 10. */
function setUp() {
  const assignments = new Assignments<HeldPartition>({ hold: (held) => held, positionOf: () => null });
  const [held] = assignments.add([{ topic: "t", partition: 0 }]);
  if (held === undefined) {
    throw new Error("one was added");
  }
  held.topicId = "id";
  const group = { offset: 10n, topicId: "id" };
  let questions = 0;
  let answerMs = 0;
  const brokers = {
    committed: async () => {
      questions++;
      if (answerMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, answerMs));
      }
      return new Map([[placeOf("t", 0), { ...group }]]);
    },
  };
  const offsets = new TransactionOffsets({ brokers, assignments, makeError, ended: new AbortController().signal });
  const sent: bigint[] = [];
  const transact = { fails: false };
  const commits = new Commits({
    assignments,
    send: async (commit) => void sent.push(...commit.map(({ offset }) => offset)),
    transact: async (_, commit) => {
      offsets.doubt(commit);
      if (transact.fails) {
        throw makeError("transaction-failed", "no answer");
      }
    },
    makeError,
  });
  const to = (offset: bigint): readonly OffsetCommit[] => [{ assignment: held, offset }];
  return { offsets, commits, sent, transact, group, to, questions: () => questions, answersLate: (ms: number) => void (answerMs = ms) };
}

test("nothing is asked before a transaction if the outcome of the last one is known", async () => {
  const { offsets, commits, to, questions } = setUp();
  expect(await offsets.areCarriedOut(to(15n))).toBe(false);
  await commits.transact([], to(15n));
  expect(await offsets.areCarriedOut(to(20n))).toBe(false);
  expect(questions()).toBe(0);
});

test("a transaction without an answer was carried out if the group is where it ended, whole or in parts", async () => {
  const { offsets, group, to } = setUp();
  offsets.doubt(to(15n));
  group.offset = 15n;
  expect(await offsets.areCarriedOut(to(12n))).toBe(true);
  expect(await offsets.areCarriedOut(to(15n))).toBe(true);
});

test("it was not if the group is where it began, or has this offset of an older topic, and that is asked once", async () => {
  const { offsets, group, to, questions } = setUp();
  offsets.doubt(to(15n));
  expect([await offsets.areCarriedOut(to(15n)), await offsets.areCarriedOut(to(15n)), questions()]).toEqual([false, false, 1]);
  offsets.doubt(to(15n));
  Object.assign(group, { offset: 15n, topicId: "an older one" });
  expect(await offsets.areCarriedOut(to(15n))).toBe(false);
});

test.each([
  ["the group is beyond its end", 16n, 15n],
  ["more is to be written than it has written", 15n, 17n],
])("nothing is written if %s", async (_, at, next) => {
  const { offsets, group, to } = setUp();
  offsets.doubt(to(15n));
  group.offset = at;
  await expect(offsets.areCarriedOut(to(next))).rejects.toMatchObject({ code: "fenced" });
});

test("while nobody knows whether a transaction was carried out, no plain commit can move the group back", async () => {
  const { commits, sent, transact, to } = setUp();
  transact.fails = true;
  await expect(commits.transact([], to(15n))).rejects.toThrow("no answer");
  await expect(commits.commit(to(12n))).rejects.toMatchObject({ code: "transaction-failed" });
  transact.fails = false;
  await commits.transact([], to(15n));
  await commits.commit(to(12n)); // left out: the group has more
  await commits.commit(to(16n));
  expect(sent).toEqual([16n]);
});

test("a member waits five seconds at most until others see what it has committed, however long the brokers take to answer", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { offsets, to, answersLate } = setUp();
  answersLate(15_000);
  let isOver = false;
  void offsets.untilVisible(to(15n)).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(4_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
