import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DeliveryOptions } from "./delivery/delivery-options.ts";

const decoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const [word = "", name = "t"] = Buffer.from(valueBytes ?? [])
      .toString()
      .split(":");
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    return [{ kind: "change", op: "create", table: { schema: "s", name }, word, schemaId: null, record: ref } as unknown as CdcEvent];
  },
  explain: () => Promise.reject(new Error("not used")),
};

/** An outage: it has no last attempt. */
const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });

type Handle = (events: readonly CdcEvent[]) => Promise<void>;

interface Case {
  readonly name: string;
  readonly delivery?: DeliveryOptions;
  readonly attach: (consumer: Consumer, handle: Handle) => void;
}

function toHandler(consumer: Consumer, handle: Handle): void {
  consumer.on("*", (event) => handle([event]));
}

function toBatchHandler(consumer: Consumer, handle: Handle): void {
  consumer.on("s.t", { batch: (events) => handle(events) });
}

function toSink(consumer: Consumer, handle: Handle): void {
  consumer.to({ name: "copy", claim: async () => [], apply: ({ events }) => handle(events), close: async () => {} });
}

const batch = { maxEvents: 2, maxMs: 5 };
const cases: readonly Case[] = [
  { name: "one record after the other", attach: toHandler },
  { name: "a handler of batches", attach: toBatchHandler },
  { name: "concurrency", delivery: { concurrency: 4 }, attach: toHandler },
  { name: "concurrency, and a handler of batches", delivery: { concurrency: 4 }, attach: toBatchHandler },
  { name: "batches of so many events", delivery: { batch }, attach: toBatchHandler },
  { name: "a sink", attach: toSink },
  { name: "a sink with batches of so many events", delivery: { batch }, attach: toSink },
  {
    name: "a sink beside handlers that have handled nothing of it",
    delivery: { concurrency: 4 },
    attach: (consumer, handle) => {
      toHandler(consumer, handle);
      toSink(consumer, handle);
    },
  },
];
const casesAndMoments = cases.flatMap((one) => [
  { ...one, when: "during the pause", attemptMs: 0 },
  { ...one, when: "during the attempt before it", attemptMs: 300 },
]);

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  /** The places of what was handled, in the order in which it was. */
  readonly handled: string[];
}

/** In each partition: two records that are handled, two that are not while the database is away, and one of the same key as the third. */
function setUp(partitions = 1): Setup {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: partitions }, { clock });
  for (let partition = 0; partition < partitions; partition++) {
    const words = ["a=fine", "b=fine", "a=away", "b=away", "a=fine"].map((text) => text.split("="));
    broker.append("t", ...words.map(([key = "", value = ""]) => ({ key, value, partition })));
  }
  return { clock, broker, handled: [] };
}

function join({ clock, broker }: Setup, delivery: DeliveryOptions = {}, delayMs = 60_000, maxBatchRecords = 2): Consumer {
  return createConsumer({
    driver: memory({ broker, maxBatchRecords }),
    groupId: "g",
    topics: ["t"],
    decoder,
    delivery,
    failure: { retry: { initialDelayMs: delayMs, maxDelayMs: delayMs, jitter: "none" } },
    signals: false,
    shutdownTimeoutMs: 5_000,
    clock,
  });
}

function wordOf(event: CdcEvent): string {
  return (event as unknown as { readonly word: string }).word;
}

function placeOf({ record }: CdcEvent): string {
  return `${record.partition}:${record.offset}`;
}

/** Handles events while the database is there. An attempt takes a while if it is away. */
function database({ clock, handled }: Setup, attemptMs: number, isThere: () => boolean): Handle {
  return async (events) => {
    if (!isThere() && events.some((event) => wordOf(event) === "away")) {
      await sleep(clock, attemptMs);
      throw refused;
    }
    handled.push(...events.map(placeOf));
  };
}

function sleep(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

describe("what fails, and of which nothing is handled, is not waited for until its next attempt", () => {
  test.each(casesAndMoments)("by a stop $when: $name", async ({ delivery, attach, attemptMs }) => {
    const setup = setUp();
    const { clock, broker, handled } = setup;
    const consumer = join(setup, delivery);
    attach(
      consumer,
      database(setup, attemptMs, () => false),
    );
    clock.after(100, () => void consumer.stop());
    await clock.run(consumer.run());
    expect(clock.nowMs()).toBeGreaterThanOrEqual(attemptMs);
    expect(clock.nowMs()).toBeLessThan(1_000);
    expect([...new Set(handled)]).toEqual(["0:0", "0:1"]);
    expect(broker.committed("g", "t", 0)).toBe(2n);
    expect(consumer.health()).toMatchObject({ waits: [], counts: { handled: 2 } });
  });

  test.each(casesAndMoments)("by a rebalance $when, and its next owner handles it: $name", async ({ delivery, attach, attemptMs }) => {
    const setup = setUp(2);
    const { clock, broker, handled } = setup;
    const [first, second] = [join(setup, delivery), join(setup, delivery)];
    let isThere = false;
    attach(
      first,
      database(setup, attemptMs, () => false),
    );
    toHandler(
      second,
      database(setup, 0, () => isThere),
    );
    const running = [first.run()];
    await clock.advance(100);
    isThere = true;
    running.push(second.run());
    await clock.advance(900);
    const [taken] = second.health().assigned;
    expect(taken).toMatchObject({ topic: "t", handledTo: 5n });
    const places = [2, 3, 4].map((offset) => `${taken?.partition}:${offset}`);
    expect(handled.filter((place) => places.includes(place))).toEqual(places);
    await clock.run(Promise.all([first.stop(), second.stop(), ...running]));
    expect(broker.committed("g", "t", taken?.partition ?? -1)).toBe(5n);
    expect(broker.committed("g", "t", 1 - (taken?.partition ?? -1))).toBe(2n);
  });
});

describe("what fails is waited for by a stop, so that nothing comes twice,", () => {
  async function stopAndCome(setup: Setup, consumer: Consumer): Promise<void> {
    setup.clock.after(100, () => void consumer.stop());
    await setup.clock.run(consumer.run());
    expect(new Set(setup.handled).size).toBe(setup.handled.length);
  }

  test("if a record after it is handled", async () => {
    const setup = setUp();
    const { clock, broker, handled } = setup;
    broker.append("t", { key: "c", value: "fine" });
    const consumer = join(setup, { concurrency: 4 }, 1_000);
    toHandler(
      consumer,
      database(setup, 0, () => clock.nowMs() >= 1_000),
    );
    await stopAndCome(setup, consumer);
    expect(handled.toSorted()).toEqual(["0:0", "0:1", "0:2", "0:3", "0:4", "0:5"]);
    expect(broker.committed("g", "t", 0)).toBe(6n);
  });

  test("if a record after it is in hand, unless that one fails, too", async () => {
    for (const lastsUntil of ["handled", "failed"]) {
      const setup = setUp();
      const { clock, broker, handled } = setup;
      broker.append("t", { key: "c", value: "slow" });
      const consumer = join(setup, { concurrency: 4 }, 1_000);
      const handle = database(setup, 0, () => clock.nowMs() >= 1_000);
      consumer.on("*", async (event) => {
        if (wordOf(event) === "slow") {
          await sleep(clock, 500);
          if (lastsUntil === "failed") {
            throw refused;
          }
        }
        await handle([event]);
      });
      await stopAndCome(setup, consumer);
      expect(broker.committed("g", "t", 0)).toBe(lastsUntil === "failed" ? 2n : 6n);
      expect(handled.length).toBe(lastsUntil === "failed" ? 2 : 6);
      expect(clock.nowMs() < 1_000).toBe(lastsUntil === "failed");
    }
  });

  test("if some of its events are handled", async () => {
    const setup = setUp();
    const { clock, broker } = setup;
    const consumer = createConsumer({
      driver: memory({ broker, maxBatchRecords: 2 }),
      groupId: "g",
      topics: ["t"],
      decoder: {
        ...decoder,
        decodeAt: (cursor) => {
          const [event] = decoder.decodeAt(cursor) as readonly [CdcEvent];
          return wordOf(event) === "away" ? ([{ ...event, word: "fine" }, event] as CdcEvent[]) : [event];
        },
      },
      delivery: { concurrency: 4 },
      failure: { retry: { initialDelayMs: 1_000, jitter: "none" } },
      signals: false,
      clock,
    });
    const seen: string[] = [];
    consumer.on("*", (event) => {
      if (wordOf(event) === "away" && clock.nowMs() < 1_000) {
        throw refused;
      }
      seen.push(`${placeOf(event)} ${wordOf(event)}`);
    });
    clock.after(100, () => void consumer.stop());
    await clock.run(consumer.run());
    expect(seen.toSorted()).toEqual(["0:0 fine", "0:1 fine", "0:2 away", "0:2 fine", "0:3 away", "0:3 fine"]);
    expect(broker.committed("g", "t", 0)).toBe(4n);
  });

  test.each([
    { how: "one record after the other", delivery: {} },
    { how: "concurrency", delivery: { concurrency: 4 } },
  ])("if it is a batch, and a record after its first one is handled by another handler: $how", async ({ delivery }) => {
    const clock = virtualClock();
    const broker = new MemoryBroker({ t: 1 }, { clock });
    broker.append("t", { key: "a", value: "away" }, { key: "b", value: "fine:other" });
    const setup: Setup = { clock, broker, handled: [] };
    const consumer = join(setup, delivery, 1_000);
    const handle = database(setup, 0, () => clock.nowMs() >= 1_000);
    toBatchHandler(consumer, handle);
    consumer.on("s.other", { create: (event) => handle([event]) });
    await stopAndCome(setup, consumer);
    expect(setup.handled).toEqual(["0:1", "0:0"]);
    expect(broker.committed("g", "t", 0)).toBe(2n);
  });
});

test.each([
  { how: "one record after the other", delivery: {} },
  { how: "concurrency", delivery: { concurrency: 4 } },
])("what fails after a batch that must be handled is left, and the batch is handled: $how", async ({ delivery }) => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "a", value: "fine" }, { key: "b", value: "fine:other" }, { key: "c", value: "away:other" });
  const setup: Setup = { clock, broker, handled: [] };
  const consumer = join(setup, delivery, 60_000, 3);
  const handle = database(setup, 0, () => false);
  toBatchHandler(consumer, handle);
  let attempts = 0;
  consumer.on("s.other", {
    create: (event) => {
      attempts += wordOf(event) === "away" ? 1 : 0;
      return handle([event]);
    },
  });
  clock.after(100, () => void consumer.stop());
  await clock.run(consumer.run());
  expect(clock.nowMs()).toBeLessThan(1_000);
  expect(setup.handled.toSorted()).toEqual(["0:0", "0:1"]);
  expect(attempts).toBe(1);
  expect(broker.committed("g", "t", 0)).toBe(2n);
});

test("a sink's checkpoint moves past a dead letter before a stop ends, so that the letter is written once", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
  broker.append("t", { value: "good" }, { value: "bad" });
  let isAway = false;
  let checkpoint = 0n;
  const run = async (stopAtMs: number): Promise<void> => {
    const consumer = createConsumer({
      driver: memory({ broker }),
      groupId: "g",
      topics: ["t"],
      decoder,
      signals: false,
      clock,
      random: () => 0.5, // with other waits between the attempts, one in a hundred stops came to its deadline
      logger: false,
      failure: { poison: "dead-letter", deadLetterTopic: "dead" },
    });
    consumer.to({
      name: "copy",
      claim: async (_groupId, assignments) =>
        checkpoint === 0n ? [] : assignments.map((assignment) => ({ assignment, offset: checkpoint })),
      apply: async ({ events, nextOffset }) => {
        if (events.some((event) => (event as unknown as { word: string }).word === "bad")) {
          isAway = events.length === 1; // from then on, while the dead letter is written
          throw Object.assign(new Error("violates a constraint"), { code: "23505" });
        }
        if (isAway) {
          throw refused;
        }
        checkpoint = nextOffset;
      },
      close: async () => {},
    });
    clock.after(stopAtMs, () => void consumer.stop());
    await clock.run(consumer.run());
  };
  clock.after(3_000, () => {
    isAway = false;
  });
  await run(1_000);
  expect([checkpoint, broker.endOffset("dead", 0)]).toEqual([2n, 1n]);
  await run(1_000);
  expect(broker.endOffset("dead", 0)).toBe(1n);
});
