import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { KafkaDriver, OutgoingRecord } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink } from "./sink.ts";

const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const row = Buffer.from(valueBytes ?? []).toString();
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    return [{ kind: "row", table: { schema: "s", name: "t" }, row, schemaId: null, record: ref } as unknown as CdcEvent]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
}

function setUp(records: number, partitions = 1): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: partitions, out: 1 }, { clock });
  broker.append("t", ...Array.from({ length: records }, (_, i) => ({ value: String(i), partition: i % partitions })));
  return { clock, broker };
}

function join(
  { clock, broker }: Setup,
  driver: KafkaDriver = memory({ broker, maxBatchRecords: 4 }),
  options: Partial<ConsumerOptions> = {},
): Consumer {
  return createConsumer({ driver, groupId: "g", topics: ["t"], decoder: rowDecoder, signals: false, clock, random: () => 0.5, ...options });
}

function recordsOf(events: readonly object[]): OutgoingRecord[] {
  return events.map((event) => ({ topic: "out", key: null, value: Buffer.from(`out-${(event as { row: string }).row}`), headers: [] }));
}

function outOf(broker: MemoryBroker): string[] {
  return broker.read("out", 0, 0n, 10_000).map(({ value }) => Buffer.from(value ?? []).toString());
}

function stopWhen({ clock }: Setup, isDone: () => boolean, members: () => readonly Consumer[]): void {
  clock.after(10, () => {
    if (isDone()) {
      for (const member of members()) {
        void member.stop();
      }
    } else {
      stopWhen({ clock } as Setup, isDone, members);
    }
  });
}

/** Runs until the group has committed all ten records. */
async function runToTheEnd(setup: Setup, consumer: Consumer): Promise<void> {
  stopWhen(
    setup,
    () => setup.broker.committed("g", "t", 0) === 10n,
    () => [consumer],
  );
  await setup.clock.run(consumer.run());
}

describe("pipe", () => {
  test("writes the records that events become, and commits with them", async () => {
    const setup = setUp(10);
    await runToTheEnd(setup, join(setup).pipe("s.t", recordsOf, { batch: { maxEvents: 3, maxMs: 5 } }));
    expect(outOf(setup.broker)).toEqual(Array.from({ length: 10 }, (_, i) => `out-${i}`));
  });

  test("a transaction that fails is retried as a whole", async () => {
    const setup = setUp(10);
    setup.broker.faults.inject({ on: "transact", how: "fails", times: 3 });
    await runToTheEnd(setup, join(setup).pipe("s.t", recordsOf));
    expect(setup.broker.faults.met).toBe(3);
    expect(outOf(setup.broker)).toHaveLength(10);
  });

  test("a transaction that was carried out, and whose answer was lost, is not repeated", async () => {
    const setup = setUp(10);
    setup.broker.faults.inject({ on: "transact", how: "answer-lost", times: 2 });
    await runToTheEnd(setup, join(setup).pipe("s.t", recordsOf));
    expect(setup.broker.faults.met).toBe(2);
    expect(outOf(setup.broker)).toEqual(Array.from({ length: 10 }, (_, i) => `out-${i}`));
  });

  test("a transaction that keeps failing halts the consumer, and makes no dead letter of a record", async () => {
    const setup = setUp(10);
    setup.broker.createTopic("dead");
    setup.broker.faults.inject({ on: "transact", how: "fails", times: Infinity });
    const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
    const consumer = join(setup, undefined, { failure }).pipe("s.t", recordsOf);
    await expect(setup.clock.run(consumer.run())).rejects.toMatchObject({ code: "sink-failed" });
    expect(setup.broker.endOffset("dead", 0)).toBe(0n);
    expect(setup.broker.committed("g", "t", 0)).toBeNull();
  });

  test("a transaction is tried for as long as no broker can be reached, which is no attempt of it", async () => {
    const setup = setUp(10);
    const cause = Object.assign(new Error("no answer"), { code: "brokers-unreachable" });
    const error = Object.assign(new Error("[transaction-failed] no answer", { cause }), { code: "transaction-failed" });
    setup.broker.faults.inject({ on: "transact", how: "fails", times: 40, error });
    await runToTheEnd(setup, join(setup).pipe("s.t", recordsOf));
    expect(setup.broker.faults.met).toBe(40);
    expect(outOf(setup.broker)).toHaveLength(10);
  });

  test("a plain commit that waits for a transaction to end does not move the group back", async () => {
    const setup = setUp(40);
    setup.broker.faults.inject({ on: "transact", how: { lateMs: 30 }, times: Infinity });
    const delivery = { commitIntervalMs: 5 };
    const consumer = join(setup, undefined, { delivery }).pipe("s.t", recordsOf, { batch: { maxEvents: 3, maxMs: 5 } });
    stopWhen(
      setup,
      () => setup.broker.committed("g", "t", 0) === 40n,
      () => [consumer],
    );
    await setup.clock.run(consumer.run());
    const offsets = setup.broker.commits.map(({ offset }) => offset);
    expect(offsets.length).toBeGreaterThan(10);
    expect(offsets).toEqual([...offsets].sort((a, b) => Number(a - b)));
  });

  test("each event counts once, whatever members come, go and expire", async () => {
    const setup = setUp(200, 4);
    const members: Consumer[] = [];
    const running: Promise<void>[] = [];
    const enter = (): void => {
      const slow = async (events: readonly object[]): Promise<OutgoingRecord[]> => {
        await new Promise<void>((resolve) => void setup.clock.after(3, resolve));
        return recordsOf(events);
      };
      const consumer = join(setup).pipe("s.t", slow);
      members.push(consumer);
      running.push(consumer.run());
    };
    enter();
    for (const [atMs, what] of [
      [5, enter],
      [12, () => void setup.broker.group("g").expire()],
      [20, enter],
      [30, () => void members.shift()?.stop()],
      [40, () => void setup.broker.group("g").expire()],
    ] as const) {
      setup.clock.after(atMs, what);
    }
    stopWhen(
      setup,
      () => [0, 1, 2, 3].every((partition) => setup.broker.committed("g", "t", partition) === 50n),
      () => members,
    );
    await setup.clock.run(Promise.all(running).then(() => Promise.all(running)));
    const numbers = outOf(setup.broker).map((text) => Number(text.slice(4)));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test("a partition number that no partition can have fails the record, and nothing is written", async () => {
    const setup = setUp(1);
    const consumer = join(setup).pipe("s.t", (events) => recordsOf(events).map((record) => ({ ...record, partition: 2 ** 31 })));
    const error = await setup.clock.run(consumer.run().catch((cause: unknown) => cause));
    expect(error).toMatchObject({
      cause: { message: expect.stringContaining("found that the partition is no number from 0 to 2147483647 of record 0") },
    });
    expect(outOf(setup.broker)).toEqual([]);
  });

  test("is refused beside other handlers and sinks, because it would commit past what they have not handled", async () => {
    const setup = setUp(1);
    await expect(
      join(setup)
        .pipe("s.t", recordsOf)
        .on("*", () => {})
        .run(),
    ).rejects.toMatchObject({ code: "invalid-handler" });
    expect(() => join(setup).pipe("s.t", recordsOf).pipe("s.u", recordsOf)).toThrow(
      '[invalid-handler] pipe("s.u") is the second pipe() of this consumer',
    );
    const named: Sink = { name: "pipe", claim: async () => [], apply: async () => {}, close: async () => {} };
    for (const both of [join(setup).to(named).pipe("s.t", recordsOf), join(setup).pipe("s.t", recordsOf).to(named)]) {
      await expect(both.run()).rejects.toThrow("[invalid-handler] pipe() commits in its own transaction");
    }
    expect(() => join(setup).pipe("s.*", recordsOf)).toThrow("[invalid-handler] pipe() expects a name without wildcards");
  });

  test("a driver without transactions is refused at the start", async () => {
    const setup = setUp(1);
    const own = memory({ broker: setup.broker });
    const driver: KafkaDriver = {
      name: "plain",
      capabilities: own.capabilities,
      connect: async (subscription, sink) => {
        const session = await own.connect(subscription, sink);
        return {
          commit: (offsets) => session.commit(offsets),
          pause: (assignments) => session.pause(assignments),
          resume: (assignments) => session.resume(assignments),
          close: (deadlineMs) => session.close(deadlineMs),
        };
      },
    };
    const consumer = join(setup, driver).pipe("s.t", recordsOf);
    await expect(setup.clock.run(consumer.run())).rejects.toMatchObject({ code: "unsupported-by-driver" });
  });
});
