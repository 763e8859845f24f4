import type { OffsetCommit, OutgoingRecord } from "@cdckit/consumer";
import { placeOf } from "@cdckit/driver";
import { expect, onTestFinished, test, vi } from "vitest";
import { heldPartitions } from "./assignments.ts";
import type { Cluster } from "./cluster.ts";
import type { GroupMember } from "./group-member.ts";
import { codes } from "./low-level-client.ts";
import { Transactions } from "./transactions.ts";

type Answer = () => unknown;

/** The partitions of the topic that is written to. */
const both = [0, 1] as const;

/** A member that holds a partition. `answers`: to a request of a producer, by its epoch; what is left out is answered at once. */
function setUp(answers: Readonly<Record<string, Answer>>) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const assignments = heldPartitions();
  const [assignment] = assignments.add([{ topic: "t", partition: 0 }]);
  const group = new Map([[placeOf("t", 0), { offset: 5n, topicId: null }]]);
  const log: string[] = [];
  const ids = new Set<unknown>();
  let epochs = 0;
  const ask = async (_at: unknown, _purpose: unknown, name: string, values: readonly unknown[]): Promise<unknown> => {
    ids.add(values[0]);
    const epoch = name === "InitProducerId" ? epochs++ : Number(values[name === "TxnOffsetCommit" ? 3 : 2]);
    const line = `${epoch} ${name}${name === "EndTxn" ? (values[3] === true ? " commit" : " abort") : ""}`;
    log.push(line);
    await answers[line]?.();
    return {
      producerId: 1n,
      producerEpoch: epoch,
      responses: [{ name: "out", partitionResponses: both.map((index) => ({ index, errorCode: 0 })) }],
    };
  };
  const cluster = {
    ask,
    coordinator: async () => ({ host: "broker", port: 1 }),
    forget: () => {},
    metadata: async () => ({ topics: [{ name: "out", partitions: both.map((partitionIndex) => ({ partitionIndex, leaderId: 1 })) }] }),
    node: () => ({ host: "broker", port: 1 }),
  } as unknown as Cluster; // as much as is called
  const member = { identity: { memberId: "m", generation: 1 }, instanceId: null, isJoining: false } as unknown as GroupMember;
  const brokers = { committed: async () => group };
  const transactions = new Transactions({ cluster, groupId: "g", member, brokers, assignments, ended: new AbortController().signal });
  const offsets: readonly OffsetCommit[] = assignment === undefined ? [] : [{ assignment, offset: 10n }];
  const transact = (records: readonly OutgoingRecord[] = []): Promise<unknown> =>
    transactions.transact(records, offsets).then(
      () => "done",
      (error: unknown) => (error as Error).message,
    );
  const isAt = (offset: bigint): void => void group.set(placeOf("t", 0), { offset, topicId: null });
  return { transact, isAt, log, ids };
}

test("a transaction that was given up commits nothing afterwards, and the next one fences it off by the same id", async () => {
  let goOn = (): void => {};
  const { transact, isAt, log, ids } = setUp({ "0 TxnOffsetCommit": () => new Promise<void>((resolve) => (goOn = resolve)) });
  const first = transact();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("not known");
  const second = transact();
  isAt(10n); // as `untilVisible` is to find it
  expect(await second).toBe("done");
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  expect(log.filter((line) => !line.includes("Offset"))).toEqual([
    "0 InitProducerId",
    "1 InitProducerId",
    "1 EndTxn commit",
    "0 EndTxn abort",
  ]);
  expect(ids.size).toBe(1);
});

test("a partition that the coordinator does not know yet is asked for again, together with the one beside it", async () => {
  const partly = [codes.unknownTopicOrPartition, codes.operationNotAttempted].map((apiCode) => Object.assign(new Error("no"), { apiCode }));
  const failures = [Object.assign(new Error("no"), { errors: partly })];
  const { transact, isAt, log } = setUp({
    "NaN AddPartitionsToTxn": () => {
      const [failure] = failures.splice(0);
      return failure === undefined ? undefined : Promise.reject(failure);
    },
  });
  const done = transact(both.map((partition) => ({ topic: "out", partition, key: null, value: Buffer.from("v"), headers: [] })));
  isAt(10n);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await done).toBe("done");
  expect(log.filter((line) => line.endsWith("AddPartitionsToTxn"))).toHaveLength(2);
});

test.each(["0 InitProducerId", "0 AddOffsetsToTxn", "0 TxnOffsetCommit"])(
  "a broker that refuses the login is not asked %s again",
  async (line) => {
    const refused = Object.assign(new Error("SASL authentication failed"), { code: "PLT_KFK_AUTHENTICATION" });
    const { transact, log } = setUp({ [line]: () => Promise.reject(refused) });
    expect(await transact()).toContain("SASL authentication failed");
    expect(log.filter((one) => one === line)).toEqual([line]);
  },
);

test("a producer that begins after its transaction was given up is not used", async () => {
  let goOn = (): void => {};
  const { transact, isAt, log } = setUp({ "0 InitProducerId": () => new Promise<void>((resolve) => (goOn = resolve)) });
  const first = transact();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("not known");
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  isAt(10n);
  expect(await transact()).toBe("done");
  expect(log.filter((line) => line.startsWith("0"))).toEqual(["0 InitProducerId"]);
});

test("a commit that was carried out without an answer is not repeated, and one that was not is", async () => {
  const late: Answer = () => new Promise((_, reject) => void setTimeout(() => reject(new Error("late")), 10_001));
  const { transact, isAt, log } = setUp({ "0 EndTxn commit": late, "1 EndTxn commit": late });
  const first = transact();
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await first).toContain("not known");
  const second = transact();
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await second).toContain("not known");
  isAt(10n);
  expect(await transact()).toBe("done");
  expect(log.filter((line) => line.endsWith("commit"))).toEqual(["0 EndTxn commit", "1 EndTxn commit"]);
  expect(log.filter((line) => line.startsWith("2"))).toEqual(["2 InitProducerId"]);
});
