import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DriverSink, KafkaDriver, PartitionAssignment } from "./driver.ts";
import type { FailureOptions } from "./failure/failure-options.ts";
import type { ConsumerMessages } from "./observe/channels.ts";
import { silentLogger } from "./observe/logger.ts";
import type { Sink, SinkBatch } from "./sink.ts";

const plainDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record }: RecordCursor) => {
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    return [{ kind: "row", table: { schema: "s", name: "t" }, row: {}, schemaId: null, record: ref } as unknown as CdcEvent];
  },
  explain: () => Promise.reject(new Error("not used")),
};

const reported: ConsumerMessages["lost-range"][] = [];
const listen = (message: unknown): void => void reported.push(message as ConsumerMessages["lost-range"]);

beforeEach(() => subscribe("cdckit:consumer:lost-range", listen));
afterEach(() => {
  unsubscribe("cdckit:consumer:lost-range", listen);
  reported.length = 0;
});

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
  readonly logged: string[];
}

/** A log from 5 to 8, and a group that has handled everything below 2. */
function setUp(failure: FailureOptions): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", ...Array.from({ length: 8 }, (_, i) => ({ value: `${i}` })));
  broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 2n });
  broker.deleteBefore("t", 0, 5n);
  const logged: string[] = [];
  const logger = { ...silentLogger, error: (_fields: unknown, line?: string) => void logged.push(String(line)) };
  const driver = memory({ broker });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false, clock, failure, logger });
  return { clock, broker, consumer, logged };
}

/** The offsets that a handler sees within a second. */
async function offsetsSeen({ clock, consumer }: Setup): Promise<readonly number[]> {
  const seen: number[] = [];
  consumer.on("*", ({ record }) => void seen.push(Number(record.offset)));
  const running = consumer.run();
  clock.after(1_000, () => void consumer.stop());
  await clock.run(running);
  return seen;
}

const lost = { topic: "t", partition: 0, firstMissing: 2n, firstAvailable: 5n, end: 8n };

describe("records that retention deleted before they were handled", () => {
  test("halt the consumer with their exact range, and nothing is skipped", async () => {
    const setup = setUp({});
    await expect(offsetsSeen(setup)).rejects.toMatchObject({ code: "offset-out-of-range", lost });
    expect([setup.broker.committed("g", "t", 0), setup.consumer.health().counts.lostOffsets, reported]).toEqual([2n, 0, []]);
  });

  test("are skipped if the user says so, and are logged, counted, published and shown in health", async () => {
    const setup = setUp({ lostRange: "earliest" });
    expect(await offsetsSeen(setup)).toEqual([5, 6, 7]);
    const text =
      't[0]: the records from 2 to 4 were deleted before they were read, and the partition goes on at 5, because failure.lostRange is "earliest"';
    expect(setup.logged).toEqual([text]);
    expect(reported).toEqual([{ groupId: "g", lost, resumeOffset: 5n }]);
    expect(setup.consumer.health().counts.lostOffsets).toBe(3);
    expect(setup.consumer.health().reasons).toContain(text);
    expect(setup.broker.committed("g", "t", 0)).toBe(8n);
  });

  test("are skipped to the end with latest, and records that were there and are not read are reported, too", async () => {
    const setup = setUp({ lostRange: "latest" });
    setup.clock.after(500, () => setup.broker.append("t", { value: "8" }));
    expect(await offsetsSeen(setup)).toEqual([8]);
    expect(setup.consumer.health().counts.lostOffsets).toBe(6);
    expect(setup.logged[0]).toContain(
      "from 2 to 4 were deleted before they were read, those from 5 to 7 were skipped, and the partition goes on at 8",
    );
  });

  test("are not skipped a second time after a restart, because the new position is committed before any record comes", async () => {
    const setup = setUp({ lostRange: "latest" });
    expect(await offsetsSeen(setup)).toEqual([]);
    expect(setup.broker.committed("g", "t", 0)).toBe(8n);
    setup.broker.append("t", { value: "8" });
    const driver = memory({ broker: setup.broker });
    const { clock, broker, logged } = setup;
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false, clock });
    expect(await offsetsSeen({ clock, broker, consumer, logged })).toEqual([8]);
  });

  test.each(["one at a time", "concurrency", "a stream"] as const)(
    "are not passed before what is in memory is handled: %s",
    async (how) => {
      const clock = virtualClock();
      const broker = new MemoryBroker({ t: 1 }, { clock });
      const append = (count: number): void => void broker.append("t", ...Array.from({ length: count }, () => ({ value: "x" })));
      append(3);
      let decodeOn: () => void = () => {};
      const isDecoded = new Promise<void>((resolve) => (decodeOn = resolve));
      // The second record waits for its schema, and the third is not read before that.
      const decodeAt: Decoder["decodeAt"] = (cursor) => {
        const events = plainDecoder.decodeAt(cursor);
        return cursor.batch.offsetAt(cursor.record) === 1n ? isDecoded.then(() => events) : events;
      };
      const consumer = createConsumer({
        driver: memory({ broker }),
        groupId: "g",
        topics: ["t"],
        decoder: { ...plainDecoder, decodeAt },
        signals: false,
        clock,
        failure: { lostRange: "latest" },
        delivery: { concurrency: how === "concurrency" ? 4 : 1 },
        logger: false,
      });
      const seen: bigint[] = [];
      let running: Promise<unknown>;
      if (how === "a stream") {
        running = (async () => {
          for await (const { event, done } of consumer.stream()) {
            seen.push(event.record.offset);
            done();
            await isDecoded; // nothing of what is in memory is read meanwhile
          }
        })();
      } else {
        running = consumer.on("*", ({ record }) => void seen.push(record.offset)).run();
      }
      await clock.advance(2_000);
      append(3);
      broker.deleteBefore("t", 0, 5n);
      await clock.advance(5_000);
      expect([broker.committed("g", "t", 0), seen]).toEqual([1n, [0n]]);
      decodeOn();
      await clock.advance(5_000);
      expect([broker.committed("g", "t", 0), seen]).toEqual([6n, [0n, 1n, 2n]]);
      const stopped = consumer.stop();
      await clock.run(Promise.all([stopped, running]));
    },
  );

  test.each([1, 4])("are not passed by a stop that leaves what is before them (concurrency %i)", async (concurrency) => {
    const clock = virtualClock();
    const broker = new MemoryBroker({ t: 1 }, { clock });
    broker.append("t", ...Array.from({ length: 6 }, () => ({ value: "x" })));
    const inner = memory({ broker });
    const sinks: DriverSink[] = [];
    const assignments: PartitionAssignment[] = [];
    // Other clients fetch on while a batch is at work, and find the range then.
    const driver: KafkaDriver = {
      ...inner,
      connect: (subscription, sink) => {
        sinks.push(sink);
        const assigned = sink.assigned.bind(sink);
        sink.assigned = (added) => {
          assignments.push(...added);
          assigned(added);
        };
        return inner.connect(subscription, sink);
      },
    };
    let handle: () => void = () => {};
    const isHandled = new Promise<void>((resolve) => (handle = resolve));
    const options = { groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false, clock, logger: false } as const;
    const consumer = createConsumer({
      ...options,
      driver,
      failure: { lostRange: "latest" },
      delivery: { concurrency, order: "partition" },
    });
    const seen: bigint[] = [];
    consumer.on("*", ({ record }) => {
      seen.push(record.offset);
      return record.offset === 1n ? isHandled : undefined;
    });
    const running = consumer.run();
    await clock.advance(2_000);
    sinks[0]?.skipped?.(
      assignments[0] as PartitionAssignment,
      { topic: "t", partition: 0, firstMissing: 6n, firstAvailable: 50n, end: 50n },
      50n,
    );
    const stopped = consumer.stop();
    clock.after(500, handle);
    await clock.run(Promise.all([stopped, running]));
    expect([seen, broker.committed("g", "t", 0)]).toEqual([[0n, 1n], 2n]);
  });

  test("leave a consumer live and ready if it goes on at the end of a quiet topic", async () => {
    const { clock, consumer } = setUp({ lostRange: "latest" });
    consumer.on("*", () => {});
    const running = consumer.run();
    await clock.advance(120_000);
    expect(consumer.health()).toMatchObject({ live: true, ready: true });
    expect(consumer.health().reasons).toEqual([expect.stringContaining("the partition goes on at 8")]);
    const stopped = consumer.stop();
    await clock.advance(20_000);
    await Promise.all([running, stopped]);
  });

  test("are skipped by a sink that goes on at its checkpoint, and a sink that is ahead applies nothing twice", async () => {
    const { clock, consumer } = setUp({ lostRange: "earliest" });
    const applied = new Map<string, number[]>();
    const sinkAt = (name: string, offset: bigint): Sink => ({
      name,
      claim: async (_groupId, assignments) => assignments.map((assignment) => ({ assignment, offset })),
      apply: async ({ events }: SinkBatch) => {
        const seen = events.map(({ record }) => Number(record.offset));
        applied.set(name, [...(applied.get(name) ?? []), ...seen]);
      },
      close: async () => {},
    });
    consumer.to(sinkAt("slow", 3n)).to(sinkAt("fast", 7n));
    const running = consumer.run();
    clock.after(2_000, () => void consumer.stop());
    await clock.run(running);
    expect(Object.fromEntries(applied)).toEqual({ slow: [5, 6, 7], fast: [7] });
    expect(reported.map(({ lost: { firstMissing }, resumeOffset }) => [firstMissing, resumeOffset])).toEqual([[3n, 5n]]);
  });

  test.each([null, { maxEvents: 100, maxMs: 50 }])(
    "move a sink's checkpoint, too, before anything is applied there, so that the next start loses nothing a second time (batch: %j)",
    async (batch) => {
      const setup = setUp({ lostRange: "latest" });
      const checkpoint = { offset: 2n };
      const applied: number[] = [];
      const sink: Sink = {
        name: "rows",
        claim: async (_groupId, assignments) => assignments.map((assignment) => ({ assignment, offset: checkpoint.offset })),
        apply: async ({ events, nextOffset }: SinkBatch) => {
          applied.push(...events.map(({ record }) => Number(record.offset)));
          checkpoint.offset = nextOffset;
        },
        close: async () => {},
      };
      const runFor = async (consumer: Consumer): Promise<void> => {
        consumer.to(sink, batch === null ? {} : { batch });
        setup.clock.after(1_000, () => void consumer.stop());
        await setup.clock.run(consumer.run());
      };
      await runFor(setup.consumer);
      expect([checkpoint.offset, applied, setup.broker.committed("g", "t", 0)]).toEqual([8n, [], 8n]);
      setup.broker.append("t", { value: "8" });
      const { clock, broker } = setup;
      const driver = memory({ broker });
      await runFor(createConsumer({ driver, groupId: "g", topics: ["t"], decoder: plainDecoder, signals: false, clock }));
      expect([checkpoint.offset, applied]).toEqual([9n, [8]]);
    },
  );

  test("a log that ends before the group's offset halts with every policy, because its offsets mean something else", async () => {
    const setup = setUp({ lostRange: "earliest" });
    setup.broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 20n });
    await expect(offsetsSeen(setup)).rejects.toMatchObject({ code: "offset-out-of-range", lost: { ...lost, firstMissing: 20n } });
    expect(reported).toEqual([]);
  });

  test("an unknown policy is refused", () => {
    expect(() => setUp({ lostRange: "none" as never })).toThrow("failure.lostRange");
  });
});

describe("a topic that is deleted and created again while a handler is at work", () => {
  /** A log to 8, which becomes another one, to 12, when its third record is handled. */
  function setUpRecreation(failure: FailureOptions): Setup & { readonly seen: string[] } {
    const setup = setUp(failure);
    const { broker, consumer } = setup;
    const seen: string[] = [];
    broker.commit({ groupId: "g", topic: "t", partition: 0, offset: 5n, topicId: broker.topicId("t") });
    const old = broker.topicId("t");
    consumer.on("*", ({ record }) => {
      seen.push(`${broker.topicId("t") === old ? "old" : "new"} ${record.offset}`);
      if (record.offset === 7n && broker.topicId("t") === old) {
        broker.recreateTopic("t");
        broker.append("t", ...Array.from({ length: 12 }, (_, i) => ({ value: `new ${i}` })));
      }
    });
    return { ...setup, seen };
  }

  async function run({ clock, consumer }: Setup): Promise<void> {
    const running = consumer.run();
    clock.after(1_000, () => void consumer.stop());
    await clock.run(running);
  }

  test("halts with both topic ids, and so does the next start, because the commit in the new topic is of the old one", async () => {
    const setup = setUpRecreation({});
    const recreated = { from: "topic-1", to: "topic-2" };
    const lost = { topic: "t", partition: 0, firstMissing: 8n, firstAvailable: 0n, end: 12n, recreated };
    await expect(run(setup)).rejects.toMatchObject({ code: "topic-recreated", lost });
    expect(setup.seen).toEqual(["old 5", "old 6", "old 7"]);
    expect(setup.broker.commitOf("g", "t", 0)).toMatchObject({ offset: 8n, topicId: "topic-1" });
  });

  test("is read from its start if the user chose that, and is logged, counted, published and shown in health", async () => {
    const setup = setUpRecreation({ lostRange: "earliest" });
    await run(setup);
    expect(setup.seen.slice(3)).toEqual(Array.from({ length: 12 }, (_, i) => `new ${i}`));
    const text =
      't[0]: the topic was deleted and created again, the records of the old one from 8 on are gone, and the new one is read from 0, because failure.lostRange is "earliest"';
    expect(setup.logged).toEqual([text]);
    expect(reported.map(({ lost: { recreated }, resumeOffset }) => [recreated?.to, resumeOffset])).toEqual([["topic-2", 0n]]);
    expect(setup.consumer.health()).toMatchObject({ counts: { recreated: 1, lostOffsets: 0 } });
    expect(setup.consumer.health().reasons).toContain(text);
    expect(setup.broker.commitOf("g", "t", 0)).toMatchObject({ offset: 12n, topicId: "topic-2" });
  });
});
