import { type KafkaDriver, type OutgoingRecord, silentLogger } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { asksOfFailure, everything, type RedriveFilter } from "./redrive-filter.ts";
import { RedrivePlan } from "./redrive-plan.ts";
import { offsetsLeftOf, RedriveRun, type RedriveRunOptions } from "./redrive-run.ts";
import { RedriveTally } from "./redrive-tally.ts";

const malformed: RedriveFilter = { ...everything, codes: ["malformed"] };

/** Twelve dead letters on two partitions, of keys 0 to 3; key 1 failed otherwise than the rest, and its later records are parked. */
function brokerOfDeadLetters(): MemoryBroker {
  const broker = new MemoryBroker({ orders: 2, dead: 2 });
  for (let i = 0; i < 12; i++) {
    const key = i % 4;
    const parked = i >= 4;
    const headers = Object.entries({
      "__connect.errors.topic": "orders",
      "__connect.errors.partition": String(key % 2),
      "__connect.errors.offset": String(100 + i),
      "__connect.errors.exception.message": parked ? "not tried" : key === 1 ? "[invalid-row] no" : "[malformed] no",
      "cdckit.group": "billing",
      ...(parked && { "cdckit.parked-behind": String(100 + key) }),
    }).map(([name, text]) => [name, Buffer.from(text)] as const);
    broker.append("dead", { partition: key % 2, key: `key ${key}`, value: `${i}`, headers });
  }
  return broker;
}

async function redrive(broker: MemoryBroker, options: Partial<RedriveRunOptions> = {}, filter = everything): Promise<RedriveTally> {
  const tally = new RedriveTally();
  const plan = new RedrivePlan({ filter, to: null, maxRedrives: 3, deadLetterTopic: "dead", partitionsOf: () => 2 });
  const partitions = [0, 1].map((partition) => ({
    partition,
    startOffset: broker.log("dead", partition).start,
    endOffset: broker.endOffset("dead", partition),
    committed: broker.committed("redrive", "dead", partition),
  }));
  const run = new RedriveRun({
    driver: memory({ broker, maxBatchRecords: 4 }),
    groupId: "redrive",
    topic: "dead",
    partitions,
    plan,
    tally,
    limit: Number.POSITIVE_INFINITY,
    isDryRun: false,
    fromStart: asksOfFailure(filter),
    interrupt: new AbortController().signal,
    requireSeen: async () => {},
    decided: () => {},
    ...options,
  });
  await run.run();
  return tally;
}

/** One batch, which is written in several chunks. */
function brokerOfOneBatch(records: number): MemoryBroker {
  const broker = new MemoryBroker({ orders: 1, dead: 2 }, { rebalance: "eager" });
  const headers = Object.entries({ "__connect.errors.topic": "orders", "__connect.errors.exception.message": "[malformed] no" });
  const bytes = headers.map(([name, text]) => [name, Buffer.from(text)] as const);
  broker.append("dead", ...Array.from({ length: records }, (_, i) => ({ partition: 0, value: `${i}`, headers: bytes })));
  return broker;
}

type Records = readonly OutgoingRecord[];

/** Sends by this function, which is given what the driver in memory would send by, and the name of the group. */
function sendingBy(
  broker: MemoryBroker,
  send: (records: Records, sendOn: (records: Records) => Promise<void>, groupId: string) => Promise<void>,
): KafkaDriver {
  const inner = memory({ broker, maxBatchRecords: 10_000 });
  return {
    ...inner,
    async connect(subscription, sink) {
      const session = await inner.connect(subscription, sink);
      return {
        pause: (assignments) => session.pause(assignments),
        resume: (assignments) => session.resume(assignments),
        commit: (commits) => session.commit(commits),
        close: (deadlineMs) => session.close(deadlineMs),
        send: (records) => send(records, async (some) => session.send?.(some), subscription.groupId),
      };
    },
  };
}

/** Its group rebalances while the first chunk is being written: every partition is revoked, and then given back. */
function rebalancedOnce(broker: MemoryBroker): KafkaDriver {
  let sends = 0;
  return sendingBy(broker, async (records, sendOn, groupId) => {
    if (sends++ === 0) {
      void broker.group(groupId).rebalance();
    }
    await sendOn(records);
  });
}

function valuesIn(broker: MemoryBroker): readonly string[] {
  return [0, 1].map((partition) =>
    broker
      .read("orders", partition, 0n, 100)
      .map(({ value }) => Buffer.from(value ?? []).toString())
      .join(" "),
  );
}

const committedIn = (broker: MemoryBroker): readonly (bigint | null)[] => [0, 1].map((p) => broker.committed("redrive", "dead", p));

test("a redrive goes through what is left of each partition, and through nothing of one that its group is past", () => {
  const of = (startOffset: bigint, endOffset: bigint, committed: bigint | null) => ({ partition: 0, startOffset, endOffset, committed });
  expect(offsetsLeftOf([of(0n, 12n, null), of(4n, 12n, 2n), of(4n, 12n, 7n)])).toBe(12 + 8 + 5);
  expect(offsetsLeftOf([of(0n, 12n, null), of(0n, 3n, 100n)])).toBe(12);
});

describe("a redrive", () => {
  test("writes every dead letter to its partition, in order, and commits to the end", async () => {
    const broker = brokerOfDeadLetters();
    expect(await redrive(broker)).toMatchObject({ redriven: 12, records: 12, refused: 0 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
    expect(committedIn(broker)).toEqual([6n, 6n]);
  });

  test("passes nothing over because of a topic that the user may not see", async () => {
    const broker = brokerOfDeadLetters();
    const plan = new RedrivePlan({ filter: everything, to: null, maxRedrives: 3, deadLetterTopic: "dead", partitionsOf: () => undefined });
    const requireSeen = async (topic: string): Promise<void> => {
      throw new Error(`may not see ${topic}`);
    };
    await expect(redrive(broker, { plan, requireSeen })).rejects.toThrow("may not see orders");
    expect(committedIn(broker)).toEqual([null, null]);
  });

  test("leaves a dead letter of a partition that is gone, and writes the others once", async () => {
    const broker = brokerOfDeadLetters();
    const plan = (): RedrivePlan =>
      new RedrivePlan({ filter: everything, to: null, maxRedrives: 3, deadLetterTopic: "dead", partitionsOf: () => 1 });
    expect(await redrive(broker, { plan: plan() })).toMatchObject({ redriven: 6, refused: 6 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", ""]);
    expect(committedIn(broker)).toEqual([6n, 6n]);
  });

  test("that is limited goes on with the next run, and writes nothing twice", async () => {
    const broker = brokerOfDeadLetters();
    expect(await redrive(broker, { limit: 5 })).toMatchObject({ redriven: 5 });
    expect(await redrive(broker, { limit: 5 })).toMatchObject({ redriven: 5 });
    expect(await redrive(broker, { limit: 5 })).toMatchObject({ redriven: 2 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });

  test("that is limited writes as many as it is asked for, and commits nothing else, if its group rebalances while it writes", async () => {
    const broker = brokerOfOneBatch(2_000);
    expect(await redrive(broker, { limit: 1_500, driver: rebalancedOnce(broker) })).toMatchObject({ redriven: 1_500 });
    expect(broker.endOffset("orders", 0)).toBe(1_500n);
    expect(broker.committed("redrive", "dead", 0)).toBe(1_500n);
  });

  test("that reads from the start writes nothing again after a rebalance", async () => {
    const broker = brokerOfOneBatch(2_000);
    expect(await redrive(broker, { driver: rebalancedOnce(broker) }, malformed)).toMatchObject({ redriven: 2_000 });
    expect(broker.endOffset("orders", 0)).toBe(2_000n);
  });

  test("that is dry writes nothing and commits nothing", async () => {
    const broker = brokerOfDeadLetters();
    expect(await redrive(broker, { isDryRun: true })).toMatchObject({ redriven: 12 });
    expect(valuesIn(broker)).toEqual(["", ""]);
    expect(committedIn(broker)).toEqual([null, null]);
  });

  test("by code knows which record each parked one is behind, also in a later run", async () => {
    const broker = brokerOfDeadLetters();
    expect(await redrive(broker, { limit: 4 }, malformed)).toMatchObject({ redriven: 4 });
    const rest = await redrive(broker, {}, malformed);
    expect(rest.redriven).toBe(5);
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "3 7 11"]);
  });

  test.each([
    ["since", { ...everything, sinceMs: 0 }],
    ["until", { ...everything, untilMs: Number.MAX_SAFE_INTEGER }],
  ])("by time (%s) knows it in a later run, too", async (_, filter) => {
    const broker = brokerOfDeadLetters();
    expect(await redrive(broker, { limit: 7 }, filter)).toMatchObject({ redriven: 7 });
    expect(await redrive(broker, {}, filter)).toMatchObject({ redriven: 5, notSelected: 0 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });

  test("goes on after what retention took, and counts what nobody has redriven", async () => {
    const broker = brokerOfDeadLetters();
    await redrive(broker, { limit: 5 });
    const [first = 0n, second = 0n] = committedIn(broker).map((offset) => offset ?? 0n);
    broker.deleteBefore("dead", 0, 5n);
    broker.deleteBefore("dead", 1, 4n);
    const gone = Math.max(0, 5 - Number(first)) + Math.max(0, 4 - Number(second));
    expect(gone).toBeGreaterThan(0);
    expect(await redrive(broker)).toMatchObject({ redriven: 12 - 5 - gone, gone });
    expect(committedIn(broker)).toEqual([6n, 6n]);
    expect(valuesIn(broker).map((values) => values.split(" ").at(-1))).toEqual(["10", "11"]);
  });

  /** The leader of partition 1 hands nothing over, as a broker that restarts or throttles. */
  function withoutPartition1(broker: MemoryBroker, wait: string | null): KafkaDriver {
    const inner = memory({ broker });
    return {
      ...inner,
      connect: async (subscription, sink) => {
        if (wait !== null) {
          sink.waiting?.({ what: wait });
        }
        const session = await inner.connect(subscription, {
          assigned: (assignments) => sink.assigned(assignments),
          startsAt: (assignment, offset) => sink.startsAt?.(assignment, offset),
          revoked: (assignments, how) => sink.revoked(assignments, how),
          batch: (batch) => (batch.partition === 1 ? new Promise(() => {}) : sink.batch(batch)),
          failed: (error) => sink.failed(error),
        });
        return session;
      },
    };
  }

  test("that gets no records of a partition any more fails, and commits what it has written of the others", async () => {
    const broker = brokerOfDeadLetters();
    const failed = redrive(broker, { driver: withoutPartition1(broker, null), maxIdleMs: 300 });
    await expect(failed).rejects.toThrow("dead gave nothing for 10 s, 6 offsets in front of the end.");
    expect(committedIn(broker)).toEqual([6n, null]);
    expect(await redrive(broker)).toMatchObject({ redriven: 6 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });

  test("fails so too with what the driver waits for, and if it reads from the start what was redriven before", async () => {
    const broker = brokerOfDeadLetters();
    await redrive(broker, { limit: 8 }, malformed);
    const waiting = { driver: withoutPartition1(broker, "an answer to a fetch"), maxIdleMs: 1_200 };
    await expect(redrive(broker, waiting, malformed)).rejects.toThrow("The driver waits: an answer to a fetch is waited for.");
  });

  test("ends with transaction markers in front of its end, of which a driver tells nothing", async () => {
    const broker = brokerOfDeadLetters();
    const partitions = [0, 1].map((partition) => ({ partition, startOffset: 0n, endOffset: partition === 0 ? 6n : 8n, committed: null }));
    expect(await redrive(broker, { partitions, maxIdleMs: 300 })).toMatchObject({ redriven: 12, unseen: 2 });
  });

  test("whose group gives partitions to another member fails, and says so", async () => {
    const broker = brokerOfDeadLetters();
    const other = await memory({ broker }).connect(
      { groupId: "redrive", topics: ["dead"], from: "earliest", lostRange: "earliest", logger: silentLogger },
      { assigned: () => {}, revoked: async () => {}, batch: () => new Promise(() => {}), failed: () => {} },
    );
    await expect(redrive(broker, { maxForeignMs: 300 })).rejects.toThrow(/group redrive gave dead\[[01]\] to another member/);
    await other.close(0);
    expect(await redrive(broker)).toMatchObject({ redriven: 6 });
  });

  test("ends if retention takes all that it was to write, while it reads", async () => {
    const broker = brokerOfDeadLetters();
    const seen = { decided: 0 };
    const tally = await redrive(broker, {
      decided: () => {
        if (seen.decided++ === 0) {
          broker.deleteBefore("dead", 0, 6n);
          broker.deleteBefore("dead", 1, 6n);
        }
      },
      maxIdleMs: 30_000,
      maxForeignMs: 30_000,
    });
    expect(tally.redriven + tally.gone).toBe(12);
    expect(tally.gone).toBeGreaterThan(0);
  });

  test("that cannot write rejects, and commits nothing of what it could not write", async () => {
    const broker = brokerOfDeadLetters();
    broker.faults.inject({ on: "send", how: "fails" });
    await expect(redrive(broker)).rejects.toThrow("send");
    expect(committedIn(broker).filter((offset) => offset !== null && offset > 0n)).toEqual([]);
    expect(await redrive(broker)).toMatchObject({ redriven: 12 });
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });

  /** Refuses the record of this value, and takes those that are sent with it. */
  function refusing(broker: MemoryBroker, value: string): KafkaDriver {
    return sendingBy(broker, async (records, sendOn) => {
      const [refused, taken] = [true, false].map((isRefused) => records.filter((one) => (String(one.value) === value) === isRefused));
      await sendOn(taken ?? []);
      if (refused?.length !== 0) {
        throw Object.assign(new Error("[send-failed] writing to orders failed: it is too large"), { code: "send-failed" });
      }
    });
  }

  test("that cannot write one record writes all before it, names it, and repeats no other one at the next runs", async () => {
    const broker = brokerOfOneBatch(20);
    const failure = "the dead letter at dead[0]@7 was not written: writing to orders failed: it is too large.";
    await expect(redrive(broker, { driver: refusing(broker, "7") })).rejects.toThrow(failure);
    expect(committedIn(broker)[0]).toBe(7n);
    const written = broker.endOffset("orders", 0);
    for (let run = 0; run < 3; run++) {
      await expect(redrive(broker, { driver: refusing(broker, "7") })).rejects.toThrow(failure);
    }
    expect(broker.endOffset("orders", 0)).toBe(written);
    expect(await redrive(broker)).toMatchObject({ redriven: 13 });
  });

  test("whose answer was lost repeats what was being written, in order, and skips nothing", async () => {
    const broker = brokerOfDeadLetters();
    broker.faults.inject({ on: "send", how: "answer-lost" });
    await expect(redrive(broker)).rejects.toThrow("answer");
    await redrive(broker);
    expect(valuesIn(broker)).toEqual(["0 0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });

  test("ends at an interrupt with what is acknowledged committed", async () => {
    const broker = brokerOfDeadLetters();
    const interrupt = new AbortController();
    const tally = await redrive(broker, { interrupt: interrupt.signal, decided: () => interrupt.abort() });
    expect(tally.redriven).toBeGreaterThan(0);
    expect(tally.redriven).toBeLessThan(12);
    const rest = await redrive(broker);
    expect(tally.redriven + rest.redriven).toBe(12);
    expect(valuesIn(broker)).toEqual(["0 2 4 6 8 10", "1 3 5 7 9 11"]);
  });
});
