import type { KafkaDriver } from "@cdckit/consumer";
import { DecodeError } from "@cdckit/decode";
import { memory, MemoryBroker } from "@cdckit/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { measureReading, type ReadingMeasure } from "./reading.ts";

const records = 10;

afterEach(() => void vi.restoreAllMocks());

/** A driver that begins to join when it is told to, or when nobody waits for it any more. */
function heldBack(inner: KafkaDriver): { readonly driver: KafkaDriver; join(): void } {
  let join = (): void => {};
  const mayJoin = new Promise<void>((resolve) => {
    join = resolve;
  });
  return {
    driver: {
      ...inner,
      async connect(subscription, sink) {
        subscription.signal?.addEventListener("abort", join);
        await mayJoin;
        return inner.connect(subscription, sink);
      },
    },
    join: () => join(),
  };
}

/** Reads a topic, at most five seconds long. `atLook` gets the seconds that have passed, and gives those that have passed at the next look. */
function readFor5Seconds(driver: KafkaDriver, end: bigint, atLook: (soFar: { records: number }) => number): Promise<ReadingMeasure> {
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  return measureReading({
    driver,
    schemas: undefined,
    groupId: "g",
    topics: ["t"],
    from: "earliest",
    end: { endOffsets: new Map([[0, end]]) },
    maxDurationMs: 5_000,
    maxIdleMs: undefined,
    measureLatency: false,
    interrupt: new AbortController().signal,
    onProgress: (soFar) => {
      nowMs += atLook(soFar) * 1e3;
    },
  });
}

describe("the time of a reading", () => {
  const driverOf = (): KafkaDriver => {
    const broker = new MemoryBroker({ t: 1 });
    broker.append("t", ...Array.from({ length: records }, (_, id) => ({ value: `{"id":${id}}` })));
    return memory({ broker });
  };

  test("begins when the group is joined, however long that takes", async () => {
    const { driver, join } = heldBack(driverOf());
    let looks = 0;
    const reading = await readFor5Seconds(driver, BigInt(records), () => {
      if (++looks === 3) {
        join();
      }
      return looks < 3 ? 4 : 0;
    });
    expect(reading).toMatchObject({ outcome: "end-reached", records });
  });

  test("is over so long after that, also if records are left", async () => {
    const seen: number[] = [];
    const reading = await readFor5Seconds(driverOf(), 1_000n, ({ records: soFar }) => {
      seen.push(soFar);
      return soFar === records ? 1 : 0;
    });
    // Five seconds in which nothing came: a rate without them would be that of a burst.
    expect(reading).toMatchObject({ outcome: "time-up", records, elapsedMs: 5_000, stages: { fetchMs: 5_000, handleMs: 0 } });
    expect(seen.filter((soFar) => soFar === records).length).toBeGreaterThanOrEqual(5);
  });

  test("ends with the last record if only transaction markers are left, of which nothing comes", async () => {
    const reading = await readFor5Seconds(driverOf(), BigInt(records) + 2n, ({ records: soFar }) => (soFar === records ? 1 : 0));
    expect(reading).toMatchObject({ outcome: "time-up", records, elapsedMs: 0 });
  });

  test("is over if the group cannot be joined within a minute", async () => {
    let passed = 0;
    const reading = await readFor5Seconds(heldBack(driverOf()).driver, BigInt(records), () => {
      passed += 15;
      return 15;
    });
    expect(reading).toMatchObject({ outcome: "time-up", records: 0 });
    expect(passed).toBeGreaterThan(60);
  });
});

test("the time in which a live stream gives nothing counts until Ctrl-C, which is how one is ended", async () => {
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const broker = new MemoryBroker({ t: 1 });
  broker.append("t", ...Array.from({ length: records }, (_, id) => ({ value: `{"id":${id}}` })));
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const reading = await measureReading({
    driver: memory({ broker }),
    schemas: undefined,
    groupId: "g",
    topics: ["t"],
    from: "earliest",
    end: {},
    maxDurationMs: undefined,
    maxIdleMs: undefined,
    measureLatency: true,
    interrupt: signal,
    onProgress: ({ records: soFar }) => {
      if (soFar === records && !signal.aborted) {
        nowMs += 60_000;
        interrupt.abort();
      }
    },
  });
  expect(reading).toMatchObject({ outcome: "interrupted", records, elapsedMs: 60_000 });
});

test.each([true, false])("a reading knows whether its group was rebalanced: %s", async (isRebalanced) => {
  const broker = new MemoryBroker({ t: 1 });
  broker.append("t", ...Array.from({ length: records }, (_, id) => ({ value: `{"id":${id}}` })));
  let events = 0;
  const reading = await measureReading({
    driver: memory({ broker, maxBatchRecords: 3 }),
    schemas: undefined,
    groupId: "g",
    topics: ["t"],
    from: "earliest",
    end: { endOffsets: new Map([[0, BigInt(records)]]) },
    maxDurationMs: undefined,
    maxIdleMs: undefined,
    measureLatency: false,
    interrupt: new AbortController().signal,
    onProgress: () => {},
    onEvent: () => {
      if (++events === 1 && isRebalanced) {
        void broker.group("g").bounce();
      }
    },
  });
  expect(reading).toMatchObject({ outcome: "end-reached", wasRebalanced: isRebalanced });
});

describe("a reading whose registry goes away", () => {
  function readAvro(interrupt: AbortSignal, onLook: (isWaiting: boolean, records: number) => void): Promise<ReadingMeasure> {
    const broker = new MemoryBroker({ t: 1 });
    const value = Buffer.from([0, 0, 0, 0, 1, 2]); // Confluent's framing, schema 1
    broker.append("t", ...Array.from({ length: records }, () => ({ value })));
    return measureReading({
      driver: memory({ broker }),
      schemas: {
        peek: () => undefined,
        load: async () => {
          throw new DecodeError("schema-unavailable", "nobody answers");
        },
      },
      groupId: "g",
      topics: ["t"],
      from: "earliest",
      end: { endOffsets: new Map([[0, BigInt(records)]]) },
      maxDurationMs: undefined,
      maxIdleMs: 10_000,
      measureLatency: false,
      interrupt,
      onProgress: (soFar, details) => onLook(details().isWaitingForRegistry, soFar.records),
    });
  }

  test("says that it waits, counts no retry as a record, and ends at Ctrl-C with what was measured", async () => {
    const interrupt = new AbortController();
    const reading = await readAvro(interrupt.signal, (isWaiting) => isWaiting && interrupt.abort());
    expect(reading).toMatchObject({ outcome: "interrupted", records: 0, events: 0 });
  });

  test("ends with a sentence if it stays away for half a minute", async () => {
    let passedMs = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + passedMs);
    const reading = readAvro(new AbortController().signal, (isWaiting) => {
      passedMs += isWaiting ? 5_000 : 0;
    });
    await expect(reading).rejects.toMatchObject({
      code: "connection",
      detail: expect.stringContaining("given none for 30 s: check --registry"),
    });
  });
});
