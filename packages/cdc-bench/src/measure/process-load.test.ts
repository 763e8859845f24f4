import type { KafkaDriver } from "@cdckit/consumer";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { afterEach, describe, expect, test, vi } from "vitest";
import { RawTally } from "../scenario/compare/raw-reading.ts";
import { ReadingLoad } from "./process-load.ts";
import { measureReading } from "./reading.ts";

afterEach(() => void vi.restoreAllMocks());

/** An event loop that is busy and idle as a test says. */
function scriptedLoop(): { pass(time: { readonly idle?: number; readonly active?: number }): void } {
  let now: EventLoopUtilization = { idle: 0, active: 0, utilization: 0 };
  const between = (from: EventLoopUtilization, to: EventLoopUtilization): EventLoopUtilization => {
    const [idle, active] = [to.idle - from.idle, to.active - from.active];
    return { idle, active, utilization: active / (idle + active) };
  };
  vi.spyOn(performance, "eventLoopUtilization").mockImplementation((later, earlier) =>
    later === undefined ? now : earlier === undefined ? between(later, now) : between(earlier, later),
  );
  return {
    pass: ({ idle = 0, active = 0 }) => {
      now = { idle: now.idle + idle, active: now.active + active, utilization: 0 };
    },
  };
}

describe("the load of a reading", () => {
  test("is none without a batch", () => {
    const load = new ReadingLoad();
    expect(load.end()).toEqual({ gcMs: 0, eventLoopUtilization: 0 });
  });

  test("counts garbage collection of its own time alone, and once", () => {
    const load = new ReadingLoad();
    load.batchBegins();
    load.batchEnds();
    const { gcMs } = load.end();
    expect(gcMs).toBeGreaterThanOrEqual(0);
    expect(load.end().gcMs).toBe(gcMs);
  });

  test("is without joining and leaving the group: cdckit", async () => {
    const loop = scriptedLoop();
    const broker = new MemoryBroker({ t: 1 });
    broker.append("t", ...Array.from({ length: 10 }, (_, id) => ({ value: `{"id":${id}}` })));
    const inner = memory({ broker, maxBatchRecords: 5 });
    const driver: KafkaDriver = {
      ...inner,
      async connect(subscription, sink) {
        loop.pass({ idle: 3_000, active: 10 });
        const session = await inner.connect(subscription, sink);
        return {
          pause: (assignments) => session.pause(assignments),
          resume: (assignments) => session.resume(assignments),
          commit: (commits) => session.commit(commits),
          close(deadlineMs) {
            loop.pass({ idle: 1_000, active: 10 });
            return session.close(deadlineMs);
          },
        };
      },
    };
    const load = new ReadingLoad();
    const reading = await measureReading({
      driver,
      schemas: undefined,
      groupId: "g",
      topics: ["t"],
      from: "earliest",
      end: { endOffsets: new Map([[0, 10n]]) },
      maxDurationMs: undefined,
      maxIdleMs: undefined,
      measureLatency: false,
      interrupt: new AbortController().signal,
      load,
      onProgress: () => {},
      onEvent: () => loop.pass({ idle: 1, active: 9 }),
    });
    expect(reading.records).toBe(10);
    expect(load.end().eventLoopUtilization).toBeCloseTo(0.9);
  });

  test("is without joining and leaving the group: a client of others", () => {
    const loop = scriptedLoop();
    const tally = new RawTally(new Map([[0, 10n]]), { name: "any", read: () => loop.pass({ idle: 1, active: 9 }) });
    loop.pass({ idle: 3_000, active: 10 });
    tally.take(0, messagesFrom(0));
    tally.take(0, messagesFrom(5));
    loop.pass({ idle: 1_000, active: 10 });
    expect(tally.round()).toMatchObject({ records: 10, load: { eventLoopUtilization: expect.closeTo(0.9) } });
  });
});

function messagesFrom(first: number): readonly { key: null; value: Buffer; offset: string }[] {
  return Array.from({ length: 5 }, (_, i) => ({ key: null, value: Buffer.from("{}"), offset: String(first + i) }));
}
