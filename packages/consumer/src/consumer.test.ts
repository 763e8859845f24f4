import { type CdcEvent, DecodeError, type Decoder, type RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, RecordArrayBatch, recordOf, virtualClock } from "@cdckit/testkit";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { Delivery } from "./delivery/stream-dispatcher.ts";
import type { DriverSink, KafkaDriver, PartitionAssignment } from "./driver.ts";
import { isConsumerError } from "./errors.ts";
import type { ConsumerOptions } from "./options.ts";
import type { TableEvent } from "./routing/handlers.ts";

/**
 * Words as events: "create" and similar words are changes of inventory.orders, "heartbeat" is a heartbeat, "nothing" gives no event,
 * "twice" gives two, "broken" does not decode, "fetched" needs a schema first, and the schema of "late" never comes.
 */
const wordDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: (cursor) => eventsOf(cursor),
  explain: () => Promise.reject(new Error("not used")),
};

function eventsOf(cursor: RecordCursor): CdcEvent[] | Promise<CdcEvent[]> {
  const word = Buffer.from(cursor.valueBytes ?? []).toString();
  const { batch, record } = cursor;
  const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
  const base = { kind: "change", op: word, table: { schema: "inventory", name: "orders" }, record: ref };
  const known: Readonly<Record<string, () => CdcEvent[] | Promise<CdcEvent[]>>> = {
    nothing: () => [],
    heartbeat: () => [{ ...base, kind: "heartbeat" } as unknown as CdcEvent], // what the consumer reads of one
    twice: () => [{ ...base, op: "create" } as unknown as CdcEvent, { ...base, op: "update" } as unknown as CdcEvent],
    fetched: () => Promise.resolve([{ ...base, op: "create" } as unknown as CdcEvent]),
    late: () => new Promise(() => {}),
    broken: () => {
      throw new DecodeError("malformed", "not a word");
    },
  };
  return known[word]?.() ?? [base as unknown as CdcEvent];
}

interface Setup {
  readonly broker: MemoryBroker;
  readonly consumer: Consumer;
}

function consumerOf(words: readonly string[], options: Partial<ConsumerOptions> = {}, maxBatchRecords = 4): Setup {
  const broker = new MemoryBroker({ orders: 1 });
  broker.append("orders", ...words.map((value) => ({ value })));
  return { broker, consumer: join(broker, options, maxBatchRecords) };
}

function join(broker: MemoryBroker, options: Partial<ConsumerOptions> = {}, maxBatchRecords = 4): Consumer {
  const driver = memory({ broker, maxBatchRecords });
  return createConsumer({
    driver,
    groupId: "g",
    topics: ["orders"],
    decoder: wordDecoder,
    signals: false,
    failure: { retry: false },
    ...options,
  });
}

function committed(broker: MemoryBroker, partition = 0): bigint | null {
  return broker.committed("g", "orders", partition);
}

function times(count: number, word = "create"): string[] {
  return Array.from({ length: count }, () => word);
}

async function failureOf(running: Promise<unknown>): Promise<Error> {
  return running.then(
    () => new Error("it did not fail"),
    (error: Error) => error,
  );
}

/** Handles every event with `handle`, and stops after so many events. */
function countingTo(
  consumer: () => Consumer,
  last: number,
  handle: (event: CdcEvent) => void | Promise<void>,
): (event: CdcEvent) => void | Promise<void> {
  let seen = 0;
  return (event) => {
    seen++;
    if (seen === last) {
      void consumer().stop();
    }
    return handle(event);
  };
}

describe("run with handlers", () => {
  test("every event is handled once, in offset order, and then committed", async () => {
    const { broker, consumer } = consumerOf(times(10));
    const offsets: bigint[] = [];
    consumer.on("inventory.orders", {
      create: countingTo(
        () => consumer,
        10,
        (event) => void offsets.push(event.record.offset),
      ),
    });
    await consumer.run();
    expect(offsets).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
    expect(committed(broker)).toBe(10n);
  });

  test("the next event of a partition waits for the handler's promise", async () => {
    const { broker, consumer } = consumerOf(times(6));
    let running = 0;
    let max = 0;
    const handle = countingTo(
      () => consumer,
      6,
      async () => {
        running++;
        max = Math.max(max, running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      },
    );
    await consumer.on("*", handle).run();
    expect(max).toBe(1);
    expect(committed(broker)).toBe(6n);
  });

  test("a schema that must be fetched holds the partition, and nothing is skipped", async () => {
    const { broker, consumer } = consumerOf(["create", "fetched", "create", "fetched", "create"]);
    const offsets: bigint[] = [];
    const handle = countingTo(
      () => consumer,
      5,
      (event) => void offsets.push(event.record.offset),
    );
    await consumer.on("*", handle).run();
    expect(offsets).toEqual([0n, 1n, 2n, 3n, 4n]);
    expect(committed(broker)).toBe(5n);
  });

  test("events without a handler, and records without events, are counted and committed", async () => {
    const { broker, consumer } = consumerOf(["update", "heartbeat", "nothing", "twice", "create"]);
    consumer.on("inventory.orders", {
      create: countingTo(
        () => consumer,
        2,
        () => {},
      ),
    });
    await consumer.run();
    expect(committed(broker)).toBe(5n);
    expect(consumer.health().counts).toEqual({
      records: 5,
      events: 5,
      handled: 2,
      filtered: { "table-without-handler": 0, "operation-without-handler": 2, "control-event-without-handler": 1 },
      retries: 0,
      deadLettered: 0,
      lostOffsets: 0,
      recreated: 0,
      reconnects: 0,
      skipped: 0,
    });
  });

  test("batches without records are committed, also if the work on them rests until the event loop has come round", async () => {
    const clock = virtualClock({ turnMs: 1 });
    let busyMs = 0;
    const assignments = Array.from({ length: 31 }, (_, partition) => ({ topic: "orders", partition, epoch: 1 }));
    const [first, ...others] = assignments as [PartitionAssignment, ...PartitionAssignment[]];
    const records = Array.from({ length: 40 }, (_, i) =>
      recordOf(Buffer.from("create"), { topic: "orders", partition: 0, offset: BigInt(i) }),
    );
    const committedTo = new Map<number, bigint>();
    const driver: KafkaDriver = {
      ...memory({ broker: new MemoryBroker({ orders: 31 }, { clock }) }),
      connect: async (_, sink) => {
        clock.after(1, () => {
          sink.assigned(assignments);
          void sink.batch(new RecordArrayBatch({ assignment: first, records }));
          for (const assignment of others) {
            void sink.batch(new RecordArrayBatch({ assignment, records: [], nextOffset: 5n }));
          }
        });
        return {
          commit: async (offsets) => offsets.forEach(({ assignment, offset }) => committedTo.set(assignment.partition, offset)),
          pause: () => {},
          resume: () => {},
          close: async () => {},
        };
      },
    };
    const consumer = createConsumer({
      driver,
      groupId: "g",
      topics: ["orders"],
      decoder: wordDecoder,
      signals: false,
      clock: {
        nowMs: () => clock.nowMs() + busyMs,
        wallMs: () => clock.wallMs() + busyMs,
        after: (delayMs, call) => clock.after(delayMs, call),
        yieldToEventLoop: () => clock.yieldToEventLoop(),
      },
      delivery: { commitIntervalMs: 1 },
    });
    consumer.on("*", ({ record }) => {
      if (record.offset < 39n) {
        return undefined;
      }
      busyMs += 20; // in one turn with the batches that follow
      return new Promise<void>((resolve) => void clock.after(50, resolve));
    });
    clock.after(300, () => void consumer.stop());
    await clock.run(consumer.run());
    expect(committedTo).toEqual(new Map(assignments.map(({ partition }) => [partition, partition === 0 ? 40n : 5n])));
  });

  test.each([
    { concurrency: 1, slot: "create" },
    { concurrency: 4, slot: "create" },
    { concurrency: 1, slot: "batch" },
    { concurrency: 4, slot: "batch" },
  ])("counts never go down, and hold only what went well: $slot, concurrency $concurrency", async ({ concurrency, slot }) => {
    const seen: (readonly [events: number, handled: number])[] = [];
    const retry = { attempts: 5, initialDelayMs: 1, maxDelayMs: 1 };
    const { consumer } = consumerOf(times(40), { delivery: { concurrency }, failure: { retry } });
    let calls = 0;
    const attempt = async (): Promise<void> => {
      const { events, handled } = consumer.health().counts;
      seen.push([events, handled]);
      if (++calls % 3 === 0) {
        throw new Error("now and then");
      }
    };
    consumer.on("inventory.orders", { [slot]: attempt });
    const running = consumer.run();
    await expect.poll(() => consumer.health().counts.handled).toBe(40);
    await consumer.stop();
    await running;
    expect(seen).toEqual(seen.toSorted(([a, b], [c, d]) => a - c || b - d));
    expect(seen[0]?.[1]).toBe(0);
    expect(consumer.health().counts).toMatchObject({ events: 40, handled: 40 });
  });

  test("a failing handler halts before its record, with its place and its cause", async () => {
    for (const how of ["throws", "rejects"]) {
      const { broker, consumer } = consumerOf(times(10), {}, 100);
      const cause = new Error("the database said no");
      consumer.on("*", (event) => {
        if (event.record.offset === 6n) {
          if (how === "throws") {
            throw cause;
          }
          return Promise.reject(cause);
        }
        return undefined;
      });
      const error = await failureOf(consumer.run());
      expect(isConsumerError(error) && error.code).toBe("handler-failed");
      expect(error).toMatchObject({ cause, at: { topic: "orders", partition: 0, offset: 6n } });
      expect(committed(broker)).toBe(6n);
      expect(consumer.health()).toMatchObject({ phase: "stopped", live: false, ready: false });
    }
  });

  test("a record with two events is committed only when both are handled", async () => {
    const { broker, consumer } = consumerOf(["create", "twice", "create"]);
    consumer.on("inventory.orders", {
      create: () => {},
      update: () => {
        throw new Error("no");
      },
    });
    await failureOf(consumer.run());
    expect(committed(broker)).toBe(1n);
  });

  test("a record that does not decode halts the consumer before it", async () => {
    const { broker, consumer } = consumerOf(["create", "create", "broken", "create"]);
    const error = await failureOf(consumer.on("*", () => {}).run());
    expect(error).toMatchObject({ name: "DecodeError", code: "malformed", at: { topic: "orders", partition: 0, offset: 2n } });
    expect((error as Error).message).toBe("[malformed] orders[0]@2: not a word");
    expect(committed(broker)).toBe(2n);
  });

  test("a batch handler gets the table's events of a fetched batch together, before they are committed", async () => {
    const { broker, consumer } = consumerOf([...times(3), "heartbeat", ...times(4, "delete")], {}, 5);
    const batches: string[][] = [];
    consumer.on("inventory.orders", {
      batch: (events: readonly TableEvent[]) => {
        batches.push(events.map((event) => (event.kind === "change" ? event.op : event.kind)));
        expect(committed(broker) ?? 0n).toBeLessThanOrEqual(BigInt(batches.length === 1 ? 0 : 5));
        if (batches.length === 2) {
          void consumer.stop();
        }
      },
    });
    await consumer.run();
    expect(batches).toEqual([
      ["create", "create", "create", "delete"],
      ["delete", "delete", "delete"],
    ]);
    expect(committed(broker)).toBe(8n);
  });

  test("a failing batch handler commits the records before its first event", async () => {
    const { broker, consumer } = consumerOf(["heartbeat", "heartbeat", "create", "heartbeat"]);
    consumer.on("inventory.orders", { batch: () => Promise.reject(new Error("no")) });
    const error = await failureOf(consumer.run());
    expect(error).toMatchObject({ code: "handler-failed", at: { offset: 2n } });
    expect(committed(broker)).toBe(2n);
  });

  test("synchronous handlers take no turn of the event loop between the records of a batch", async () => {
    const { consumer } = consumerOf(times(100), { clock: { ...systemClock, nowMs: () => 0 } }, 100); // a slow machine rests after 10 ms
    let turns = 0;
    const turn = setInterval(() => turns++, 0);
    let between = -1;
    consumer.on("*", (event) => {
      if (event.record.offset === 0n) {
        turns = 0;
      }
      if (event.record.offset === 99n) {
        between = turns;
        void consumer.stop();
      }
    });
    await consumer.run();
    clearInterval(turn);
    expect(between).toBe(0);
  });

  test("a driver that fails halts the consumer with its error", async () => {
    const driver = memory({ topics: { orders: 1 } });
    const error = new Error("the client gave up");
    driver.broker.append("orders", { value: "create" });
    const consumer = createConsumer({ driver, groupId: "g", topics: ["orders"], decoder: wordDecoder });
    consumer.on("*", () => driver.fail(error));
    expect(await failureOf(consumer.run())).toBe(error);
    expect(driver.broker.committed("g", "orders", 0)).toBe(1n);
  });

  test("a topic that does not exist is an error that names it", async () => {
    const broker = new MemoryBroker({ orders: 1 });
    const consumer = join(broker, { topics: ["order"] });
    expect((await failureOf(consumer.on("*", () => {}).run())).message).toContain("order");
  });
});

describe("stop", () => {
  test("records in flight are finished and committed, and the others are left", async () => {
    const { broker, consumer } = consumerOf(times(20), {}, 20);
    let finish = (): void => {};
    const inFlight = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const handled: bigint[] = [];
    const reached = new Promise<void>((resolve) => {
      consumer.on("*", async (event) => {
        if (event.record.offset === 7n) {
          resolve();
          await inFlight;
        }
        handled.push(event.record.offset);
      });
    });
    const running = consumer.run();
    await reached;
    const stopped = consumer.stop();
    expect(consumer.health().phase).toBe("draining");
    finish();
    await Promise.all([running, stopped]);
    expect(handled.at(-1)).toBe(7n);
    expect(committed(broker)).toBe(8n);
  });

  test("a second consumer goes on exactly where the first one stopped", async () => {
    const { broker, consumer } = consumerOf(times(30));
    const offsets: bigint[] = [];
    const keep = (event: CdcEvent): void => void offsets.push(event.record.offset);
    await consumer
      .on(
        "*",
        countingTo(() => consumer, 11, keep),
      )
      .run();
    const second = join(broker);
    await second
      .on(
        "*",
        countingTo(() => second, 19, keep),
      )
      .run();
    expect(offsets).toEqual(Array.from({ length: 30 }, (_, i) => BigInt(i)));
  });

  test("a handler that never ends is abandoned at the deadline, and its record is not committed", async () => {
    const { broker, consumer } = consumerOf(times(5), { shutdownTimeoutMs: 20 });
    consumer.on("*", (event) => {
      if (event.record.offset < 2n) {
        return undefined;
      }
      void consumer.stop();
      return new Promise(() => {});
    });
    const error = await failureOf(consumer.run());
    expect(error).toMatchObject({ code: "work-abandoned" });
    expect(committed(broker)).toBe(2n);
  });

  test("the first signal drains, the second stops waiting, and the process goes on", async () => {
    const { broker, consumer } = consumerOf(times(5), { signals: ["SIGUSR2", "SIGURG"] });
    const listeners = process.listenerCount("SIGUSR2");
    consumer.on("*", (event) => {
      if (event.record.offset < 3n) {
        return undefined;
      }
      process.emit("SIGUSR2", "SIGUSR2");
      process.emit("SIGURG", "SIGURG");
      return new Promise(() => {});
    });
    expect(await failureOf(consumer.run())).toMatchObject({ code: "work-abandoned" });
    expect(committed(broker)).toBe(3n);
    expect(process.listenerCount("SIGUSR2")).toBe(listeners);
  });

  test("a run that fails at its start leaves no listener for signals", async () => {
    const { consumer } = consumerOf([], { signals: ["SIGUSR2"], topics: ["nowhere"] });
    const listeners = process.listenerCount("SIGUSR2");
    expect(await failureOf(consumer.on("*", () => {}).run())).toMatchObject({ message: expect.stringContaining("no topic nowhere") });
    expect(process.listenerCount("SIGUSR2")).toBe(listeners);
  });

  test("one signal ends run() without an error", async () => {
    const { broker, consumer } = consumerOf(times(5), { signals: ["SIGUSR2"] });
    consumer.on("*", (event) => {
      if (event.record.offset === 4n) {
        process.emit("SIGUSR2", "SIGUSR2");
      }
    });
    await consumer.run();
    expect(committed(broker)).toBe(5n);
  });

  test("stopping before the start, twice, and after the end is safe", async () => {
    const { consumer } = consumerOf([]);
    await consumer.stop();
    await consumer.stop();
    expect(await failureOf(consumer.stream().next())).toMatchObject({
      code: "wrong-phase",
      message: expect.stringContaining("was stopped before it was started"),
    });
    expect(() => consumer.on("*", () => {})).toThrow("[wrong-phase] this consumer was stopped before it was started; create a new one");
  });

  test("a second start after one that was refused says that it was refused, and why", async () => {
    const { consumer } = consumerOf([]);
    const refused = await failureOf(consumer.run());
    expect(refused).toMatchObject({ code: "invalid-handler" });
    expect(await failureOf(consumer.run())).toMatchObject({
      code: "wrong-phase",
      message: expect.stringMatching(/failed before it was started.* create a new one/),
      cause: refused,
    });
  });

  test("a stop does not wait for a schema that does not come", async () => {
    const { broker, consumer } = consumerOf(["create", "create", "late", "create"]);
    const seen: bigint[] = [];
    consumer.on("*", ({ record }) => void seen.push(record.offset));
    const running = consumer.run();
    await expect.poll(() => consumer.health().counts.records).toBe(3);
    await consumer.stop();
    await running;
    expect(seen).toEqual([0n, 1n]);
    expect(committed(broker)).toBe(2n);
  });

  test("a second start is refused and does not disturb the first", async () => {
    const { consumer } = consumerOf(times(2));
    const first = consumer.stream();
    (await first.next()).value?.done();
    expect(await failureOf(consumer.stream().next())).toMatchObject({ code: "wrong-phase" });
    expect(consumer.health().phase).toBe("running");
    expect((await first.next()).value?.event.record.offset).toBe(1n);
    await first.return();
  });

  test("a consumer that has run cannot be started again, and takes no more handlers", async () => {
    const { consumer } = consumerOf(times(1));
    consumer.on("*", () => void consumer.stop());
    await consumer.run();
    expect(await failureOf(consumer.run())).toMatchObject({ code: "wrong-phase" });
    expect(() => consumer.on("heartbeat", () => {})).toThrow("[wrong-phase] on() must be called before run()");
  });

  test("running without a handler is refused, because events would be lost", async () => {
    const { consumer } = consumerOf(times(1));
    expect(await failureOf(consumer.run())).toMatchObject({ code: "invalid-handler" });
  });

  // A probe would keep a process for ever whose consumer will never run.
  test.each<[string, (consumer: Consumer) => Promise<unknown>]>([
    ["run() without a handler", (consumer) => consumer.run()],
    ["run() with what is no signal", (consumer) => consumer.on("*", () => {}).run({ signal: {} as AbortSignal })],
    [
      "stream() beside a handler",
      (consumer) =>
        consumer
          .on("*", () => {})
          .stream()
          .next(),
    ],
  ])("%s halts the consumer: it is not live, and says why", async (_, start) => {
    const { consumer } = consumerOf(times(1));
    const { message } = await failureOf(start(consumer));
    expect(consumer.health()).toMatchObject({ phase: "stopped", live: false, ready: false });
    expect(consumer.health().reasons).toContain(message);
    await consumer.stop();
  });
});

describe("rebalance", () => {
  test("a member that joins takes over without a gap and without a duplicate", async () => {
    const broker = new MemoryBroker({ orders: 4 });
    const total = 400;
    broker.append("orders", ...Array.from({ length: total }, (_, i) => ({ value: "create", partition: i % 4 })));
    const seen: string[] = [];
    const consumers = [join(broker), join(broker)];
    let second: Promise<void> | undefined;
    const handle = (event: CdcEvent): void | Promise<void> => {
      seen.push(`${event.record.partition}:${event.record.offset}`);
      if (seen.length === 50) {
        second = consumers[1]?.run();
      }
      if (seen.length === total) {
        for (const consumer of consumers) {
          void consumer.stop();
        }
      }
      return seen.length % 7 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined;
    };
    for (const consumer of consumers) {
      consumer.on("*", handle);
    }
    await consumers[0]?.run();
    await second;
    expect(new Set(seen).size).toBe(total);
    expect(seen.length).toBe(total);
    expect([0, 1, 2, 3].map((partition) => committed(broker, partition))).toEqual([100n, 100n, 100n, 100n]);
  });

  test("what is in flight when a partition is lost is never committed by the member that lost it", async () => {
    const { broker, consumer } = consumerOf(times(3));
    let release = (): void => {};
    let calls = 0;
    const stuck = new Promise<void>((resolve) => {
      consumer.on("*", async (event) => {
        calls++;
        if (calls === 1) {
          resolve();
          await new Promise<void>((free) => {
            release = free;
          });
        } else if (event.record.offset === 2n) {
          void consumer.stop();
        }
      });
    });
    const running = consumer.run();
    await stuck;
    await broker.group("g").expire();
    expect(broker.commits).toEqual([]);
    release();
    await running;
    expect(calls).toBe(4);
    expect(committed(broker)).toBe(3n);
  });
});

describe("stream", () => {
  test("deliveries that are done are committed, up to the first that is not", async () => {
    const { broker, consumer } = consumerOf(times(8));
    const kept: Delivery[] = [];
    for await (const delivery of consumer.stream()) {
      kept.push(delivery);
      if (kept.length === 8) {
        break;
      }
      if (kept.length !== 5) {
        delivery.done();
        delivery.done();
      }
    }
    expect(consumer.health().counts).toMatchObject({ events: 8, handled: 6 }); // what is handed out is not handled yet
    expect(committed(broker)).toBe(4n);
    expect(consumer.health().phase).toBe("stopped");
  });

  test("a stop waits for the deliveries that are handed out", async () => {
    const { broker, consumer } = consumerOf(times(8));
    const seen: bigint[] = [];
    for await (const delivery of consumer.stream()) {
      seen.push(delivery.event.record.offset);
      if (seen.length === 3) {
        void consumer.stop();
        await new Promise((resolve) => setImmediate(resolve));
      }
      delivery.done();
    }
    expect(seen).toEqual([0n, 1n, 2n]);
    expect(committed(broker)).toBe(3n);
  });

  test("if a record does not decode, earlier records are committed and the error is thrown into the loop", async () => {
    const { broker, consumer } = consumerOf(["create", "fetched", "broken"]);
    const reading = async (): Promise<void> => {
      for await (const delivery of consumer.stream()) {
        delivery.done();
      }
    };
    expect(await failureOf(reading())).toMatchObject({ code: "malformed", at: { offset: 2n } });
    expect(committed(broker)).toBe(2n);
  });

  test("a topic that does not exist, and a stop while connecting, end the loop", async () => {
    const broker = new MemoryBroker({ orders: 1 });
    expect(
      (
        await failureOf(
          join(broker, { topics: ["order"] })
            .stream()
            .next(),
        )
      ).message,
    ).toContain("order");
    const consumer = join(broker);
    const next = consumer.stream().next();
    await consumer.stop();
    expect(await next).toMatchObject({ done: true });
  });

  test("a stop ends the loop while a schema does not come", async () => {
    const { broker, consumer } = consumerOf(["create", "late"]);
    for await (const delivery of consumer.stream()) {
      delivery.done();
      setImmediate(() => void consumer.stop());
    }
    expect(committed(broker)).toBe(1n);
  });

  test("a record with two events is committed when both are done, a record with none at once", async () => {
    const { broker, consumer } = consumerOf(["nothing", "twice", "nothing", "create"]);
    const deliveries: Delivery[] = [];
    for await (const delivery of consumer.stream()) {
      deliveries.push(delivery);
      if (deliveries.length === 3) {
        deliveries[1]?.done();
        break;
      }
    }
    expect(committed(broker)).toBe(1n);
  });

  test("batches are taken only until the bytes in flight reach the limit", async () => {
    const { consumer } = consumerOf(times(40), { delivery: { maxInFlightBytes: 50 } });
    const deliveries: Delivery[] = [];
    for await (const delivery of consumer.stream()) {
      deliveries.push(delivery);
      // Batches of 4 records of 6 bytes: the third one reaches the limit, so nothing comes after the twelfth record.
      if (deliveries.length === 12) {
        await new Promise((resolve) => setImmediate(resolve));
        expect(consumer.health().reasons).toEqual(["72 bytes of events wait for done()"]);
        for (const open of deliveries) {
          open.done();
        }
      }
      if (deliveries.length > 12) {
        delivery.done();
      }
      if (deliveries.length === 40) {
        break;
      }
    }
    expect(consumer.health().counts.handled).toBe(40);
  });

  test("no more records are handed out than a restart may repeat, until the first of them is done", async () => {
    const { broker, consumer } = consumerOf(times(8), { delivery: { maxOutOfOrder: 3 } });
    const stream = consumer.stream();
    const take = async (): Promise<Delivery> => {
      const { value } = await stream.next();
      return value as Delivery; // it has not ended
    };
    const [first, second, third] = [await take(), await take(), await take()];
    third.done();
    second.done(); // they are done out of order, and a restart would repeat them
    const fourth = take();
    const waits = "orders[0]@0 waits for done(), and nothing more is handed out: delivery.maxOutOfOrder is 3";
    await expect.poll(() => consumer.health().reasons).toEqual([waits]);
    first.done();
    expect((await fourth).event.record.offset).toBe(3n);
    expect(consumer.health().reasons).toEqual([]);
    const [fifth, sixth] = [await take(), await take()];
    const seventh = take();
    await expect.poll(() => consumer.health().reasons).toEqual([waits.replace("@0", "@3")]);
    [await fourth, fifth, sixth].forEach(({ done }) => done());
    (await seventh).done();
    await stream.return();
    expect(committed(broker)).toBe(7n);
  });

  test("a stop ends the wait for a record that is not done", async () => {
    const { broker, consumer } = consumerOf(times(8), { delivery: { maxOutOfOrder: 1 }, shutdownTimeoutMs: 50 });
    const stream = consumer.stream();
    await stream.next();
    const next = stream.next();
    await expect.poll(() => consumer.health().reasons).toHaveLength(1);
    await consumer.stop();
    await expect(next).rejects.toThrow("[work-abandoned]");
    expect(committed(broker)).toBe(null);
  });

  test.each([
    [{ concurrency: 8 }, "delivery.concurrency would have no effect on stream()"],
    [{ batch: { maxEvents: 5 }, maxInFlight: 2 }, "delivery.batch and delivery.maxInFlight would have no effect on stream()"],
  ])("%j is refused for a stream, where it has no effect", async (delivery, message) => {
    const { consumer } = consumerOf(times(1), { delivery });
    await expect(consumer.stream().next()).rejects.toThrow(`[invalid-option] ${message}`);
  });

  test("what is done makes room for the next batch, while what is not done holds most of the limit of bytes", async () => {
    const { consumer } = consumerOf(times(40), { delivery: { maxInFlightBytes: 50 } });
    const open: Delivery[] = [];
    for await (const delivery of consumer.stream()) {
      open.push(delivery);
      if (open.length > 8) {
        open.shift()?.done(); // two batches of 24 bytes stay open
      }
      if (delivery.event.record.offset === 39n) {
        break;
      }
    }
    expect(consumer.health().counts).toMatchObject({ events: 40, handled: 32 });
  });
});

describe("health", () => {
  test("has a lag of 0 for an empty partition, and for one of which the group has everything", async () => {
    const driver = memory({ topics: { empty: 1, done: 1 } });
    driver.broker.append("done", { value: "{}" });
    const options = { driver, groupId: "g", signals: false, health: { lagIntervalMs: 5 } } as const;
    const first = createConsumer({ ...options, topics: ["done"] });
    first.on("*", () => void first.stop());
    await first.run();
    const second = createConsumer({ ...options, topics: ["empty", "done"] });
    second.on("*", () => {});
    const running = second.run();
    await expect
      .poll(() => second.health().assigned.map(({ topic, lag, handledTo }) => [topic, lag, handledTo]))
      .toEqual(
        expect.arrayContaining([
          ["empty", 0n, null],
          ["done", 0n, null],
        ]),
      );
    await second.stop();
    await running;
  });

  test("has the lag of partitions that start at the latest record of a log with records, without a commit", async () => {
    const driver = memory({ topics: { orders: 1 } });
    driver.broker.append("orders", ...times(3).map((value) => ({ value })));
    const consumer = createConsumer({
      decoder: wordDecoder,
      driver,
      groupId: "g",
      signals: false,
      topics: ["orders"],
      from: "latest",
      health: { lagIntervalMs: 5 },
    });
    let release = (): void => {};
    consumer.on("*", () => new Promise<void>((resolve) => void (release = resolve)));
    const running = consumer.run();
    await expect.poll(() => consumer.health().assigned).toMatchObject([{ lag: 0n, handledTo: null }]);
    driver.broker.append("orders", { value: "create" });
    await expect.poll(() => consumer.health().assigned).toMatchObject([{ lag: 1n, handledTo: null }]);
    release();
    await expect.poll(() => consumer.health().assigned).toMatchObject([{ lag: 0n, handledTo: 4n }]);
    await consumer.stop();
    await running;
  });

  test.each(["latest", "earliest"] as const)("with from %j, is ready as soon as a record that is written then is read", async (from) => {
    const inner = memory({ topics: { orders: 1 } });
    let locate = (): void => {};
    const driver: KafkaDriver = {
      ...inner,
      connect: (subscription, sink) =>
        inner.connect(
          subscription,
          new Proxy(sink, {
            get: (own, name) =>
              name === "startsAt"
                ? (assignment: PartitionAssignment, offset: bigint) => void (locate = () => own.startsAt?.(assignment, offset))
                : ((own[name as keyof DriverSink] as (...args: unknown[]) => unknown).bind(own) as unknown),
          }),
        ),
    };
    const consumer = createConsumer({ driver, groupId: "g", signals: false, topics: ["orders"], from });
    consumer.on("*", () => {});
    const running = consumer.run();
    await expect.poll(() => consumer.health()).toMatchObject({ phase: "running", assigned: [{ partition: 0 }] });
    const waiting = "where the latest record is, is not known yet for 1 of 1 partitions";
    expect(consumer.health()).toMatchObject(from === "latest" ? { ready: false, live: true, reasons: [waiting] } : { ready: true });
    locate();
    expect(consumer.health()).toMatchObject({ ready: true, reasons: [] });
    await consumer.stop();
    await running;
  });

  test("has phase, partitions, lag and progress", async () => {
    const { consumer } = consumerOf(times(6), {}, 2);
    const during = vi.fn();
    consumer.on("*", (event) => {
      if (event.record.offset === 4n) {
        during(consumer.health());
      }
      if (event.record.offset === 5n) {
        void consumer.stop();
      }
    });
    expect(consumer.health()).toMatchObject({ phase: "idle", ready: false, reasons: ["not started"] });
    await consumer.run();
    expect(during).toHaveBeenCalledWith(
      expect.objectContaining({
        phase: "running",
        live: true,
        ready: true,
        assigned: [{ topic: "orders", partition: 0, lag: 2n, handledTo: 4n }],
        reasons: [],
      }),
    );
    expect(consumer.health()).toMatchObject({ phase: "stopped", live: false, ready: false, lastProgressAt: expect.any(Number) });
  });
});
