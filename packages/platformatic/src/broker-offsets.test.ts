import { setTimeout as delay } from "node:timers/promises";
import { type HostAndPort, placeOf } from "@cdckit/driver";
import { expect, onTestFinished, test, vi } from "vitest";
import { BrokerOffsets } from "./broker-offsets.ts";
import type { Cluster } from "./cluster.ts";
import { codes } from "./low-level-client.ts";
import type { MetadataAnswer } from "./requests.ts";

const latest = -1n;
const readCommitted = 1;

type Question = { readonly timestamp: bigint; readonly isolationLevel: number };

/**
 * Questions about two partitions. Broker 1 leads both of them, unless the second has no leader at that question, or another one. Each log ends at 7.
 * `refusals`: how broker 2 answers.
 */
function brokersOf(
  isWithoutLeader: (question: number) => boolean,
  offsetOf: (question: Question) => bigint = () => 7n,
  refusals: Error[] | null = null,
): BrokerOffsets {
  let looks = 0;
  const cluster = {
    closed: new AbortController().signal,
    metadata: async () => {
      const leaderId = isWithoutLeader(looks++) ? -1 : refusals === null ? 1 : 2;
      const partitions = [1, leaderId].map((leader, partitionIndex) => ({
        errorCode: 0,
        partitionIndex,
        leaderId: leader,
        leaderEpoch: 0,
      }));
      return { brokers: [], controllerId: 1, topics: [{ errorCode: 0, name: "rows", partitions }] } satisfies MetadataAnswer;
    },
    node: (id: number) => (id < 0 ? undefined : { host: "h", port: id }),
    ask: async (
      { port }: HostAndPort,
      _purpose: unknown,
      _name: unknown,
      [, isolationLevel, topics]: [number, number, readonly Listed[]],
    ) => {
      const refusal = port === 2 ? refusals?.shift() : undefined;
      if (refusal !== undefined) {
        throw refusal;
      }
      return {
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partitionIndex, timestamp }) => ({
            partitionIndex,
            errorCode: 0,
            offset: offsetOf({ timestamp, isolationLevel }),
          })),
        })),
      };
    },
  } as unknown as Cluster; // as much as is asked
  return new BrokerOffsets(cluster, "g");
}

interface Listed {
  readonly name: string;
  readonly partitions: readonly { readonly partitionIndex: number; readonly timestamp: bigint }[];
}

test.each([
  ["start", 0],
  ["end", 1],
  ["last stable offset", 2],
])("a log whose %s no leader has said is left out: another of its offsets in place of that one would be wrong", async (_what, question) => {
  const brokers = brokersOf((asked) => asked === question);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([placeOf("rows", 0)]);
});

test("a leader that cannot be reached holds up no partition of another one, and is named", async () => {
  const tried: unknown[] = [];
  const away = new Error("connect ECONNREFUSED");
  const brokers = brokersOf(() => false, undefined, [away, away, away]);
  expect([...(await brokers.ends(["rows"], (failure) => void tried.push(failure))).keys()]).toEqual([placeOf("rows", 0)]);
  expect(tried).toEqual([away, away, away]);
});

test("a broker that does not lead the partition any more is asked again", async () => {
  const moved = Object.assign(new Error("not the leader"), { apiCode: 6 });
  const brokers = brokersOf(() => false, undefined, [moved]);
  expect([...(await brokers.ends(["rows"])).keys()]).toEqual([0, 1].map((partition) => placeOf("rows", partition)));
});

/**
 * Partitions 0 and 1. Their leader refuses the second one so many times, and the client rejects the whole answer for it. Each question takes a second.
 * `asked`: for which partitions, one question after the other.
 */
function brokerThatRefuses(apiCode: number, refusals: number) {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: number[][] = [];
  const ask = async (_at: unknown, _purpose: unknown, _name: unknown, [, , topics]: [number, number, readonly Listed[]]) => {
    vi.advanceTimersByTime(1_000);
    const indexes = topics.flatMap(({ partitions }) => partitions.map(({ partitionIndex }) => partitionIndex));
    const isRefused = asked.push(indexes) <= refusals;
    const partitions = indexes.map((partitionIndex) =>
      isRefused && partitionIndex === 1
        ? { partitionIndex, errorCode: apiCode, offset: -1n }
        : { partitionIndex, errorCode: 0, offset: 7n },
    );
    const response = { topics: [{ name: "rows", partitions }] };
    if (isRefused) {
      throw Object.assign(new Error("an answer with an error"), { errors: [{ apiCode }], response });
    }
    return response;
  };
  const partitions = [0, 1].map((partitionIndex) => ({ errorCode: 0, partitionIndex, leaderId: 2, leaderEpoch: 0 }));
  const cluster = {
    closed: new AbortController().signal,
    metadata: async () => ({ brokers: [], controllerId: 1, topics: [{ errorCode: 0, name: "rows", partitions }] }),
    node: (id: number) => ({ host: "h", port: id }),
    ask,
  } as unknown as Cluster; // as much as is asked
  return { brokers: new BrokerOffsets(cluster, "g"), asked };
}

const unknownServerError = -1;
const offsetNotAvailable = 78;

test.each([unknownServerError, offsetNotAvailable])(
  "a partition that its leader refuses with %s for good holds up no other, and is named",
  async (apiCode) => {
    const { brokers } = brokerThatRefuses(apiCode, Infinity);
    const tried: unknown[] = [];
    expect([...(await brokers.ends(["rows"], (failure) => void tried.push(failure))).keys()]).toEqual([placeOf("rows", 0)]);
    expect(tried[0]).toMatchObject({ errors: [{ apiCode }] });
  },
);

test("a partition that its leader has refused once is asked for again, and only that one", async () => {
  const { brokers, asked } = brokerThatRefuses(unknownServerError, 1);
  expect([...(await brokers.offsetsAt(["rows"], 5n)).keys()]).toEqual([0, 1].map((partition) => placeOf("rows", partition)));
  expect(asked).toEqual([[0, 1], [1]]);
});

test("a topic that the user may not read is an error, and not one that nobody leads", async () => {
  const { brokers } = brokerThatRefuses(29, Infinity);
  await expect(brokers.ends(["rows"])).rejects.toMatchObject({ errors: [{ apiCode: 29 }] });
});

test("a log with an open transaction has its end after it, and its last stable offset before", async () => {
  const brokers = brokersOf(
    () => false,
    ({ timestamp, isolationLevel }) => (timestamp !== latest ? 2n : isolationLevel === readCommitted ? 5n : 9n),
  );
  expect((await brokers.ends(["rows"])).get(placeOf("rows", 1))).toEqual({ low: 2n, high: 9n, stable: 5n });
});

test("that no record is of the time or later is an answer, and another one than none", async () => {
  const brokers = brokersOf(
    () => true,
    () => -1n,
  );
  expect([...(await brokers.offsetsAt(["rows"], 5n))]).toEqual([[placeOf("rows", 0), null]]);
});

test("commits of a transaction that is being ended are asked for again soon: a member writes no more until it sees its own", async () => {
  const unstable = Object.assign(new Error("there are unstable offsets"), { apiCode: codes.unstableOffsets });
  const refusals = [unstable, unstable, unstable, unstable];
  const partitions = [{ partitionIndex: 0, committedOffset: 7n, committedLeaderEpoch: -1, metadata: null }];
  const cluster = {
    closed: new AbortController().signal,
    coordinator: async () => ({ host: "h", port: 1 }),
    ask: async () => {
      const refusal = refusals.shift();
      if (refusal !== undefined) {
        throw refusal;
      }
      return { groups: [{ topics: [{ name: "rows", partitions }] }] };
    },
  } as unknown as Cluster; // as much as is asked
  const committed = new BrokerOffsets(cluster, "g").committed([{ topic: "rows", partition: 0 }]);
  // As many pauses of the usual length, begun at the same time: however slow the machine is, each timer of both is set after the one before it.
  const usual = async (): Promise<null> => {
    for (let pauses = refusals.length; pauses > 0; pauses--) {
      await delay(100);
    }
    return null;
  };
  const first = await Promise.race([committed, usual()]);
  expect(first?.get(placeOf("rows", 0))?.offset).toBe(7n);
});
