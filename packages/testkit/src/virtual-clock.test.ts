import { silentLogger } from "@cdckit/consumer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryBroker } from "./memory-broker.ts";
import { memory } from "./memory-driver.ts";
import { ProbeSink } from "./probe-sink.ts";
import { seededScheduler } from "./scheduler.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

describe("a virtual clock", () => {
  test("leaps to what is due next, in the order of time", async () => {
    const clock = virtualClock();
    const seen: string[] = [];
    clock.after(3_600_000, () => seen.push(`an hour: ${clock.nowMs()}`));
    clock.after(5, () => seen.push(`5 ms: ${clock.nowMs()}`));
    clock.after(5, () => seen.push("5 ms, asked for later"));
    await clock.advance(3_600_000);
    expect(seen).toEqual(["5 ms: 5", "5 ms, asked for later", "an hour: 3600000"]);
    expect(clock.wallMs()).toBe(1_700_003_600_000);
  });

  test("does not move while anything can run", async () => {
    const clock = virtualClock();
    let movedAfter = -1;
    clock.after(1, () => {
      movedAfter = turns;
    });
    let turns = 0;
    await clock.run(
      (async () => {
        for (; turns < 50; turns++) {
          await clock.yieldToEventLoop();
          await Promise.resolve();
        }
        await new Promise<void>((resolve) => void clock.after(2, resolve));
      })(),
    );
    expect(movedAfter).toBe(50);
  });

  test("a call that was taken back does not come, and holds up nothing", async () => {
    const clock = virtualClock();
    let calls = 0;
    const cancel = clock.after(10, () => calls++);
    clock.after(5, cancel);
    await clock.advance(20);
    cancel();
    expect([calls, clock.nowMs()]).toEqual([0, 20]);
  });

  test("gives what the work gives, and its error", async () => {
    const clock = virtualClock();
    await expect(clock.run(later(clock, 10).then(() => "done"))).resolves.toBe("done");
    await expect(clock.run(later(clock, 10).then(() => Promise.reject(new Error("no"))))).rejects.toThrow("no");
  });

  test("says so if something waits for an event that never comes", async () => {
    const clock = virtualClock();
    await expect(clock.run(new Promise(() => {}))).rejects.toThrow("nothing is left to run");
  });

  test("says so if the work does not end in its time", async () => {
    const clock = virtualClock();
    const tick = (): void => void clock.after(100, tick);
    tick();
    await expect(clock.run(new Promise(() => {}), { withinMs: 1_000 })).rejects.toThrow("did not end within 1000 ms");
    expect(clock.nowMs()).toBe(1_000);
  });

  test("stands still for work that it does not see, if it is asked to", async () => {
    const clock = virtualClock();
    const outside = async (): Promise<number> => {
      await clock.hold(new Promise((resolve) => setTimeout(resolve, 5)));
      return clock.nowMs();
    };
    clock.after(1_000, () => {});
    await expect(clock.run(outside())).resolves.toBe(0);
  });

  test("has no time that is none: a delay of NaN is none, and nothing moves it by NaN or back", async () => {
    const clock = virtualClock();
    const calls: string[] = [];
    clock.after(Number.NaN, () => void calls.push("at once"));
    clock.after(5, () => void calls.push("later"));
    await clock.advance(10);
    expect([calls, clock.nowMs()]).toEqual([["at once", "later"], 10]);
    for (const byMs of [Number.NaN, undefined as never, -1, Number.POSITIVE_INFINITY]) {
      await expect(clock.advance(byMs)).rejects.toThrow(`advance expects milliseconds, got ${byMs}`);
    }
    expect(clock.nowMs()).toBe(10);
  });

  test("is driven by one at a time", async () => {
    const clock = virtualClock();
    const first = clock.advance(1);
    await expect(clock.advance(1)).rejects.toThrow("one run or advance at a time");
    await first;
  });

  test("with turns that take time, what is due comes between them", async () => {
    const clock = virtualClock({ turnMs: 1 });
    let due = false;
    clock.after(5, () => {
      due = true;
    });
    await clock.run(yieldUntil(clock, () => due));
    expect(clock.nowMs()).toBeLessThan(12);
  });
});

describe("a seeded scheduler", () => {
  test("one seed is one schedule", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        expect(await traceOf(seed)).toEqual(await traceOf(seed));
      }),
      { numRuns: 100 },
    );
  });

  test("many seeds are many schedules", async () => {
    const traces = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      traces.add((await traceOf(seed)).join());
    }
    expect(traces.size).toBeGreaterThan(100);
  });

  test("its numbers are spread evenly", () => {
    const { random } = seededScheduler(7);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let i = 0; i < 10_000; i++) {
      const at = Math.floor(random() * 10);
      buckets[at] = (buckets[at] ?? 0) + 1;
    }
    expect(Math.min(...buckets)).toBeGreaterThan(850);
    expect(Math.max(...buckets)).toBeLessThan(1_150);
  });
});

/** Two members on one broker, a third of the way a rebalance: everything that they see, in order. */
async function traceOf(seed: number): Promise<string[]> {
  const scheduler = seededScheduler(seed);
  const clock = virtualClock({ scheduler, turnMs: 0.2 });
  const broker = new MemoryBroker({ orders: 4 }, { clock });
  const trace: string[] = [];
  for (let i = 0; i < 24; i++) {
    broker.append("orders", { value: String(i), partition: i % 4 });
  }
  const join = async (name: string): Promise<void> => {
    const sink = new ProbeSink();
    sink.onBatch = (batch) => {
      trace.push(`${name} ${batch.partition}:${batch.nextOffset}`);
      const done = session.then((joined) => joined.commit([{ assignment: batch.assignment, offset: batch.nextOffset }]));
      return scheduler.random() < 0.5 ? done : undefined;
    };
    const driver = memory({ broker, maxBatchRecords: 2, partitionsConsumedConcurrently: 2 });
    const session = driver.connect({ groupId: "g", topics: ["orders"], from: "earliest", logger: silentLogger }, sink);
    await session;
  };
  await clock.run(Promise.all([join("a"), later(clock, 1).then(() => join("b"))]));
  await clock.run(yieldUntil(clock, () => broker.commits.length >= 12));
  return [...trace, ...broker.commits.map(({ partition, offset }) => `${partition}=${offset}`)];
}

function later(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

async function yieldUntil(clock: VirtualClock, claim: () => boolean): Promise<void> {
  while (!claim()) {
    await clock.yieldToEventLoop();
  }
}
