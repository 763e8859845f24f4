import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DriverSink, KafkaDriver, PartitionAssignment } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";

const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const row = Buffer.from(valueBytes ?? []).toString();
    if (row === "broken") {
      throw new TypeError("as the test asks for");
    }
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const event = { kind: "row", table: { schema: "s", name: "t" }, row, schemaId: null, record: ref };
    return (row === "double" ? [event, event] : [event]) as unknown as CdcEvent[]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

/** The group's last acknowledgement comes at 0 and holds for so long. The next one comes at `wordAtMs`. */
const sessionMs = 30;
const wordAtMs = 500;

interface Scene {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
  /** When something was handed on. */
  readonly startedAtMs: number[];
  readonly held: () => readonly PartitionAssignment[];
  readonly sink: () => DriverSink;
  /** Handles one thing, which takes 10 ms. */
  readonly work: () => Promise<void>;
}

/** A member that is acknowledged at the beginning, and again much later. */
function setUp(values: readonly string[], options: Partial<ConsumerOptions> = {}): Scene {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, out: 1, dead: 1 }, { clock });
  broker.append("t", ...values.map((value, i) => ({ key: `k${i}`, value })));
  const inner = memory({ broker });
  const startedAtMs: number[] = [];
  let known: DriverSink | null = null;
  let held: readonly PartitionAssignment[] = [];
  const driver: KafkaDriver = {
    name: "quiet",
    capabilities: inner.capabilities,
    connect: (subscription, sink) => {
      known = sink;
      sink.acknowledged?.(sessionMs);
      clock.after(wordAtMs, () => sink.acknowledged?.(100_000));
      const assigned = (assignments: readonly PartitionAssignment[]): void => {
        held = assignments;
        sink.assigned(assignments);
      };
      return inner.connect(subscription, {
        assigned,
        revoked: (assignments, how) => sink.revoked(assignments, how),
        batch: (batch) => sink.batch(batch),
        failed: (error) => sink.failed(error),
      });
    },
  };
  const consumer = createConsumer({
    driver,
    groupId: "g",
    topics: ["t"],
    decoder: rowDecoder,
    signals: false,
    clock,
    random: () => 0.5,
    ...options,
  });
  return {
    clock,
    broker,
    consumer,
    startedAtMs,
    held: () => held,
    sink: () => known as unknown as DriverSink,
    work: () => {
      startedAtMs.push(clock.nowMs());
      return new Promise<void>((resolve) => void clock.after(10, resolve));
    },
  };
}

const many = Array.from({ length: 12 }, (_, i) => String(i));

/** Something was handed on only before the lease ran out and after the next acknowledgement. */
function expectNothingBetween({ startedAtMs }: Scene): void {
  expect(startedAtMs.filter((atMs) => atMs < sessionMs).length).toBeGreaterThan(0);
  expect(startedAtMs.filter((atMs) => atMs >= sessionMs && atMs < wordAtMs)).toEqual([]);
  expect(startedAtMs.filter((atMs) => atMs >= wordAtMs).length).toBeGreaterThan(0);
}

async function runUntil(scene: Scene, isDone: () => boolean): Promise<void> {
  const look = (): void => {
    if (isDone()) {
      void scene.consumer.stop();
    } else {
      scene.clock.after(5, look);
    }
  };
  look();
  await scene.clock.run(scene.consumer.run());
}

const variants: readonly { readonly what: string; readonly options: Partial<ConsumerOptions>; readonly attach: (scene: Scene) => void }[] =
  [
    { what: "a handler", options: {}, attach: ({ consumer, work }) => consumer.on("s.t", { row: work }) },
    {
      what: "a handler beside others of other keys",
      options: { delivery: { concurrency: 2 } },
      attach: ({ consumer, work }) => consumer.on("s.t", { row: work }),
    },
    {
      what: "a batch handler",
      options: { delivery: { batch: { maxEvents: 2, maxMs: 1 } } },
      attach: ({ consumer, work }) => consumer.on("s.t", { batch: work }),
    },
    {
      what: "a sink",
      options: {},
      attach: ({ consumer, work }) =>
        consumer.to({ name: "slow", claim: async () => [], apply: work, close: async () => {} }, { batch: { maxEvents: 2, maxMs: 1 } }),
    },
    {
      what: "a transaction of pipe()",
      options: {},
      attach: ({ consumer, work }) => consumer.pipe("s.t", () => work().then(() => []), { batch: { maxEvents: 2, maxMs: 1 } }),
    },
  ];

describe("when the group has not acknowledged the member within its session", () => {
  test.each(variants)("nothing is handed on to $what before it does", async ({ options, attach }) => {
    const scene = setUp(many, { delivery: { commitIntervalMs: 5 }, ...options });
    attach(scene);
    const committedAtMs: number[] = [];
    const commit = scene.broker.commit.bind(scene.broker);
    scene.broker.commit = (offset) => {
      committedAtMs.push(scene.clock.nowMs());
      commit(offset);
    };
    let reasons: readonly string[] = [];
    scene.clock.after(wordAtMs - 1, () => {
      ({ reasons } = scene.consumer.health());
    });
    await runUntil(scene, () => scene.broker.committed("g", "t", 0) === BigInt(many.length));
    expectNothingBetween(scene);
    expect(committedAtMs.filter((atMs) => atMs >= sessionMs && atMs < wordAtMs)).toEqual([]);
    expect(reasons.join()).toContain("no heartbeat of this member was acknowledged within its session");
    expect(reasons.join()).toContain("a handler kept the event loop busy");
    expect(scene.consumer.health().counts.deadLettered).toBe(0);
  });

  test("nothing is handed on by a machine that was suspended, whose clock that only goes forward stood still meanwhile", async () => {
    const virtual = virtualClock();
    const broker = new MemoryBroker({ t: 1 }, { clock: virtual });
    broker.append("t", ...many.map((value) => ({ value })));
    const inner = memory({ broker });
    let [suspendedMs, isAcknowledged] = [0, true];
    const startedAs: boolean[] = [];
    const consumer = createConsumer({
      driver: {
        name: "suspended",
        capabilities: inner.capabilities,
        connect: (subscription, sink) => {
          sink.acknowledged?.(60_000);
          virtual.after(25, () => {
            [suspendedMs, isAcknowledged] = [3_600_000, false];
          });
          virtual.after(wordAtMs, () => {
            isAcknowledged = true;
            sink.acknowledged?.(60_000);
          });
          return inner.connect(subscription, {
            assigned: (assignments) => sink.assigned(assignments),
            revoked: (assignments, how) => sink.revoked(assignments, how),
            batch: (batch) => sink.batch(batch),
            failed: (error) => sink.failed(error),
          });
        },
      },
      groupId: "g",
      topics: ["t"],
      decoder: rowDecoder,
      signals: false,
      clock: {
        nowMs: () => virtual.nowMs(),
        wallMs: () => virtual.wallMs() + suspendedMs,
        after: (delayMs, call) => virtual.after(delayMs, call),
        yieldToEventLoop: () => virtual.yieldToEventLoop(),
      },
    });
    consumer.on("s.t", {
      row: () => {
        startedAs.push(isAcknowledged);
        return new Promise<void>((resolve) => void virtual.after(10, resolve));
      },
    });
    virtual.after(2_000, () => void consumer.stop());
    await virtual.run(consumer.run());
    expect(startedAs).toEqual(many.map(() => true));
    expect(broker.committed("g", "t", 0)).toBe(BigInt(many.length));
  });

  test("nothing is handed on to the reader of a stream before it does", async () => {
    const scene = setUp(many);
    const reading = (async (): Promise<void> => {
      for await (const delivery of scene.consumer.stream()) {
        await scene.work();
        delivery.done();
        if (scene.startedAtMs.length === many.length) {
          return;
        }
      }
    })();
    await scene.clock.run(reading);
    expectNothingBetween(scene);
  });

  test.each([1, 2])("the second event of a record waits, too, at concurrency %i", async (concurrency) => {
    const scene = setUp(["0", "1", "double", "3"], { delivery: { concurrency, order: "partition" } });
    scene.consumer.on("s.t", { row: scene.work });
    await runUntil(scene, () => scene.broker.committed("g", "t", 0) === 4n);
    expect(scene.startedAtMs.filter((atMs) => atMs < wordAtMs)).toEqual([0, 10, 20]);
    expect(scene.startedAtMs).toHaveLength(5);
  });

  test("no dead letter is written before it does", async () => {
    const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
    const scene = setUp(["0", "1", "2", "broken"], { failure });
    scene.consumer.on("s.t", { row: scene.work });
    let written = -1n;
    scene.clock.after(wordAtMs - 1, () => {
      written = scene.broker.endOffset("dead", 0);
    });
    await runUntil(scene, () => scene.broker.committed("g", "t", 0) === 4n);
    expect(written).toBe(0n);
    expect(scene.broker.endOffset("dead", 0)).toBe(1n);
  });

  test("a partition that the group has given away meanwhile never goes on", async () => {
    const scene = setUp(many);
    scene.consumer.on("s.t", { row: scene.work });
    scene.clock.after(200, () => void scene.sink().revoked(scene.held(), "lost"));
    scene.clock.after(wordAtMs + 100, () => void scene.consumer.stop());
    await scene.clock.run(scene.consumer.run());
    expect(scene.startedAtMs).toEqual([0, 10, 20]);
  });

  test("a stop does not wait for the acknowledgement", async () => {
    const scene = setUp(many, { delivery: { concurrency: 4 } });
    scene.consumer.on("s.t", { row: scene.work });
    scene.clock.after(100, () => void scene.consumer.stop());
    await scene.clock.run(scene.consumer.run());
    expect(scene.clock.nowMs()).toBeLessThan(wordAtMs);
  });

  test("a drain does not wait for the acknowledgement after the driver has failed", async () => {
    for (const concurrency of [1, 4]) {
      const scene = setUp(["double"], { delivery: { concurrency } });
      const slow = async (): Promise<void> => {
        for (let i = 0; i < 5; i++) {
          await scene.work();
        }
      };
      scene.consumer.on("s.t", { row: slow });
      scene.clock.after(5, () => void scene.consumer.stop());
      scene.clock.after(100, () => scene.sink().failed(new Error("the client has given up")));
      await scene.clock.run(expect(scene.consumer.run()).rejects.toThrow("the client has given up"));
      expect(scene.startedAtMs).toEqual([0, 10, 20, 30, 40]);
      expect(scene.clock.nowMs()).toBeLessThan(wordAtMs);
    }
  });

  test("an answer that was read too late does not count", async () => {
    const scene = setUp(many);
    scene.consumer.on("s.t", { row: scene.work });
    scene.clock.after(100, () => scene.sink().acknowledged?.(-5));
    await runUntil(scene, () => scene.broker.committed("g", "t", 0) === BigInt(many.length));
    expectNothingBetween(scene);
  });
});
