import { silentLogger } from "@cdckit/consumer";
import { expect, onTestFinished, test, vi } from "vitest";
import { heldPartitions, placeAt } from "./assignments.ts";
import type { Cluster } from "./cluster.ts";
import type { FetchResponse } from "./fetch-response.ts";
import { Fetcher } from "./fetcher.ts";
import type { Leaders } from "./leaders.ts";
import { resolvePlatformaticOptions } from "./options.ts";

/**
 * A fetcher of partitions 0 and 1, which node 1 leads, and of partition 2, which node 2 leads. They started without an id of their topic. `answerOf`: to
 * the fetches of a node, by their number. `topicId`: what brokers say of it now.
 */
function setUp(answerOf: (node: number, fetch: number) => Promise<FetchResponse>, topicId: string | null = null) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const assignments = heldPartitions();
  const helds = assignments.add([0, 1, 2].map((partition) => ({ topic: "t", partition }))).map((one) => assignments.held(one));
  for (const held of helds) {
    if (held !== undefined) {
      held.isStarting = false;
      placeAt(held, 0n);
    }
  }
  const counts = [0, 0, 0];
  const throttled: string[] = [];
  const cluster = {
    module: { createAPI: () => ({}) },
    request: async () => ({ version: 12, createRequest: () => ({}) }),
    node: (id: number) => ({ host: "broker", port: id }),
    send: ({ port: node }: { readonly port: number }) => answerOf(node, (counts[node] = (counts[node] ?? 0) + 1)),
  } as unknown as Cluster; // as much as is called
  const leaders = {
    of: (_: string, partition: number) => ({ node: partition === 2 ? 2 : 1, epoch: 0, topicId }),
    isFresh: true,
    refresh: async () => {},
  } as unknown as Leaders;
  const { tuning } = resolvePlatformaticOptions({ brokers: ["b:1"] });
  const fetcher = new Fetcher({
    cluster,
    assignments,
    leaders,
    tuning,
    logger: silentLogger,
    take: () => {},
    throttled: ({ assignment }, throttleMs) => throttled.push(`${assignment.partition}: ${throttleMs}`),
    otherTopic: () => {},
    answered: () => {},
  });
  onTestFinished(() => fetcher.stop());
  return { fetcher, helds, throttled, fetches: () => counts.slice(1) };
}

const emptyAnswer: FetchResponse = { errorCode: 0, throttleMs: 0, partitions: [] };
const never = new Promise<never>(() => {});

test("a broker that throttles the client is asked nothing until that is over, and the others go on", async () => {
  const answers: Readonly<Record<string, FetchResponse>> = { "1 1": { ...emptyAnswer, throttleMs: 20_000 }, "2 1": emptyAnswer };
  const { fetcher, fetches } = setUp(async (node, fetch) => answers[`${node} ${fetch}`] ?? never);
  fetcher.wake();
  await vi.advanceTimersByTimeAsync(19_900);
  expect(fetches()).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(200);
  expect(fetches()).toEqual([2, 2]);
});

test("what becomes free meanwhile is not asked of a broker that throttles, either", async () => {
  const { fetcher, helds, fetches } = setUp(async (node) => (node === 1 ? { ...emptyAnswer, throttleMs: 20_000 } : never));
  if (helds[1] !== undefined) {
    helds[1].isPaused = true;
  }
  fetcher.wake();
  await vi.advanceTimersByTimeAsync(100);
  if (helds[1] !== undefined) {
    helds[1].isPaused = false;
  }
  fetcher.wake();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fetches()).toEqual([1, 1]);
});

test("partitions of which nothing is sent because of the quota are reported, and those whose records come are not, though slowly", async () => {
  const ofOne = { lastStableOffset: 0n, abortedTransactions: [], divergesAt: null, preferredReplica: -1, bytes: Buffer.alloc(0) };
  const sent = [{ topic: "t", isByName: true, partition: 2, errorCode: 0, ...ofOne }];
  const { fetcher, throttled } = setUp(async (node) => ({ ...emptyAnswer, throttleMs: 20_000, partitions: node === 2 ? sent : [] }));
  fetcher.wake();
  await vi.advanceTimersByTimeAsync(100);
  expect(throttled).toEqual(["0: 20000", "1: 20000"]);
});

test("a topic that gets an id while it is read, as in an upgrade from Kafka 2.7, is read on: nothing says that it is another one", async () => {
  const { fetcher, fetches } = setUp(() => never, "an id");
  fetcher.wake();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(fetches()).toEqual([1, 1]);
});
