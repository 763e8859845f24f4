import type { OffsetCommit } from "@cdckit/consumer";
import { placeOf } from "@cdckit/driver";
import { expect, onTestFinished, test, vi } from "vitest";
import { heldPartitions } from "./assignments.ts";
import type { BrokerOffsets } from "./broker-offsets.ts";
import type { Answer, LowLevelConsumer, LowLevelProducer, Properties } from "./low-level-client.ts";
import { Transactions } from "./transactions.ts";

type Call = (done: Answer<unknown>) => void;

const answers: Call = (done) => done(null, undefined);

/** A member that holds a partition. `behaviour`: of its producers, one after the other; what is left out is answered. */
function setUp(behaviour: readonly Partial<Record<"init" | "send" | "commit", Call>>[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const assignments = heldPartitions();
  const [assignment] = assignments.add([{ topic: "t", partition: 0 }]);
  const group = new Map([[placeOf("t", 0), { offset: 5n, topicId: null }]]);
  const log: string[] = [];
  const ids = new Set<unknown>();
  const asked: Properties[] = [];
  let made = 0;
  const makeProducer = (properties: Properties): LowLevelProducer => {
    const name = made++;
    const { init = answers, send = answers, commit = answers } = behaviour[name] ?? {};
    const does = (what: string, call: Call, done: Answer<unknown>): void => {
      log.push(`${name} ${what}`);
      call(done);
    };
    ids.add(properties["transactional.id"]);
    asked.push(properties);
    return {
      on: () => {},
      removeAllListeners: () => {},
      setPollInBackground: () => {},
      connect: (_: unknown, done: Answer<unknown>) => done(null, undefined),
      disconnect: (_: unknown, done: Answer<unknown>) => does("ends", answers, done),
      initTransactions: (_: unknown, done: Answer<unknown>) => does("init", init, done),
      beginTransaction: (done: Answer<unknown>) => does("begin", answers, done),
      sendOffsetsToTransaction: (_: unknown, _consumer: unknown, _ms: unknown, done: Answer<unknown>) => does("send", send, done),
      commitTransaction: (_: unknown, done: Answer<unknown>) => does("commit", commit, done),
      abortTransaction: (_: unknown, done: Answer<unknown>) => does("abort", answers, done),
    } as unknown as LowLevelProducer; // as much as is called
  };
  const transactions = new Transactions({
    groupId: "g",
    consumer: {} as LowLevelConsumer,
    makeProducer,
    brokerOffsets: { committed: async () => group } as unknown as BrokerOffsets,
    assignments,
    ended: new AbortController().signal,
  });
  const offsets: readonly OffsetCommit[] = assignment === undefined ? [] : [{ assignment, offset: 10n }];
  const transact = (): Promise<unknown> =>
    transactions.transact([], offsets).then(
      () => "done",
      (error: unknown) => (error as Error).message,
    );
  const isAt = (offset: bigint): void => void group.set(placeOf("t", 0), { offset, topicId: null });
  return { transact, isAt, log, ids, asked };
}

test("a transactional producer says for how long an answer may take: librdkafka refuses the user's property if it is longer than a transaction", async () => {
  const { transact, isAt, asked } = setUp([]);
  isAt(10n);
  expect(await transact()).toBe("done");
  const [{ "socket.timeout.ms": answerMs, "transaction.timeout.ms": transactionMs } = {}] = asked;
  expect(Number(answerMs)).toBeLessThanOrEqual(Number(transactionMs) + 100);
});

test("a transaction that was given up commits nothing afterwards, and the next one fences it off by the same id", async () => {
  let goOn = (): void => {};
  const { transact, isAt, log, ids } = setUp([{ send: (done) => (goOn = () => done(null, undefined)) }]);
  const first = transact();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("not known");
  const second = transact();
  isAt(10n); // as `untilVisible` is to find it
  expect(await second).toBe("done");
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  expect(log).toEqual(["0 init", "0 begin", "0 send", "1 init", "1 begin", "1 send", "1 commit", "0 abort", "0 ends"]);
  expect(ids.size).toBe(1);
});

test("a commit that was carried out without an answer is not repeated, and one that was not is", async () => {
  const late: Call = (done) =>
    void setTimeout(() => done(Object.assign(new Error("late"), { code: -185, isRetriable: true }), null), 10_001);
  const { transact, isAt, log } = setUp([{ commit: late }, { commit: late }]);
  const first = transact();
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await first).toContain("not known");
  const second = transact();
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await second).toContain("not known");
  isAt(10n);
  expect(await transact()).toBe("done");
  expect(log.filter((line) => line.endsWith("commit"))).toEqual(["0 commit", "1 commit"]);
  expect(log.filter((line) => line.startsWith("2"))).toEqual(["2 init"]);
});

test("a producer that could not begin is ended, because it would go on trying, and fence off the next one", async () => {
  const fails: Call = (done) => done(Object.assign(new Error("no coordinator"), { code: -185 }), null);
  const { transact, isAt, log } = setUp([{ init: fails }]);
  expect(await transact()).toContain("no coordinator");
  isAt(10n);
  expect(await transact()).toBe("done");
  expect(log).toEqual(["0 init", "0 ends", "1 init", "1 begin", "1 send", "1 commit"]);
});
