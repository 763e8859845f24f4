import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { createConsumer } from "./consumer.ts";
import type { Logger } from "./observe/logger.ts";
import type { ConsumerOptions } from "./options.ts";
import { doubtedUnit, resolveStartOption, startPositionAt } from "./start-position.ts";

const nowMs = 1_700_000_000_000;

function setUp(count = 6) {
  const clock = virtualClock({ startMs: nowMs });
  const broker = new MemoryBroker({ t: 1 }, { clock });
  // One an hour, the last one an hour ago.
  broker.append(
    "t",
    ...Array.from({ length: count }, (_, i) => ({ key: "k", value: `{"n":${i}}`, timestamp: BigInt(nowMs - (count - i) * 3_600_000) })),
  );
  return { clock, broker };
}

async function read({ clock, broker }: ReturnType<typeof setUp>, options: Partial<ConsumerOptions>, groupId = "g") {
  const seen: bigint[] = [];
  const consumer = createConsumer({ driver: memory({ broker }), groupId, topics: ["t"], signals: false, clock, ...options });
  const running = consumer.on("*", ({ record }) => void seen.push(record.offset)).run();
  clock.after(5_000, () => void consumer.stop());
  await clock.run(running);
  return { seen, health: consumer.health() };
}

describe("from", () => {
  test.each([
    ["a timestamp", { timestamp: nowMs - 2 * 3_600_000 }, [4n, 5n]],
    ["a date", { timestamp: new Date(nowMs - 2 * 3_600_000 + 1) }, [5n]],
    ["an ISO text", { timestamp: new Date(nowMs - 3 * 3_600_000).toISOString() }, [3n, 4n, 5n]],
    ["a duration back", { ago: "2h" }, [4n, 5n]],
    ["milliseconds back", { ago: 3_600_000 }, [5n]],
    ["a time to come", { timestamp: nowMs + 1 }, []],
    ["offsets", { offsets: { t: { 0: 3n } } }, [3n, 4n, 5n]],
    ["offsets as a file has them", { offsets: { t: { "0": "5" } } }, [5n]],
    ["an offset as files of a log are called", { offsets: { t: { 0: "00000000000000000005" } } }, [5n]],
    ["offsets of other topics", { offsets: { other: { 0: 3n } } }, [0n, 1n, 2n, 3n, 4n, 5n]],
  ] as const)("%s is where a group without a commit starts", async (_name, from, expected) => {
    const stage = setUp();
    expect((await read(stage, { from })).seen).toEqual(expected);
    expect((await read(stage, { from: "earliest" }, "another")).seen.length).toBe(6);
  });

  test.each([
    ["seconds", nowMs / 1_000, 6],
    ["microseconds", BigInt(nowMs) * 1_000n, 0],
    [null, 0, 6],
    [null, new Date("1973-04-01"), 6],
    [null, new Date("2100-01-01"), 0],
  ] as const)("a time that looks like %s is warned of, and read as it is", async (unit, timestamp, count) => {
    const warnings: string[] = [];
    const logger: Logger = { debug: () => {}, info: () => {}, warn: (_, text) => void warnings.push(String(text)), error: () => {} };
    const { seen } = await read(setUp(), { from: { timestamp }, logger });
    expect(seen.length).toBe(count);
    const ofUnit = warnings.filter((text) => text.startsWith("from.timestamp"));
    expect(ofUnit).toEqual(unit === null ? [] : [expect.stringContaining(`looks like ${unit}`)]);
  });

  test("a duration back from a clock of one's own that begins near 1970 is not doubted", () => {
    expect(doubtedUnit(resolveStartOption({ ago: "1s" }))).toBe(null);
  });

  test("an invalid value is named", () => {
    for (const from of [
      "first",
      5,
      null,
      {},
      { ago: "soon" },
      { ago: "2y" },
      { ago: -1 },
      { timestamp: "yesterday" },
      { timestamp: -5 },
      { since: 5 },
      { ago: "2h", timestamp: 5 },
      { offsets: 5 },
      { offsets: { t: 5 } },
      { offsets: { t: { a: 5 } } },
      { offsets: { t: { 0: -1 } } },
    ]) {
      expect(() => resolveStartOption(from as never)).toThrow(/\[invalid-option\] (from|since)/);
    }
    expect(startPositionAt(resolveStartOption({ ago: "1.5h" }), nowMs)).toEqual({ timestamp: BigInt(nowMs - 5_400_000) });
  });
});

describe("failure.skip", () => {
  const fails = { failure: { skip: [{ topic: "t", partition: 0, offset: 2 }] } };

  for (const delivery of [{}, { concurrency: 4 }, { batch: { maxEvents: 3 } }]) {
    test(`skips the record that it names, with ${JSON.stringify(delivery)}`, async () => {
      const stage = setUp();
      const warnings: unknown[] = [];
      const logger: Logger = { debug: () => {}, info: () => {}, warn: (fields) => void warnings.push(fields), error: () => {} };
      const { seen, health } = await read(stage, { ...fails, delivery, logger });
      expect(seen).toEqual([0n, 1n, 3n, 4n, 5n]);
      expect(health.counts.skipped).toBe(1);
      expect(warnings).toEqual([{ topic: "t", partition: 0, offset: 2n }]);
      expect(stage.broker.committed("g", "t", 0)).toBe(6n);
    });
  }

  test("takes a consumer past a record that halts it", async () => {
    const { clock, broker } = setUp();
    broker.append("t", { key: "k", value: "last" });
    const options = {
      failure: { skip: [{ topic: "t", partition: 0, offset: "6" }] },
      decoder: { topics: { t: { value: { encoding: "json" } } } },
    } as const;
    await expect(read({ clock, broker }, { decoder: options.decoder })).rejects.toMatchObject({ code: "malformed" });
    expect((await read({ clock, broker }, options)).seen).toEqual([]);
    expect(broker.committed("g", "t", 0)).toBe(7n);
  });

  test("a value that is no place of a record is refused", () => {
    for (const skip of [
      5,
      [5],
      [{}],
      [{ topic: "t", partition: -1, offset: 0 }],
      [{ topic: "t", partition: 0, offset: -1 }],
      [{ topic: "t", partition: 0, offsets: 0 }],
    ]) {
      const options = { driver: memory({ topics: { t: 1 } }), groupId: "g", topics: ["t"], failure: { skip: skip as never } };
      expect(() => createConsumer(options)).toThrow(/failure\.skip/);
    }
  });
});

describe("seek", () => {
  for (const [name, options] of Object.entries({
    "concurrency 1": {},
    "concurrency 4": { delivery: { concurrency: 4 } },
    batches: { delivery: { batch: { maxEvents: 2, maxMs: 100 } } },
  })) {
    test(`goes back and ahead while it runs, and a restart goes on from there, with ${name}`, async () => {
      const { clock, broker } = setUp();
      const seen: bigint[] = [];
      const make = () => createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock, ...options });
      const consumer = make();
      const running = consumer
        .on("*", async ({ record }) => {
          await clock.yieldToEventLoop();
          seen.push(record.offset);
        })
        .run();
      const { seek, stop } = consumer;
      clock.after(
        3_000,
        () => void seek({ topic: "t", partition: 0, offset: 2 }).then(() => expect(broker.committed("g", "t", 0)).toBe(2n)),
      );
      clock.after(6_000, () => void seek({ topic: "t", partition: 0, offset: "5" }));
      clock.after(9_000, () => void seek({ topic: "t", partition: 0, offset: 1n }).then(stop));
      await clock.run(running);
      expect(seen.slice(0, 11)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 2n, 3n, 4n, 5n, 5n]);
      const committed = broker.committed("g", "t", 0) ?? 0n;
      expect(committed).toBe(1n + BigInt(seen.length - 11));
      const rest = await read({ clock, broker }, {});
      expect([...seen.slice(11), ...rest.seen]).toEqual([1n, 2n, 3n, 4n, 5n]);
    });
  }

  test("records in flight at the old position are handled first, or fenced off at the deadline, and commit nothing afterwards", async () => {
    const { clock, broker } = setUp();
    const seen: bigint[] = [];
    const consumer = createConsumer({
      driver: memory({ broker }),
      groupId: "g",
      topics: ["t"],
      signals: false,
      clock,
      shutdownTimeoutMs: 1_000,
    });
    let release = (): void => {};
    const running = consumer
      .on("*", ({ record }) => {
        seen.push(record.offset);
        return record.offset === 3n && seen.length === 4 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      })
      .run();
    clock.after(2_000, () => void consumer.seek({ topic: "t", partition: 0, offset: 1 }).then(() => release()));
    clock.after(8_000, () => void consumer.stop());
    await clock.run(running);
    expect(seen).toEqual([0n, 1n, 2n, 3n, 1n, 2n, 3n, 4n, 5n]);
    expect(broker.committed("g", "t", 0)).toBe(6n);
  });

  test("resolves when the partition has moved, and a commit of the position that fails is tried again", async () => {
    const { clock, broker } = setUp();
    const seen: bigint[] = [];
    const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock });
    let release = (): void => {};
    const running = consumer
      .on("*", ({ record }) => {
        seen.push(record.offset);
        return seen.length === 7 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      })
      .run();
    let hasMoved = false;
    clock.after(3_000, () => {
      broker.faults.inject({ on: "commit", how: "fails", times: 1 });
      void consumer.seek({ topic: "t", partition: 0, offset: 2 }).then(() => {
        hasMoved = true;
      });
    });
    const later: unknown[] = [];
    clock.after(20_000, () => {
      later.push(hasMoved, seen.at(-1), broker.committed("g", "t", 0));
      release();
      void consumer.stop();
    });
    await clock.run(running);
    expect(later).toEqual([true, 2n, 2n]);
  });

  test("is refused if it cannot be done, and nothing is moved", async () => {
    const { clock, broker } = setUp();
    const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock });
    const at = (offset: number, partition = 0) => consumer.seek({ topic: "t", partition, offset });
    await expect(at(0)).rejects.toMatchObject({ code: "wrong-phase" });
    for (const [position, message] of [
      [undefined, "seek() must be { topic, partition, offset }, got undefined"],
      [{}, "seek() topic must be the name of a topic, got undefined"],
      [{ topic: "t", partition: "0", offset: 1n }, 'seek() partition must be a number from 0 to 2147483647, got "0"'],
      [{ topic: "t", partition: 2 ** 31, offset: 1n }, "seek() partition must be a number from 0 to 2147483647, got 2147483648"],
      [{ topic: "t", partition: 0, offset: -1 }, "seek() offset must be an offset from 0 to 2^63-1, got -1"],
      [{ topic: "t", partition: 0, offest: 1 }, "seek().offest is no option; the options are topic, partition, offset"],
    ] as const) {
      await expect(consumer.seek(position as never)).rejects.toThrow(`[invalid-option] ${message}`);
    }
    const running = consumer.on("*", () => {}).run();
    const errors: unknown[] = [];
    clock.after(3_000, () => {
      const attempts = [at(7), at(0, 5), at(-1)].map((work) => work.catch((error: unknown) => errors.push(error)));
      void Promise.all(attempts).then(() => consumer.stop());
    });
    await clock.run(running);
    expect(errors.map((error) => (error as { code: unknown }).code)).toEqual(
      expect.arrayContaining(["invalid-option", "seek-refused", "seek-refused"]),
    );
    expect(errors.length).toBe(3);
    expect(broker.committed("g", "t", 0)).toBe(6n);
    const copy = createConsumer({ driver: memory({ broker }), groupId: "h", topics: ["t"], signals: false, clock });
    copy.to({ name: "copy", claim: async () => [], apply: async () => {}, close: async () => {} });
    await expect(copy.seek({ topic: "t", partition: 0, offset: 0 })).rejects.toThrow(/the sink "copy" goes on from its own checkpoint/);
  });
});
