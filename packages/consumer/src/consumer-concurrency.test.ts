import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, RecordArrayBatch, recordOf, type VirtualClock, virtualClock } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DeliveryOptions } from "./delivery/delivery-options.ts";
import type { DriverSink, KafkaDriver, PartitionAssignment } from "./driver.ts";
import type { ConsumerOptions } from "./options.ts";

const rowDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const row = Buffer.from(valueBytes ?? []).toString();
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const kind = ["truncate", "schema-change", "watermark"].includes(row) ? row : "row";
    return [{ kind, table: { schema: "s", name: "t" }, row, schemaId: null, record: ref } as unknown as CdcEvent]; // what is read of it
  },
  explain: () => Promise.reject(new Error("not used")),
};

interface Setup {
  readonly clock: VirtualClock;
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
}

interface SetupOptions extends Partial<ConsumerOptions> {
  readonly partitions?: number;
  readonly maxBatchRecords?: number;
}

/** Records as `key=value`. */
function setUp(records: readonly string[], delivery: DeliveryOptions, options: SetupOptions = {}): Setup {
  const { partitions = 1, maxBatchRecords = 100, ...rest } = options;
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: partitions }, { clock });
  for (const [i, text] of records.entries()) {
    const [key = "", value = ""] = text.split("=");
    broker.append("t", { key: key === "" ? null : key, value, partition: i % partitions });
  }
  const driver = memory({ broker, maxBatchRecords });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: rowDecoder, signals: false, clock, delivery, ...rest });
  return { clock, broker, consumer };
}

function rowOf(event: CdcEvent): string {
  return (event as unknown as { row: string }).row;
}

function sleep(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

function committed(broker: MemoryBroker, partition = 0): bigint | null {
  return broker.committed("g", "t", partition);
}

describe("concurrency", () => {
  test.each([1, 8])("records count as read while their handlers are at work, at any concurrency: %i", async (concurrency) => {
    const { clock, consumer } = setUp(["a=1", "b=2", "c=3"], { concurrency }, { shutdownTimeoutMs: 500 });
    consumer.on("*", () => new Promise<void>(() => {}));
    const running = consumer.run();
    await clock.advance(100);
    const read = concurrency === 1 ? 1 : 3;
    expect(consumer.health().counts).toMatchObject({ records: read, events: read, handled: 0 });
    const stopping = Promise.allSettled([consumer.stop(), running]);
    await clock.advance(2_000);
    await stopping;
  });

  test.each([1, 2])(
    "a partition that was given up with a handler that never ends holds up no other: concurrency %i",
    async (concurrency) => {
      const clock = virtualClock();
      const [given, kept] = [0, 1].map((partition) => ({ topic: "t", partition, epoch: 1 })) as [PartitionAssignment, PartitionAssignment];
      const batchOf = (assignment: PartitionAssignment): RecordArrayBatch =>
        new RecordArrayBatch({
          assignment,
          records: [recordOf(Buffer.from("row"), { topic: "t", partition: assignment.partition, offset: 0n })],
        });
      const held = { [given.partition]: false, [kept.partition]: false };
      const setHeld = (isHeld: boolean) => (assignments: readonly PartitionAssignment[]) =>
        assignments.forEach(({ partition }) => (held[partition] = isHeld));
      let sink: DriverSink | undefined;
      const driver: KafkaDriver = {
        ...memory({ broker: new MemoryBroker({ t: 2 }, { clock }) }),
        connect: async (_, own) => {
          sink = own;
          clock.after(1, () => {
            own.assigned([given, kept]);
            void own.batch(batchOf(given));
          });
          return { commit: async () => {}, pause: setHeld(true), resume: setHeld(false), close: async () => {} };
        },
      };
      const consumer = createConsumer({
        driver,
        groupId: "g",
        topics: ["t"],
        decoder: rowDecoder,
        signals: false,
        clock,
        shutdownTimeoutMs: 500,
        delivery: { concurrency, maxInFlightBytes: 1 },
      });
      const handled: number[] = [];
      consumer.on("*", ({ record }) => {
        handled.push(record.partition);
        return record.partition === given.partition ? new Promise<void>(() => {}) : undefined;
      });
      const running = consumer.run();
      await clock.advance(100);
      expect(held[kept.partition]).toBe(true);
      void sink?.revoked([given], "revoked");
      await clock.advance(1_000);
      expect(held[kept.partition]).toBe(false);
      void sink?.batch(batchOf(kept));
      await clock.advance(100);
      expect(handled).toEqual([given.partition, kept.partition]);
      expect(consumer.health().reasons).toEqual([]);
      const stopping = Promise.allSettled([consumer.stop(), running]);
      await clock.advance(10_000);
      await stopping;
    },
  );

  test("as many records of different keys as allowed are handled at the same time, and records of one key in order", async () => {
    const { clock, broker, consumer } = setUp(["a=1", "a=2", "b=3", "c=4", "d=5", "b=6"], { concurrency: 3 });
    const log: string[] = [];
    consumer.on("*", async (event) => {
      log.push(`+${rowOf(event)}`);
      await sleep(clock, 10);
      log.push(`-${rowOf(event)}`);
      if (log.length === 12) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect(log.slice(0, 3)).toEqual(["+1", "+3", "+4"]);
    expect(log.indexOf("+2")).toBeGreaterThan(log.indexOf("-1"));
    expect(log.indexOf("+6")).toBeGreaterThan(log.indexOf("-3"));
    expect(committed(broker)).toBe(6n);
    // Two rounds of three.
    expect(clock.nowMs()).toBe(20);
  });

  test("a record that is retried holds up its key, and nothing else", async () => {
    const { clock, consumer } = setUp(
      ["a=1", "a=2", "b=3", "b=4", "c=5"],
      { concurrency: 2 },
      {
        failure: { retry: { initialDelayMs: 1_000, maxDelayMs: 1_000, jitter: "none" } },
      },
    );
    const handled: [string, number][] = [];
    let tried = 0;
    consumer.on("*", (event) => {
      if (rowOf(event) === "1" && ++tried < 3) {
        throw new Error("not yet");
      }
      handled.push([rowOf(event), clock.nowMs()]);
      if (handled.length === 5) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect(handled).toEqual([
      ["3", 0],
      ["4", 0],
      ["5", 0],
      ["1", 2_000],
      ["2", 2_000],
    ]);
  });

  test.each(["truncate", "schema-change", "watermark"])(
    "a %s is handled after all earlier records and before all later ones",
    async (kind) => {
      const { clock, broker, consumer } = setUp(
        ["a=1", "b=2", `=${kind}`, "a=4", "c=5", `b=${kind}`, "b=7"],
        { concurrency: 8 },
        { failure: { retry: { initialDelayMs: 1_000, maxDelayMs: 1_000, jitter: "none" } } },
      );
      const log: [string, number][] = [];
      let tried = 0;
      const handle = async (event: CdcEvent): Promise<void> => {
        if (rowOf(event) === "1" && ++tried < 3) {
          throw new Error("not yet");
        }
        await sleep(clock, 10);
        log.push([rowOf(event), clock.nowMs()]);
        if (log.length === 7) {
          void consumer.stop();
        }
      };
      consumer.on("*", handle);
      await clock.run(consumer.run());
      expect(log).toEqual([
        ["2", 10],
        ["1", 2_010],
        [kind, 2_020],
        ["4", 2_030],
        ["5", 2_030],
        [kind, 2_040],
        ["7", 2_050],
      ]);
      expect(committed(broker)).toBe(7n);
    },
  );

  test("nothing above the first record that is not handled is committed, and reading does not run away from it", async () => {
    const records = Array.from({ length: 100 }, (_, i) => `k${i}=${i}`);
    const { clock, broker, consumer } = setUp(records, { concurrency: 4, maxOutOfOrder: 10 }, { maxBatchRecords: 5 });
    const handled: number[] = [];
    consumer.on("*", async (event) => {
      if (rowOf(event) === "3") {
        await sleep(clock, 60_000);
        expect(Math.max(...handled)).toBeLessThan(3 + 10);
        expect(committed(broker)).toBe(3n);
      }
      handled.push(Number(rowOf(event)));
      if (handled.length === 100) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect(committed(broker)).toBe(100n);
  });

  test("a partition that does not move is paused, and the others go on", async () => {
    const records = Array.from({ length: 60 }, (_, i) => `k=${i}`);
    const { clock, broker, consumer } = setUp(records, { concurrency: 2 }, { partitions: 3, maxBatchRecords: 4 });
    let others = 0;
    consumer.on("*", async (event) => {
      if (event.record.partition === 0) {
        await sleep(clock, 100_000);
      } else if (++others === 40) {
        expect(clock.nowMs()).toBeLessThan(100_000);
      }
      if (event.record.partition === 0 && event.record.offset === 19n) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run(), { withinMs: 10_000_000 });
    expect([0, 1, 2].map((partition) => committed(broker, partition))).toEqual([20n, 20n, 20n]);
  });

  test("fetched batches are taken until their bytes reach the limit", async () => {
    const records = Array.from({ length: 40 }, (_, i) => `k${i}=${String(i).padStart(6)}`);
    const { clock, consumer } = setUp(records, { concurrency: 100, maxInFlight: 100, maxInFlightBytes: 60 }, { maxBatchRecords: 2 });
    let running = 0;
    let max = 0;
    let handled = 0;
    const reasons = new Set<string>();
    consumer.on("*", async () => {
      max = Math.max(max, ++running);
      await sleep(clock, 10);
      for (const reason of consumer.health().reasons) {
        reasons.add(reason.replace(/\d+/, "N"));
      }
      running--;
      if (++handled === 40) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    // Batches of 2 records, 17 or 18 bytes each: the fourth one reaches the limit.
    expect(max).toBe(8);
    expect([...reasons]).toEqual(["N bytes of events are not handled yet"]);
  });

  test("a partition that waits, and holds most of the limit of bytes, holds up no other one", async () => {
    const records = Array.from({ length: 80 }, (_, i) => `k${i}=${String(i).padStart(6)}`);
    const delivery = { concurrency: 2, maxInFlight: 4, maxInFlightBytes: 100 };
    const { clock, consumer } = setUp(records, delivery, { partitions: 2, maxBatchRecords: 2 });
    let release = (): void => {};
    const released = new Promise<void>((resolve) => void (release = resolve));
    const handled = [0, 0];
    consumer.on("*", async ({ record: { partition } }) => {
      // Four batches of 2 records, 17 or 18 bytes each: more than half of the limit.
      await (partition === 0 ? released : sleep(clock, 10));
      handled[partition] = (handled[partition] ?? 0) + 1;
      if (handled[1] === 40) {
        release();
      }
      if (handled[0] === 40) {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect(handled).toEqual([40, 40]);
  });

  test("a stop still handles records before a handled record, so that nothing comes twice", async () => {
    const { clock, broker, consumer } = setUp(["a=1", "a=2", "a=3", "b=4", "c=5", "a=6"], { concurrency: 2 });
    const handled: string[] = [];
    consumer.on("*", async (event) => {
      const row = rowOf(event);
      await sleep(clock, row < "4" ? 10 : 1);
      handled.push(row);
      if (row === "5") {
        void consumer.stop();
      }
    });
    await clock.run(consumer.run());
    expect(handled).toEqual(["4", "5", "1", "2", "3"]);
    expect(committed(broker)).toBe(5n);
  });

  test("a failure halts before its record, and later records that were handled come again", async () => {
    const { clock, broker, consumer } = setUp(["a=1", "b=2", "c=3"], { concurrency: 3 }, { failure: { retry: false } });
    consumer.on("*", async (event) => {
      await sleep(clock, 1);
      if (rowOf(event) === "2") {
        throw new Error("no");
      }
    });
    await expect(clock.run(consumer.run())).rejects.toMatchObject({ code: "handler-failed", at: { offset: 1n } });
    expect(committed(broker)).toBe(1n);
  });
});

describe("batches", () => {
  const records = Array.from({ length: 23 }, (_, i) => `k=${String(i).padStart(2, "0")}`);

  async function sizesOf(delivery: DeliveryOptions): Promise<{ sizes: number[]; endedMs: number }> {
    const { clock, broker, consumer } = setUp(records, delivery, { maxBatchRecords: 4 });
    const sizes: number[] = [];
    const rows: string[] = [];
    consumer.on("s.t", {
      batch: (events) => {
        sizes.push(events.length);
        rows.push(...events.map(rowOf));
        if (rows.length === 23) {
          void consumer.stop();
        }
      },
    });
    await clock.run(consumer.run());
    expect(rows).toEqual([...rows].sort());
    expect(committed(broker)).toBe(23n);
    return { sizes, endedMs: clock.nowMs() };
  }

  test("are filled from several fetches up to the number of events, and the last one is handed on after its time", async () => {
    const { sizes, endedMs } = await sizesOf({ batch: { maxEvents: 10, maxMs: 500 } });
    expect(sizes).toEqual([10, 10, 3]);
    expect(endedMs).toBeGreaterThanOrEqual(500);
  });

  test("are filled up to the number of bytes", async () => {
    // Three bytes for each record.
    expect((await sizesOf({ batch: { maxBytes: 20, maxMs: 50 } })).sizes).toEqual([6, 6, 6, 5]);
  });

  test("a batch does not wait for more events if nothing more may be fetched", async () => {
    const { sizes, endedMs } = await sizesOf({ batch: { maxEvents: 100, maxMs: 1_000_000 }, maxInFlight: 2 });
    expect(sizes).toEqual([8, 8, 7]);
    expect(endedMs).toBeLessThan(1_000_000);
  });

  test("count as they were handed over, also if the handler takes the events out of its array", async () => {
    const { clock, consumer } = setUp(records, { batch: { maxEvents: 10, maxMs: 10 } });
    const seen: unknown[] = [];
    const see = (message: unknown): void => void seen.push(message);
    let left = records.length;
    consumer.on("s.t", {
      batch: (events) => {
        left -= (events as CdcEvent[]).splice(0).length;
        if (left === 0) {
          void consumer.stop();
        }
      },
    });
    subscribe("cdckit:consumer:process", see);
    await clock.run(consumer.run()).finally(() => unsubscribe("cdckit:consumer:process", see));
    expect(consumer.health().counts).toMatchObject({ events: 23, handled: 23 });
    expect(seen).toMatchObject([
      { topic: "t", partition: 0, offset: 0n, events: 10 },
      { topic: "t", partition: 0, offset: 10n, events: 10 },
      { topic: "t", partition: 0, offset: 20n, events: 3 },
    ]);
  });

  test("a batch waits for the one before it, while reading goes on", async () => {
    const { clock, consumer } = setUp(records, { batch: { maxEvents: 10, maxMs: 10 } }, { maxBatchRecords: 4 });
    let running = 0;
    let handled = 0;
    consumer.on("s.t", {
      batch: async (events) => {
        expect(++running).toBe(1);
        await sleep(clock, 100);
        running--;
        handled += events.length;
        if (handled === 23) {
          void consumer.stop();
        }
      },
    });
    await clock.run(consumer.run());
    // The third batch was complete long before the second one had ended.
    expect(clock.nowMs()).toBe(300);
  });
});

describe("a client that holds a rebalance back while its batch is held", () => {
  test.each(["revoked", "stopped"])("is released when its partition is %s with records that were not read", async (how) => {
    const inner = memory({ topics: { t: 1 } });
    inner.broker.append("t", ...Array.from({ length: 500 }, (_, i) => ({ key: String(i), value: String(i) })));
    const held: Promise<void>[] = [];
    let sink: DriverSink | undefined;
    const driver = {
      name: "held",
      capabilities: { ...inner.capabilities, awaitsRevoked: false },
      connect: (...[subscription, own]: Parameters<typeof inner.connect>) => {
        sink = own;
        const watched: DriverSink = {
          assigned: (assignments) => own.assigned(assignments),
          revoked: (assignments, why) => own.revoked(assignments, why),
          failed: (error) => own.failed(error),
          batch: (batch) => {
            const taken = own.batch(batch);
            held.push(taken ?? Promise.resolve());
            assignment = batch.assignment;
            return taken;
          },
        };
        return inner.connect(subscription, watched);
      },
    };
    let assignment: PartitionAssignment | undefined;
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const consumer = createConsumer({
      driver,
      groupId: "g",
      topics: ["t"],
      decoder: rowDecoder,
      signals: false,
      delivery: { concurrency: 2 },
    });
    let started = 0;
    const working = new Promise<void>((resolve) => {
      consumer.on("s.t", {
        row: () => {
          started++;
          if (started === 2) {
            resolve();
          }
          return gate;
        },
      });
    });
    const running = consumer.run();
    await working;
    const going = how === "stopped" ? consumer.stop() : sink?.revoked(assignment === undefined ? [] : [assignment], "revoked");
    open();
    await going;
    await Promise.all(held);
    await consumer.stop();
    await running;
    expect(started).toBeLessThan(500);
  });
});
