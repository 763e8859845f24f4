import type { CdcEvent, Decoder, RecordCursor } from "@cdckit/decode";
import { type BrokerFault, memory, MemoryBroker, seededScheduler, virtualClock } from "@cdckit/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { DriverSession, KafkaDriver } from "./driver.ts";
import { isConsumerError } from "./errors.ts";
import { silentLogger } from "./observe/logger.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink } from "./sink.ts";

const words = ["fine", "fine", "slow", "late", "broken", "fails", "stuck", "fine"] as const;

interface Stop {
  readonly seed: number;
  readonly atMs: number;
  readonly hangs: BrokerFault["on"] | "nothing";
  readonly order: readonly (typeof words)[number][];
  readonly concurrency: number;
  readonly how: "stop" | "signal" | "two signals";
}

const stopArbitrary: fc.Arbitrary<Stop> = fc.record({
  seed: fc.nat(),
  atMs: fc.constantFrom(0, 1, 5, 20, 100, 1_000),
  hangs: fc.constantFrom("nothing", "connect", "fetch", "commit", "send"),
  order: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 }),
  concurrency: fc.constantFrom(1, 4),
  how: fc.constantFrom("stop", "signal", "two signals"),
});

const deadlineMs = 5_000;

test("a stop ends within its deadlines, whatever hangs", async () => {
  const ends = { clean: 0, abandoned: 0 };
  await fc.assert(
    fc.asyncProperty(stopArbitrary, async (stop) => {
      const { tookMs, error, listeners } = await stopDuring(stop);
      // The drain, and all that follows it: the last commit and the driver's close, or the driver that still connects.
      expect(tookMs).toBeLessThanOrEqual(2 * deadlineMs);
      expect(error === null || (isConsumerError(error) && error.code === "work-abandoned") ? null : error).toBeNull();
      expect(listeners).toBe(0);
      ends[error === null ? "clean" : "abandoned"]++;
    }),
    { numRuns: 200 },
  );
  expect(ends.clean).toBeGreaterThan(10);
  expect(ends.abandoned).toBeGreaterThan(10);
});

const never = new Promise<never>(() => {});

test.each([
  { hangs: "claim", tookMs: 10_000, driverHasMs: 5_000, error: null }, // nothing is in flight: no drain
  { hangs: "commit", tookMs: 11_000, driverHasMs: 500, error: { code: "work-abandoned" } },
  { hangs: "nothing else", tookMs: 10_000, driverHasMs: 10_000, error: null },
])(
  "what follows the drain has one deadline, if driver and sink do not close: $hangs hangs",
  async ({ hangs, tookMs, driverHasMs, error }) => {
    const clock = virtualClock();
    const broker = new MemoryBroker({ t: 1 }, { clock });
    broker.append("t", { key: "k", value: "fine" });
    const inner = memory({ broker });
    const closes: number[] = [];
    const driver: KafkaDriver = {
      ...inner,
      capabilities: inner.capabilities,
      connect: async (subscription, sink) => {
        const session = await inner.connect(subscription, sink);
        const commit = session.commit.bind(session);
        session.commit = (offsets) => (hangs === "commit" ? never : commit(offsets));
        session.close = (withinMs) => (closes.push(withinMs), never);
        return session;
      },
    };
    const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock, logger: false });
    consumer.to({ name: "sink", claim: async () => (hangs === "claim" ? never : []), apply: async () => {}, close: () => never });
    clock.after(50, () => void consumer.stop());
    const run = consumer.run().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    const thrown = await clock.run(run);
    expect({ tookMs: clock.nowMs() - 50, closes }).toEqual({ tookMs, closes: [driverHasMs] });
    expect(thrown).toEqual(error === null ? null : expect.objectContaining(error));
  },
);

/** A sink whose close lasts 500 ms, and what happened. */
function slowSink(clock: ReturnType<typeof virtualClock>): { readonly sink: Sink; readonly said: string[] } {
  const said: string[] = [];
  const close = async (): Promise<void> => {
    await new Promise<void>((resolve) => void clock.after(500, resolve));
    said.push("the sink is closed");
  };
  return { said, sink: { name: "sink", claim: async () => [], apply: async () => {}, close } };
}

test("stop() resolves when sinks are closed and run() has settled: the process may end then", async () => {
  const clock = virtualClock();
  const { sink, said } = slowSink(clock);
  const driver = memory({ broker: new MemoryBroker({ t: 1 }, { clock }) });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  consumer.to(sink);
  const run = consumer.run().then(() => said.push("run() has settled"));
  await clock.advance(50);
  await clock.run(consumer.stop().then(() => said.push("stop() has resolved")));
  expect(said).toEqual(["the sink is closed", "run() has settled", "stop() has resolved"]);
  await run;
});

test.each<[string, (consumer: Consumer) => Promise<unknown>]>([
  ["was never started", async () => {}],
  [
    "was refused to start",
    (consumer) =>
      consumer
        .on("*", () => {})
        .pipe("t", () => [])
        .run()
        .catch(() => {}),
  ],
])("the sinks of a consumer that %s are closed by stop(), and so by await using", async (_, begin) => {
  const clock = virtualClock();
  const { sink, said } = slowSink(clock);
  const driver = memory({ broker: new MemoryBroker({ t: 1 }, { clock }) });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  await begin(consumer.to(sink));
  await clock.run(consumer[Symbol.asyncDispose]());
  expect(said).toEqual(["the sink is closed"]);
});

test("a sink whose close awaits stop() holds up the end until the deadline, and no longer", async () => {
  const clock = virtualClock();
  const driver = memory({ broker: new MemoryBroker({ t: 1 }, { clock }) });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock, logger: false });
  consumer.to({ name: "sink", claim: async () => [], apply: async () => {}, close: () => consumer.stop() });
  const run = consumer.run();
  await clock.advance(50);
  await clock.run(consumer.stop());
  expect(clock.nowMs()).toBeLessThanOrEqual(50 + 2 * 10_000);
  await run;
});

test("signals that come while the consumer closes leave no timer behind", async () => {
  const clock = virtualClock();
  const inner = memory({ broker: new MemoryBroker({ t: 1 }, { clock }) });
  const timers = new Set<object>();
  const consumer = createConsumer({
    driver: {
      name: "slow",
      capabilities: inner.capabilities,
      connect: async (subscription, sink) => {
        const session = await inner.connect(subscription, sink);
        const close = session.close.bind(session);
        session.close = async (deadlineMs) => {
          for (const signal of ["SIGUSR2", "SIGURG", "SIGURG"] as const) {
            process.emit(signal, signal);
          }
          await close(deadlineMs);
        };
        return session;
      },
    },
    groupId: "g",
    topics: ["t"],
    decoder: wordDecoder,
    signals: ["SIGUSR2", "SIGURG"],
    clock: {
      ...clock,
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs(),
      yieldToEventLoop: () => clock.yieldToEventLoop(),
      after: (delayMs, call) => {
        const timer = {};
        timers.add(timer);
        const cancel = clock.after(delayMs, () => {
          timers.delete(timer);
          call();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    },
  });
  consumer.on("*", () => {});
  clock.after(50, () => void consumer.stop());
  await expect(clock.run(consumer.run())).rejects.toThrow("a second stop signal came");
  expect(timers.size).toBe(0);
});

test("a Ctrl-C that npm passes on a second time does not stop the wait for what is in flight", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "slow" });
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: ["t"],
    decoder: wordDecoder,
    signals: ["SIGUSR2"],
    clock,
  });
  consumer.on("*", async () => {
    process.emit("SIGUSR2", "SIGUSR2");
    clock.after(4, () => process.emit("SIGUSR2", "SIGUSR2"));
    await new Promise<void>((resolve) => void clock.after(5_000, resolve));
  });
  await clock.run(consumer.run());
  expect(broker.committed("g", "t", 0)).toBe(1n);
});

test.each(["connect", "close"] as const)("a second signal stops waiting, also for a driver that hangs in its %s", async (hangs) => {
  const clock = virtualClock();
  const inner = memory({ broker: new MemoryBroker({ t: 1 }, { clock }) });
  const driver: KafkaDriver = {
    ...inner,
    capabilities: inner.capabilities,
    connect: async (subscription, sink) => {
      const session = hangs === "connect" ? await never : await inner.connect(subscription, sink);
      session.close = () => never;
      return session;
    },
  };
  const consumer = createConsumer({
    driver,
    groupId: "g",
    topics: ["t"],
    decoder: wordDecoder,
    signals: ["SIGUSR2"],
    shutdownTimeoutMs: 60_000,
    clock,
  });
  consumer.on("*", () => {});
  const ended = clock.run(
    consumer.run().then(
      () => clock.nowMs(),
      () => clock.nowMs(),
    ),
  );
  clock.after(10, () => process.emit("SIGUSR2", "SIGUSR2"));
  clock.after(1_010, () => process.emit("SIGUSR2", "SIGUSR2"));
  expect(await ended).toBeLessThanOrEqual(3_000);
});

test("a session that comes about after the consumer has stopped leaves the group, and nothing starts", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
  const inner = memory({ broker });
  let asked = 0;
  const driver: KafkaDriver = {
    ...inner,
    capabilities: inner.capabilities,
    connect: async ({ signal: _nobodyHears, ...subscription }, sink) => {
      await new Promise<void>((resolve) => void clock.after(60_000, resolve));
      const session = (await inner.connect(subscription, sink)) as DriverSession & Required<Pick<DriverSession, "ranges">>;
      return {
        commit: (offsets) => session.commit(offsets),
        pause: (assignments) => session.pause(assignments),
        resume: (assignments) => session.resume(assignments),
        ranges: (assignments) => (asked++, session.ranges(assignments)),
        close: (withinMs) => session.close(withinMs),
      };
    },
  };
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  consumer.on("*", () => {});
  clock.after(5, () => void consumer.stop());
  await clock.run(consumer.run());
  await clock.advance(120_000);
  expect(broker.group("g").members).toEqual([]);
  expect(asked).toBe(0);
  const forEver = clock.run(new Promise(() => {}));
  await expect(forEver).rejects.toThrow("nothing is left to run");
});

test("a client that breaks because its join was given up is no failure of the consumer", async () => {
  const inner = memory({ broker: new MemoryBroker({ t: 1 }) });
  const driver: KafkaDriver = {
    ...inner,
    capabilities: inner.capabilities,
    connect: ({ signal }, sink) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          const error = new Error("the sockets were ended");
          sink.failed(error);
          reject(error);
        });
      }),
  };
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false });
  consumer.on("*", () => {});
  const running = consumer.run();
  await consumer.stop();
  await expect(running).resolves.toBeUndefined();
});

async function stopDuring({ seed, atMs, hangs, order, concurrency, how }: Stop): Promise<{
  tookMs: number;
  error: unknown;
  listeners: number;
}> {
  const clock = virtualClock({ scheduler: seededScheduler(seed) });
  const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
  broker.append("t", ...order.map((value, i) => ({ key: `k${i % 3}`, value })));
  const heal = hangs === "nothing" ? () => {} : broker.faults.inject({ on: hangs, how: "hangs", times: Number.POSITIVE_INFINITY });
  const before = process.listenerCount("SIGUSR2");
  const consumer = createConsumer({
    driver: memory({ broker, maxBatchRecords: 3 }),
    groupId: "g",
    topics: ["t"],
    decoder: wordDecoder,
    delivery: { concurrency },
    failure: { poison: "dead-letter", deadLetterTopic: "dead", breaker: false, retry: { initialDelayMs: 1_000 } },
    signals: how === "stop" ? false : ["SIGUSR2", "SIGURG"],
    shutdownTimeoutMs: deadlineMs,
    clock,
  });
  consumer.on("*", (event) => handle(event, (ms) => new Promise((resolve) => void clock.after(ms, resolve))));
  let stoppedMs = 0;
  const end = consumer.run().then(
    () => null,
    (error: unknown) => error,
  );
  clock.after(atMs, () => {
    stoppedMs = clock.nowMs();
    if (how === "stop") {
      void consumer.stop();
      return;
    }
    process.emit("SIGUSR2", "SIGUSR2");
    if (how === "two signals") {
      process.emit("SIGURG", "SIGURG");
    }
  });
  const error = await clock.run(end);
  heal();
  return { tookMs: clock.nowMs() - stoppedMs, error, listeners: process.listenerCount("SIGUSR2") - before };
}

function handle(event: CdcEvent, sleep: (ms: number) => Promise<void>): void | Promise<void> {
  const { word } = event as unknown as { readonly word: (typeof words)[number] };
  if (word === "fails") {
    throw new Error("no");
  }
  if (word === "stuck") {
    return new Promise(() => {});
  }
  return word === "slow" ? sleep(500) : undefined;
}

const wordDecoder: Decoder = {
  decode: () => {
    throw new Error("not used");
  },
  decodeAt: ({ batch, record, valueBytes }: RecordCursor) => {
    const word = Buffer.from(valueBytes ?? []).toString();
    if (word === "broken") {
      throw new Error("it does not decode");
    }
    const ref = { topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) };
    const event = { kind: "unknown", word, schemaId: null, record: ref } as unknown as CdcEvent; // what is read of it
    return word === "late" ? new Promise(() => {}) : [event];
  },
  explain: () => Promise.reject(new Error("not used")),
};

test("if a handler awaits the stop that waits for it, the error names its record and says what to do", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "fine" });
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  consumer.on("*", () => consumer.stop());
  await expect(clock.run(consumer.run())).rejects.toThrow(
    /^\[work-abandoned\] the stop took longer than 10000 ms \(still at work: .* at t\[0\]@0; if it awaits stop\(\), it waits for itself: call stop\(\) there without awaiting it\)/,
  );
});

test("the loop of a stream ends with its stop, even if the brokers never answer for a dead letter of it", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
  broker.append("t", { value: "{" });
  broker.faults.inject({ on: "send", how: "hangs" });
  const failure = { poison: "dead-letter", deadLetterTopic: "dead" } as const;
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], signals: false, clock, failure });
  const reading = consumer.stream().next();
  clock.after(1_000, () => void consumer.stop());
  const error = await clock.run(reading.catch((thrown: unknown) => thrown));
  expect(error).toMatchObject({
    code: "work-abandoned",
    message: expect.stringContaining("(the dead-letter topic dead at t[0]@0 is waited for"),
  });
  expect(clock.nowMs()).toBeLessThan(22_000);
});

test.each<[string, Pick<ConsumerOptions, "delivery">, (consumer: Consumer) => Promise<unknown>]>([
  ["one after the other", {}, (consumer) => consumer.on("*", () => {}).run()],
  ["with concurrency", { delivery: { concurrency: 4 } }, (consumer) => consumer.on("*", () => {}).run()],
  ["of a stream", {}, (consumer) => consumer.stream().next()],
])(
  "a stop does not wait for the dead letter of a partition that was given up, whose next owner writes it again: %s",
  async (_, options, start) => {
    const clock = virtualClock();
    const broker = new MemoryBroker({ t: 1, dead: 1 }, { clock });
    broker.append("t", { value: "broken" });
    broker.faults.inject({ on: "send", how: "hangs" });
    const shared = { driver: memory({ broker }), groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock } as const;
    const consumer = createConsumer({ ...shared, ...options, failure: { poison: "dead-letter", deadLetterTopic: "dead", retry: false } });
    const ended = start(consumer);
    clock.after(1_000, () => void consumer.seek({ topic: "t", partition: 0, offset: 1n }));
    clock.after(30_000, () => void consumer.stop());
    await clock.run(ended);
    expect(clock.nowMs()).toBeLessThan(31_000);
  },
);

test("if a record that must be handled rests between two attempts, the error of a stop names it, and why it failed", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1, gone: 1 }, { clock });
  clock.after(100, () => broker.deleteTopic("gone")); // it is waited for, too, and for longer, but not by the stop
  clock.after(500, () => void broker.append("t", { key: "a", value: '{"id":1}' }, { key: "b", value: '{"id":2}' }));
  const failure = { retry: { attempts: 100, initialDelayMs: 60_000, maxDelayMs: 60_000, jitter: "none" } } as const;
  const options = { driver: memory({ broker }), groupId: "g", topics: ["t", "gone"], signals: false, clock, failure } as const;
  const consumer = createConsumer({ ...options, delivery: { concurrency: 2 } }).on("*", async ({ record }) => {
    if (record.offset === 0n) {
      throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
    }
  });
  const running = consumer.run();
  clock.after(1_000, () => void consumer.stop());
  const error = await clock.run(running.catch((thrown: unknown) => thrown));
  expect(String(error)).toMatch(
    /the stop took longer than 10000 ms \(a handler at t\[0\]@0 is waited for since \S+ \(\d+ s\): 1 failed attempt, the last: connect ECONNREFUSED 127\.0\.0\.1:5432; and 1 more\)/,
  );
});

test("if the brokers do not answer the commit of a stop, the error says so: no handler is at work", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "fine" });
  const driver = memory({ broker });
  const silent: typeof driver = {
    ...driver,
    connect: async (subscription, sink) =>
      Object.assign(await driver.connect(subscription, sink), { commit: () => new Promise<void>(() => {}) }),
  };
  const consumer = createConsumer({ driver: silent, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  consumer.on("*", async () => void consumer.stop());
  await expect(clock.run(consumer.run())).rejects.toThrow(
    "[work-abandoned] the stop took longer than 10000 ms (the brokers have not answered the commit of what was handled): what was not",
  );
});

test("if a consumer halts and the brokers do not answer its last commit, the warning does not say that all records were handled", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "fine" }, { key: "k", value: "bad" });
  const driver = memory({ broker });
  const silent: typeof driver = {
    ...driver,
    connect: async (subscription, sink) =>
      Object.assign(await driver.connect(subscription, sink), { commit: () => new Promise<void>(() => {}) }),
  };
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (...values: readonly unknown[]) => void warnings.push(values.at(-1)) };
  const consumer = createConsumer({ driver: silent, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock, logger });
  consumer.on("*", async ({ record }) => {
    if (record.offset > 0n) {
      throw new Error("it broke");
    }
  });
  await expect(clock.run(consumer.run())).rejects.toThrow("handler-failed");
  expect(warnings).toContainEqual(expect.stringContaining("(the brokers have not answered the commit of what was handled)"));
});

test("a handler that calls stop() without awaiting it ends the consumer, and its record is committed", async () => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "fine" });
  const consumer = createConsumer({ driver: memory({ broker }), groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock });
  consumer.on("*", async () => void consumer.stop());
  await clock.run(consumer.run());
  expect(broker.committed("g", "t", 0)).toBe(1n);
});

test.each([
  ["a handler", {}, (consumer: Consumer) => consumer.on("*", () => consumer.stop())],
  ["a handler with concurrency", { concurrency: 4 }, (consumer: Consumer) => consumer.on("*", () => consumer.stop())],
  ["a handler of batches", { batch: { maxEvents: 2, maxMs: 5 } }, (consumer: Consumer) => consumer.on("*", () => consumer.stop())],
  [
    "a sink",
    {},
    (consumer: Consumer) => consumer.to({ name: "sink", claim: async () => [], apply: () => consumer.stop(), close: async () => {} }),
  ],
] as const)("if %s awaits stop(), a warning and health() name its record a second later", async (_, delivery, attach) => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", { key: "k", value: "fine" });
  const warnings: string[] = [];
  const consumer = createConsumer({
    driver: memory({ broker }),
    groupId: "g",
    topics: ["t"],
    decoder: wordDecoder,
    delivery,
    signals: false,
    clock,
    logger: { debug: () => {}, info: () => {}, error: () => {}, warn: (_fields, text) => void warnings.push(text) },
  });
  attach(consumer);
  const run = consumer.run();
  run.catch(() => {});
  await clock.advance(1_500);
  const warned = /^the stop took longer than 1000 ms \(still at work: .* at t\[0\]@0; if it awaits stop\(\), it waits for itself: /;
  const ofUnknown = "a value that no envelope knows was left out"; // a sink takes no value of that kind
  expect(warnings.filter((text) => text !== ofUnknown)).toEqual([expect.stringMatching(warned)]);
  expect(consumer.health()).toMatchObject({ phase: "draining", reasons: expect.arrayContaining([expect.stringMatching(warned)]) });
  await expect(clock.run(run)).rejects.toThrow(/^\[work-abandoned\]/);
});

test.each([1, 300])("if a loop awaits stop() before done(), a warning names its record a second later: %i batches", async (batches) => {
  const clock = virtualClock();
  const broker = new MemoryBroker({ t: 1 }, { clock });
  broker.append("t", ...Array.from({ length: batches }, () => ({ key: "k", value: "fine" })));
  const warnings: string[] = [];
  const logger = { debug: () => {}, info: () => {}, error: () => {}, warn: (_fields: object, text: string) => void warnings.push(text) };
  const driver = memory({ broker, maxBatchRecords: 1 });
  const consumer = createConsumer({ driver, groupId: "g", topics: ["t"], decoder: wordDecoder, signals: false, clock, logger });
  const loop = (async () => {
    let taken = 0;
    for await (const { done } of consumer.stream()) {
      if (++taken === batches) {
        await consumer.stop();
        done();
      }
    }
  })();
  loop.catch(() => {});
  await clock.advance(1_500);
  expect(warnings).toEqual([
    expect.stringMatching(/ 1000 ms \(still at work: done\(\) of what was handed out at t\[0\]@0; if it awaits stop\(\)/),
  ]);
  await expect(clock.run(loop)).rejects.toThrow(/^\[work-abandoned\]/);
});
