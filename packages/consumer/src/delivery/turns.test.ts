import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { type Consumer, createConsumer } from "../consumer.ts";
import type { ConsumerOptions } from "../options.ts";
import type { Sink } from "../sink.ts";
import { Lease } from "./lease.ts";
import { PartitionLife } from "./partition-life.ts";
import { Turns } from "./turns.ts";

/** What may be handled until the socket is read. */
const wireBytes = 131_072;

describe("turns", () => {
  test("end when so much was read that a broker may wait for its socket, and the next one counts anew", async () => {
    const clock = virtualClock();
    const turns = new Turns(clock, 10);
    const batch = { wireBytes: wireBytes * 2, recordCount: 4 };
    expect(turns.restWhereDue(null)).toBe(null); // begins the turn
    turns.hasRead(batch);
    expect(turns.restWhereDue(null)).toBe(null);
    turns.hasRead(batch);
    const rest = turns.restWhereDue(null);
    expect(rest).not.toBe(null);
    await clock.run(Promise.resolve(rest));
    turns.hasRead(batch);
    expect(turns.restWhereDue(null)).toBe(null);
  });

  test("go on if no socket waits for the event loop, however much was read", () => {
    const turns = new Turns(virtualClock(), 10);
    for (const batch of [{ recordCount: 1 }, { wireBytes: wireBytes * 2, recordCount: null }]) {
      turns.hasRead(batch);
      expect(turns.restWhereDue(null)).toBe(null);
    }
  });

  test("end in time, too, if a record takes a good part of one", async () => {
    const { clock, passMs } = timed();
    const turns = new Turns(clock, 10);
    for (let i = 0; i < 20; i++) {
      const startedAtMs = clock.nowMs();
      let rest = turns.restWhereDue(null);
      for (; rest === null; rest = turns.restWhereDue(null)) {
        passMs(4);
      }
      expect(clock.nowMs() - startedAtMs).toBeLessThanOrEqual(16);
      await rest;
    }
  });

  test("begin anew if the event loop has come round by itself", async () => {
    const { clock, passMs } = timed();
    const turns = new Turns(clock, 10);
    for (let i = 0; i < 50; i++) {
      expect(turns.restWhereDue(null)).toBe(null);
      passMs(8); // a handler waits, and the event loop has its rounds meanwhile
      await clock.yieldToEventLoop();
    }
  });

  test("of several who rest come one after another, each in a round of its own", async () => {
    const { clock, passMs } = timed();
    const turns = new Turns(clock, 10);
    void turns.restWhereDue(null);
    passMs(50);
    let round = 0;
    let isOver = false;
    const count = (): void => {
      round++;
      if (!isOver) {
        setImmediate(count);
      }
    };
    setImmediate(count);
    const rounds = await Promise.all(
      Array.from({ length: 3 }, async () => {
        await turns.restBeforeBatch(null);
        passMs(50);
        return round;
      }),
    );
    isOver = true;
    expect(rounds).toEqual([...new Set(rounds)].sort((a, b) => a - b));
  });

  test("wait for the lease, and every partition asks it as soon as one has found it over", () => {
    const clock = virtualClock();
    const lease = new Lease({ clock, wait: () => ({ failed: () => {}, end: () => {} }) });
    const turns = new Turns(clock, 10);
    const fences = Array.from({ length: 5 }, () => new PartitionLife(clock, lease).fence);
    for (let i = 0; i < 100; i++) {
      void turns.restWhereDue(fences[0] ?? null); // records take no time: the clock is read rarely
    }
    lease.extend(0);
    const waiting = Array.from({ length: 20 }, () => turns.restWhereDue(fences[0] ?? null)).findIndex((rest) => rest !== null);
    expect(waiting).toBeLessThan(16);
    expect(fences.map((fence) => turns.restWhereDue(fence) !== null)).toEqual([true, true, true, true, true]);
  });
});

const large = JSON.stringify({ text: "x".repeat(wireBytes / 4) });
const transaction = JSON.stringify({
  change: Array.from({ length: 64 }, (_, id) => ({
    kind: "insert",
    schema: "s",
    table: "t",
    columnnames: ["id"],
    columntypes: ["integer"],
    columnvalues: [id],
  })),
});

/** How events are handled, by code that awaits nothing. `tick` is called for each, or for several together. */
const consumptions: Readonly<Record<string, (consumer: Consumer, tick: (events: number) => void) => Promise<void>>> = {
  "by a handler": (consumer, tick) => consumer.on("*", () => tick(1)).run(),
  "by a handler with a promise that is kept": (consumer, tick) => consumer.on("*", async () => tick(1)).run(),
  "by a batch handler": (consumer, tick) => consumer.on("t", { batch: (events) => tick(events.length) }).run(),
  "by a loop over a stream": async (consumer, tick) => {
    for await (const { done } of consumer.stream()) {
      tick(1);
      done();
    }
  },
  "by a sink": (consumer, tick) => {
    const sink: Sink = {
      name: "s",
      claim: async () => [],
      apply: async ({ events }) => tick(events.length),
      close: async () => {},
    };
    return consumer.to(sink, { batch: { maxEvents: 1 } }).run();
  },
};

/** Of 4 ms: so many events before it is known how long they take, and a turn. */
const longestAllowedMs = 16 * 4 + 16;

describe("the event loop has its rounds while events are handled that take 4 ms each", () => {
  for (const [how, consume] of Object.entries(consumptions)) {
    const concurrently = how === "by a loop over a stream" ? {} : { concurrently: { delivery: { concurrency: 4 } } }; // a stream refuses it
    for (const [what, options] of Object.entries({ "one after the other": {}, ...concurrently })) {
      test.each([
        ["large records of one partition", 1, Array.from({ length: 16 }, () => large)],
        ["few small records in each of 40 partitions", 40, Array.from({ length: 120 }, (_, id) => JSON.stringify({ id }))],
        ["a transaction in one record", 1, [transaction]],
      ])(`${how}, ${what}: %s`, async (_, partitions, values) => {
        expect(await longestBlockMs(consume, options, partitions, values)).toBeLessThanOrEqual(longestAllowedMs);
      });
    }
  }
});

/** The longest time between two rounds of the event loop, by a clock that goes on only where an event is handled. */
async function longestBlockMs(
  consume: (consumer: Consumer, tick: (events: number) => void) => Promise<void>,
  options: Partial<ConsumerOptions>,
  partitions: number,
  values: readonly string[],
): Promise<number> {
  const { clock, passMs } = timed();
  const broker = new MemoryBroker({ t: partitions }, { clock });
  values.forEach((value, i) => broker.append("t", { partition: i % partitions, value }));
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock, ...options });
  const expected = values.reduce((sum, value) => sum + (value === transaction ? 64 : 1), 0);
  let handled = 0;
  let [longestMs, roundAtMs] = [0, 0];
  const endRound = (): void => {
    longestMs = Math.max(longestMs, clock.nowMs() - roundAtMs);
    roundAtMs = clock.nowMs();
    round = setImmediate(endRound); // called in the next round, and not in this one
  };
  let round = setImmediate(endRound);
  await consume(consumer, (events) => {
    passMs(4);
    handled += events;
    if (handled === expected) {
      void consumer.stop();
    }
  });
  clearImmediate(round);
  expect(handled).toBe(expected);
  return longestMs;
}

/** The event loop is the process' own, and time passes only where a test says so. */
function timed() {
  let nowMs = 0;
  const clock: Clock = {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    after: (delayMs, call) => {
      const timer = setTimeout(call, Math.min(delayMs, 50));
      return () => clearTimeout(timer);
    },
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
  };
  return {
    clock,
    passMs: (ms: number) => {
      nowMs += ms;
    },
  };
}
