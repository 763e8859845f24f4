import { type DriverSession, type Subscription, silentLogger } from "@cdckit/consumer";
import { describe, expect, test } from "vitest";
import { MemoryBroker } from "./memory-broker.ts";
import { memory, type MemoryOptions } from "./memory-driver.ts";
import { commitOf, ProbeSink } from "./probe-sink.ts";
import { virtualClock, type VirtualClock } from "./virtual-clock.ts";

describe("the broker in memory, when something goes wrong:", () => {
  test("a commit that fails is not done, one whose answer is lost is", async () => {
    const { broker, clock, join } = start();
    const { sink, session } = await join();
    await clock.run(sink.until(({ records }) => records.length === 6));
    const commit = (offset: bigint): Promise<unknown> =>
      clock.run(session.commit(sink.held.map((assignment) => ({ assignment, offset })))).catch((error: unknown) => error);
    broker.faults.inject({ on: "commit", how: "fails" });
    expect(await commit(2n)).toMatchObject({ code: "fault" });
    expect(broker.committed("g", "orders", 0)).toBe(null);
    broker.faults.inject({ on: "commit", how: "answer-lost" });
    expect(await commit(3n)).toMatchObject({ code: "answer-lost" });
    expect(broker.committed("g", "orders", 0)).toBe(3n);
    expect(broker.faults.met).toBe(2);
  });

  test("a commit that hangs holds up the next, and is done when it is let go, unless the partition has gone", async () => {
    const { broker, clock, join } = start();
    const { sink, session } = await join();
    const release = broker.faults.inject({ on: "commit", how: "hangs" });
    const [assignment] = sink.held;
    const commits = [2n, 4n].map((offset) => session.commit(assignment === undefined ? [] : [{ assignment, offset }]));
    await clock.advance(60_000);
    expect(broker.commits).toEqual([]);
    release();
    await clock.run(Promise.all(commits));
    expect(broker.commits.map(({ offset }) => offset)).toEqual([2n, 4n]);
  });

  test("fetches stall while the member stays in the group, and go on", async () => {
    const { broker, clock, join } = start();
    const release = broker.faults.inject({ on: "fetch", how: "hangs", times: Infinity });
    const { sink } = await join();
    await clock.advance(3_600_000);
    expect([sink.held.length, sink.records.length]).toEqual([1, 0]);
    release();
    await clock.run(sink.until(({ records }) => records.length === 6));
  });

  test("a slow connection takes its time, and gives up when nobody waits any more", async () => {
    const { broker, clock, connect } = start();
    broker.faults.inject({ on: "connect", how: { lateMs: 5_000 } });
    await clock.run(connect(new ProbeSink()));
    expect(clock.nowMs()).toBe(5_000);
    broker.faults.inject({ on: "connect", how: "hangs" });
    const abort = new AbortController();
    const connecting = connect(new ProbeSink(), { signal: abort.signal });
    abort.abort();
    await expect(clock.run(connecting)).rejects.toThrow("nobody waits");
  });

  test("a zombie goes on until its commit is refused; then it has lost everything, and joins again", async () => {
    const { broker, clock, join } = start();
    const zombie = await join();
    await clock.run(zombie.sink.until(({ records }) => records.length === 6));
    const old = zombie.sink.batches.map(commitOf);
    const other = await join();
    const group = broker.group("g");
    const [member] = group.members;
    if (member !== undefined) {
      group.evict(member);
    }
    await clock.run(other.sink.until(({ held }) => held.length === 1));
    expect(zombie.sink.held.length).toBe(1);
    await expect(clock.run(zombie.session.commit(old))).rejects.toMatchObject({ code: "fenced" });
    expect(broker.commits).toEqual([]);
    expect(zombie.sink.revocations).toMatchObject([{ how: "lost" }]);
    await clock.advance(1);
    expect(group.members.length).toBe(2);
  });

  test("who has left is not made a zombie, and a zombie that leaves does not come back: no ghost takes partitions", async () => {
    const { broker, clock, join } = start();
    const [gone, zombie] = [await join(), await join()];
    const group = broker.group("g");
    const [goneMember, zombieMember] = group.members;
    if (goneMember === undefined || zombieMember === undefined) {
      throw new Error("both have joined");
    }
    await clock.run(gone.session.close(1_000));
    await group.evict(goneMember)();
    const readmit = group.evict(zombieMember);
    zombie.sink.onRevoked = () => zombie.session.close(1_000);
    await clock.run(readmit());
    expect(group.members).toEqual([]);
    const { sink } = await join();
    expect(sink.held.length).toBe(1);
  });

  test("a bounce gives everything out anew while the consumer still drains; what it then commits of the old is left out", async () => {
    const { broker, clock, join } = start();
    const { sink, session } = await join();
    await clock.run(sink.until(({ records }) => records.length === 6));
    const [old] = sink.held;
    sink.onRevoked = async () => {
      await later(clock, 1_000);
      await session.commit(old === undefined ? [] : [{ assignment: old, offset: 6n }]);
    };
    await clock.run(broker.group("g").bounce());
    expect(sink.held.map(({ epoch }) => epoch).length).toBe(2);
    await clock.advance(2_000);
    expect(broker.commits).toEqual([]);
    expect(sink.held.map(({ epoch }) => epoch > (old?.epoch ?? 0))).toEqual([true]);
  });

  test("a rebalance waits no longer than it may", async () => {
    const { clock, join } = start({ rebalanceTimeoutMs: 10_000 });
    const slow = await join();
    slow.sink.onRevoked = () => new Promise(() => {});
    const { broker } = slow;
    broker.addPartitions("orders", 2);
    const other = await join();
    expect(clock.nowMs()).toBe(10_000);
    expect(other.sink.held.map(({ partition }) => partition)).toEqual([1]);
  });

  test("an eager broker takes everything in each rebalance", async () => {
    const { broker, clock, join } = start({ rebalance: "eager" });
    const { sink } = await join();
    broker.createTopic("later");
    await clock.advance(1);
    expect(sink.revocations).toMatchObject([{ how: "revoked" }]);
    expect(sink.held.length).toBe(1);
  });

  test("compaction keeps the last of each key and nothing without one, and what is gone is passed", async () => {
    const { broker, clock, join } = start();
    broker.append("orders", { key: "a", value: "1" }, { key: "b", value: "2" }, { key: "a", value: "3" }, { key: "b", value: null });
    broker.compact("orders", 0);
    const { sink } = await join();
    await clock.run(sink.until(({ batches }) => batches.at(-1)?.nextOffset === 10n));
    expect(sink.records.map(({ offset }) => offset)).toEqual([8n, 9n]);
  });

  test("what is behind an open transaction is not read before it ends", async () => {
    const { broker, clock, join } = start();
    const transaction = broker.transaction();
    transaction.append("orders", { value: "in it", partition: 0 });
    broker.append("orders", { value: "behind it", partition: 0 });
    const { sink } = await join();
    await clock.advance(1_000);
    expect(sink.records.length).toBe(6);
    transaction.commit();
    await clock.run(sink.until(({ records }) => records.length === 8));
    expect(() => transaction.abort()).toThrow("has ended");
  });
});

interface Joined {
  readonly broker: MemoryBroker;
  readonly sink: ProbeSink;
  readonly session: DriverSession;
}

interface Started {
  readonly broker: MemoryBroker;
  readonly clock: VirtualClock;
  readonly connect: (sink: ProbeSink, change?: Partial<Subscription>) => Promise<DriverSession>;
  readonly join: () => Promise<Joined>;
}

/** A topic of one partition and six records, on a clock of its own. */
function start(options: { readonly rebalance?: "eager"; readonly rebalanceTimeoutMs?: number } = {}, tuning: MemoryOptions = {}): Started {
  const clock = virtualClock();
  const broker = new MemoryBroker({ orders: 1 }, { clock, ...options });
  broker.append("orders", ...Array.from({ length: 6 }, (_, i) => ({ value: String(i), partition: 0 })));
  const connect: Started["connect"] = (sink, change = {}) =>
    memory({ broker, ...tuning }).connect({ groupId: "g", topics: ["orders"], from: "earliest", logger: silentLogger, ...change }, sink);
  const join = async (): Promise<Joined> => {
    const sink = new ProbeSink();
    return { broker, sink, session: await clock.run(connect(sink)) };
  };
  return { broker, clock, connect, join };
}

function later(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
