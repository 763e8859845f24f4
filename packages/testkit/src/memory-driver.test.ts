import process from "node:process";
import { silentLogger, type Subscription, systemClock } from "@cdckit/consumer";
import { afterAll, describe, expect, test } from "vitest";
import { testDriverContract } from "./driver.contract.ts";
import { MemoryBroker } from "./memory-broker.ts";
import { memory, type MemoryOptions } from "./memory-driver.ts";
import { ProbeSink } from "./probe-sink.ts";

const broker = new MemoryBroker({}, { sessionTimeoutMs: 600 });
let names = 0;

// Test files share a process. What members that were left behind do when their sessions run out must not set timers on the next file's fake clock.
const timersBefore = openTimers();
afterAll(async () => {
  while (openTimers() > timersBefore) {
    await new Promise(setImmediate);
  }
});

function openTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}

testDriverContract(
  "memory",
  { describe, test, expect },
  {
    harness: {
      driver: () => memory({ broker, maxBatchRecords: 3 }),
      sessionTimeoutMs: 600,
      createTopic: async (name, partitions) => broker.createTopic(name, partitions),
      produce: async (topic, records) => void broker.append(topic, ...records),
      produceInTransaction: async (topic, records, end) => {
        const transaction = broker.transaction();
        transaction.append(topic, ...records);
        transaction[end]();
      },
      openTransaction: async (topic, records) => {
        const transaction = broker.transaction();
        transaction.append(topic, ...records);
        return async (end) => transaction[end]();
      },
      deleteBefore: async (topic, partition, offset) => broker.deleteBefore(topic, partition, offset),
      deleteTopic: async (topic) => broker.deleteTopic(topic),
      addPartitions: async (topic, partitions) => broker.addPartitions(topic, partitions),
      committed: async (groupId, topic, partition) => broker.committed(groupId, topic, partition),
      uniqueName: (prefix) => `${prefix}-${++names}`,
    },
    skip: [
      {
        test: "a record that is too large is an error of the driver's, and a transaction of it and a small one writes and commits nothing",
        reason: "the broker in memory takes records of any size",
      },
    ],
  },
);

describe("the broker in memory", () => {
  test("a member that has left waits for the end of no session, which would keep the process alive until then", async () => {
    const timers = new Set<object>();
    const after = (delayMs: number, call: () => void): (() => void) => {
      const timer = {};
      timers.add(timer);
      const cancel = systemClock.after(delayMs, () => {
        timers.delete(timer);
        call();
      });
      return () => {
        timers.delete(timer);
        cancel();
      };
    };
    const driver = memory({ broker: new MemoryBroker({ t: 1 }, { clock: { ...systemClock, after }, sessionTimeoutMs: 60_000 }) });
    const subscription = { groupId: "g", topics: ["t"], from: "earliest", logger: silentLogger } as const;
    const session = await driver.connect(subscription, new ProbeSink());
    expect(timers.size).toBeGreaterThan(0);
    await session.close(1_000);
    expect(timers.size).toBe(0);
  });

  test("equal keys meet in one partition", () => {
    const own = new MemoryBroker({ orders: 5 });
    const partitions = own
      .append("orders", ...Array.from({ length: 20 }, () => ({ key: "the same", value: "v" })))
      .map(({ partition }) => partition);
    expect(new Set(partitions).size).toBe(1);
  });

  test("a gap between offsets is kept, as compaction leaves it", async () => {
    const driver = memory({ topics: { orders: 1 } });
    driver.broker.append("orders", { value: "a" }, { value: "b", offset: 7n });
    const sink = new ProbeSink();
    const session = await driver.connect({ groupId: "g", topics: ["orders"], from: "earliest", logger: silentLogger }, sink);
    await sink.until(({ records }) => records.length === 2);
    expect(sink.records.map(({ offset }) => offset)).toEqual([0n, 7n]);
    expect(sink.batches[0]?.nextOffset).toBe(8n);
    await session.close(1_000);
  });

  test("a partition that goes on at the end after a loss goes on in front of an open transaction, whose records come when it is committed", async () => {
    const driver = memory({ topics: { orders: 1 } });
    const own = driver.broker;
    own.append("orders", { value: "a" }, { value: "b" }, { value: "c" });
    own.commit({ groupId: "g", topic: "orders", partition: 0, offset: 1n });
    const transaction = own.transaction();
    transaction.append("orders", { value: "d" }, { value: "e" });
    own.deleteBefore("orders", 0, 2n);
    const sink = new ProbeSink();
    const subscription = { groupId: "g", topics: ["orders"], from: "earliest", lostRange: "latest", logger: silentLogger } as const;
    const session = await driver.connect(subscription, sink);
    transaction.commit();
    await sink.until(({ records }) => records.length === 2);
    expect(sink.losses).toMatchObject([{ lost: { firstMissing: 1n, firstAvailable: 2n, end: 3n }, resumeOffset: 3n }]);
    expect(sink.records.map(({ offset }) => offset)).toEqual([3n, 4n]);
    await session.close(1_000);
  });

  test("what can be read never ends before the log starts, also if retention has taken the beginning of an open transaction", () => {
    const own = new MemoryBroker({ orders: 1 });
    own.transaction().append("orders", { value: "a" }, { value: "b" });
    own.deleteBefore("orders", 0, 1n);
    const { start, stableEnd } = own.log("orders", 0);
    expect([start, stableEnd]).toEqual([1n, 1n]);
  });

  test("a record is appended from bytes in each of their written forms", () => {
    const own = new MemoryBroker({ orders: 1 });
    const [stored] = own.append("orders", { key: { hex: "00 0A" }, value: [{ base64: "AAo=" }, "a"], headers: [["h", { hex: "ff" }]] });
    expect(stored).toMatchObject({
      key: Buffer.from([0, 10]),
      value: Buffer.from([0, 10, 97]),
      headers: [["h", Buffer.from([255])]],
    });
  });

  test("offsets never go back", () => {
    const own = new MemoryBroker({ orders: 1 });
    own.append("orders", { value: "a", offset: 4n });
    expect(() => own.append("orders", { value: "b", offset: 4n })).toThrow("cannot get 4");
  });

  test("expiring takes every partition without asking, and gives it out anew with a higher epoch", async () => {
    const driver = memory({ topics: { orders: 1 } });
    const sink = new ProbeSink();
    const session = await driver.connect({ groupId: "g", topics: ["orders"], from: "earliest", logger: silentLogger }, sink);
    const [before] = sink.held;
    await driver.broker.group("g").expire();
    expect(sink.revocations).toMatchObject([{ how: "lost" }]);
    expect(sink.held[0]?.epoch).toBeGreaterThan(before?.epoch ?? 0);
    await session.commit(before === undefined ? [] : [{ assignment: before, offset: 1n }]);
    expect(driver.broker.commits).toEqual([]);
    await session.close(1_000);
  });

  test("a topic that does not exist is refused as real drivers do, with their code", async () => {
    const driver = memory({ topics: { orders: 1 } });
    const subscription = { groupId: "g", from: "earliest", logger: silentLogger } as const;
    const connecting = (more: Pick<Subscription, "topics" | "writesTo">) => driver.connect({ ...subscription, ...more }, new ProbeSink());
    const message = "[topic-missing] there is no topic order; there are: orders";
    await expect(connecting({ topics: ["order"] })).rejects.toMatchObject({ name: "MemoryBrokerError", code: "topic-missing", message });
    await expect(connecting({ topics: [/^shop/] })).rejects.toMatchObject({
      message: "[topic-missing] no topic matches /^shop/; there are: orders",
    });
    const writesTo = [{ topic: "letters", option: "failure.deadLetterTopic", create: null }];
    await expect(connecting({ topics: ["orders"], writesTo })).rejects.toMatchObject({ code: "topic-missing" });
  });

  test("an option, a fault or a kind of rebalance that there is not is refused: its test would pass without it", () => {
    const broker = new MemoryBroker();
    const wrong = [
      [
        () => new MemoryBroker({}, { sesionTimeoutMs: 600 } as never),
        "MemoryBroker has no option sesionTimeoutMs; the options are clock, ",
      ],
      [() => new MemoryBroker({}, { rebalance: "eagre" as never }), 'expected rebalance to be "cooperative" or "eager", found eagre'],
      [
        () => broker.faults.inject({ on: "comit" as never, how: "fails" }),
        "there is no operation comit that can go wrong; there are connect, ",
      ],
      [() => broker.faults.inject({ on: "commit", how: "fail" as never }), '"answer-lost" or { lateMs }, found "fail"'],
      [() => broker.faults.inject({ on: "commit", how: { late: 5 } as never }), 'or { lateMs }, found {"late":5}'],
      [() => broker.faults.inject({ on: "commit", how: { lateMs: Number.NaN } }), 'or { lateMs }, found {"lateMs":null}'],
    ] as const;
    for (const [attempt, message] of wrong) {
      expect(attempt).toThrow(message);
    }
  });

  test("offsets and timestamps may be written as numbers, and records have bigints", () => {
    const [record] = new MemoryBroker({ t: 1 }).append("t", { value: "{}", offset: 7, timestamp: 1_700_000_000_000 });
    expect(record).toMatchObject({ offset: 7n, timestamp: 1_700_000_000_000n });
  });

  test("what does not exist is named", () => {
    const own = new MemoryBroker({ orders: 1 });
    expect(() => own.append("order", { value: "a" })).toThrow("there is no topic order; there are: orders");
    expect(() => own.append("orders", { value: "a", partition: 1 })).toThrow("there is no 1");
    expect(() => own.createTopic("orders")).toThrow("exists already");
    expect(() => memory({ broker: own, topics: { orders: 1 } })).toThrow("not both");
    expect(() => memory({ maxBatchRecords: 0 })).toThrow("maxBatchRecords");
    expect(() => memory({ topic: { orders: 1 } } as MemoryOptions)).toThrow(
      "memory() has no option topic; the options are broker, topics,",
    );
    expect(() => memory({ topics: ["orders"] as never })).toThrow("such as { orders: 1 }, got a list");
  });
});
