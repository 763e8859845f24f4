import {
  type DriverSession,
  type DriverSink,
  type FetchedBatch,
  type KafkaDriver,
  type PartitionAssignment,
  silentLogger,
  type Subscription,
} from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type FetchMeter, meterDriver, type ReadingEnd } from "./fetch-meter.ts";
import { testReportsAreHandedOn } from "./wrapped-driver.contract.ts";

const groupId = "g";

/** A broker with 10 records in each of two partitions of `t`. */
function filledBroker(): MemoryBroker {
  const broker = new MemoryBroker({ t: 2 });
  for (let i = 0; i < 20; i++) {
    broker.append("t", { partition: i % 2, value: String(i) });
  }
  return broker;
}

interface Opened {
  readonly meter: FetchMeter;
  readonly session: DriverSession;
  /** `partition@offset` of every record handed over. */
  readonly seen: readonly string[];
}

async function open(broker: MemoryBroker, end: ReadingEnd, take: DriverSink["batch"] = () => undefined, commits = false): Promise<Opened> {
  const seen: string[] = [];
  const meter = meterDriver(memory({ broker, maxBatchRecords: 3 }), end, { commits });
  const sink: DriverSink = {
    assigned: () => {},
    revoked: async () => {},
    failed: () => {},
    batch(batch) {
      const walk = batch.walk();
      while (walk.next()) {
        seen.push(`${batch.partition}@${batch.offsetAt(walk.record)}`);
      }
      return take(batch);
    },
  };
  const { signal } = new AbortController();
  const subscription = { groupId, topics: ["t"], from: "earliest", logger: silentLogger, signal } as const;
  const session = await meter.driver.connect(subscription, sink);
  return { meter, session, seen };
}

describe("a metered driver", () => {
  test("hands over exactly the records below the end offsets, even when a batch reaches beyond them", async () => {
    const endOffsets = new Map([
      [0, 4n],
      [1, 6n],
    ]);
    const { meter, session, seen } = await open(filledBroker(), { endOffsets });
    await meter.ended;
    await session.close(100);
    expect(seen.toSorted()).toEqual(["0@0", "0@1", "0@2", "0@3", "1@0", "1@1", "1@2", "1@3", "1@4", "1@5"]);
  });

  test("leaves a partition alone that has no end offset", async () => {
    const { meter, session, seen } = await open(filledBroker(), { endOffsets: new Map([[1, 2n]]) });
    await meter.ended;
    await session.close(100);
    expect(seen).toEqual(["1@0", "1@1"]);
  });

  test("ends at so many records", async () => {
    const { meter, session, seen } = await open(filledBroker(), { maxRecords: 8 });
    await meter.ended;
    await session.close(100);
    expect(seen).toHaveLength(8);
  });

  test("has ended before it began if there is nothing to read", async () => {
    const { meter, session, seen } = await open(filledBroker(), { endOffsets: new Map() });
    await meter.ended;
    await session.close(100);
    expect(seen).toEqual([]);
  });

  test("knows how many offsets in front of the end nothing came of, markers apart", async () => {
    const broker = filledBroker();
    const endOffsets = new Map([
      [0, 15n],
      [1, 12n],
      [2, 43n],
    ]);
    const { meter, session, seen } = await open(broker, { endOffsets, startOffsets: new Map([[2, 40n]]) });
    expect(meter.unread).toBeGreaterThan(5);
    await expect.poll(() => seen).toHaveLength(20);
    expect(meter.unread).toBe(5);
    await session.close(100);
  });

  test("says that it has ended only when the last batch is taken", async () => {
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isEnded = false;
    const { meter, session } = await open(filledBroker(), { maxRecords: 3 }, () => held);
    void meter.ended.then(() => {
      isEnded = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isEnded).toBe(false);
    expect(meter.idleMs).toBe(0);
    release();
    await meter.ended;
    await session.close(100);
  });

  test.each([false, true])("commits only if it is asked to: %s", async (commits) => {
    const broker = filledBroker();
    let last: FetchedBatch | undefined;
    const remember = (batch: FetchedBatch): undefined => {
      last = batch;
    };
    const { meter, session } = await open(broker, { maxRecords: 3 }, remember, commits);
    await meter.ended;
    await session.commit([{ assignment: last!.assignment, offset: last!.nextOffset }]);
    await session.close(100);
    expect(broker.commits).toHaveLength(commits ? 1 : 0);
    expect(meter.commitMs > 0).toBe(commits);
  });

  test("goes on after a rebalance where its reader was, without a commit, and has not ended before that was read", async () => {
    const [first, second] = [0, 1].map((epoch) => ({ topic: "t", partition: 0, epoch })) as [PartitionAssignment, PartitionAssignment];
    let driven: { readonly subscription: Subscription; readonly sink: DriverSink } | undefined;
    const inner: KafkaDriver = {
      ...memory({ broker: filledBroker() }),
      connect: async (subscription, sink) => {
        driven = { subscription, sink };
        return {} as DriverSession; // nothing is committed there
      },
    };
    const meter = meterDriver(inner, { endOffsets: new Map([[0, 3n]]) });
    let isEnded = false;
    void meter.ended.then(() => (isEnded = true));
    let drop = (): void => {};
    const batch = (): Promise<void> => new Promise((resolve) => (drop = resolve));
    const sink: DriverSink = { assigned: () => {}, revoked: async () => drop(), failed: () => {}, batch };
    const session = await meter.driver.connect({ groupId, topics: ["t"], from: "earliest", logger: silentLogger }, sink);
    const batchOf = (assignment: PartitionAssignment) =>
      ({ ...assignment, assignment, recordCount: 3, nextOffset: 3n }) as unknown as FetchedBatch;

    driven?.sink.assigned([first]);
    const taken = driven?.sink.batch(batchOf(first));
    await session.commit([{ assignment: first, offset: 2n }]);
    await driven?.sink.revoked([first], "revoked");
    await taken;
    expect(await driven?.subscription.startAt?.([second])).toEqual([{ assignment: second, offset: 2n, topicId: null }]);
    driven?.sink.assigned([second]);
    driven?.sink.startsAt?.(second, 2n);
    expect({ isEnded, unread: meter.unread }).toEqual({ isEnded: false, unread: 0 });
    const again = driven?.sink.batch(batchOf(second));
    drop();
    await again;
    await meter.ended;
  });

  test("keeps the time of joining apart from the time of reading", async () => {
    const { meter, session } = await open(filledBroker(), { maxRecords: 20 });
    await meter.ended;
    await session.close(100);
    expect(meter.batches).toBeGreaterThan(6);
    expect(meter.joinMs).toBeGreaterThanOrEqual(0);
    expect(meter.waitMs).toBeLessThanOrEqual(meter.readingMs);
  });

  test("tells decompressing while it waits from decompressing while a batch of another partition is at work", async () => {
    let decompressed = 0;
    let finish = (): void => {};
    const batchOf = (partition: number) => ({ topic: "t", partition, recordCount: 1, nextOffset: 1n }) as FetchedBatch; // as much as is asked
    const inner: KafkaDriver = {
      ...memory({ broker: filledBroker() }),
      connect: async (_subscription, sink) => {
        decompressed = 100; // of another reading
        sink.assigned([]);
        decompressed += 5;
        const first = sink.batch(batchOf(0));
        decompressed += 20;
        void sink.batch(batchOf(1));
        finish();
        await first;
        decompressed += 3;
        void sink.batch(batchOf(0));
        decompressed += 40; // of a batch that is not handed over
        return {} as DriverSession; // nobody asks it
      },
    };
    const meter = meterDriver(inner, {}, { decompressedMs: () => decompressed });
    let taken = 0;
    const batch = (): Promise<void> | undefined => (taken++ === 0 ? new Promise((resolve) => (finish = resolve)) : undefined);
    const sink: DriverSink = { assigned: () => {}, revoked: async () => {}, failed: () => {}, batch };
    await meter.driver.connect({ groupId, topics: ["t"], from: "earliest", logger: silentLogger }, sink);
    expect([meter.decompressedWaitingMs, meter.decompressedBusyMs]).toEqual([8, 20]);
  });

  test("passes on whatever else a driver tells: what it waits for, and for how long the group keeps the member", async () => {
    const reported: string[] = [];
    const wait = { failed: (cause: unknown) => reported.push(String(cause)), end: () => reported.push("end") };
    const inner: KafkaDriver = {
      ...memory({ broker: filledBroker() }),
      connect: async (_subscription, sink) => {
        sink.acknowledged?.(1_000);
        sink.reconnected?.("no answer");
        const waiting = sink.waiting?.({ what: "the connection" });
        waiting?.failed("refused");
        waiting?.end();
        return { commit: async () => {}, pause: () => {}, resume: () => {}, close: async () => {} };
      },
    };
    const sink: DriverSink = {
      assigned: () => {},
      revoked: async () => {},
      batch: () => undefined,
      failed: () => {},
      acknowledged: (validForMs) => reported.push(String(validForMs)),
      reconnected: (why) => reported.push(why),
      waiting: ({ what }) => {
        reported.push(what);
        return wait;
      },
    };
    const { driver } = meterDriver(inner, {});
    await driver.connect({ groupId, topics: ["t"], from: "earliest", logger: silentLogger }, sink);
    expect(reported).toEqual(["1000", "no answer", "the connection", "refused", "end"]);
  });
});

testReportsAreHandedOn("a metered driver", (inner) => meterDriver(inner, {}).driver);
