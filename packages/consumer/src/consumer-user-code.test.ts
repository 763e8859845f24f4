import { type CdcEvent, createDecoder, type Decoder, type RecordCursor } from "@cdckit/decode";
import { memory, MemoryBroker, virtualClock } from "@cdckit/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "./clock.ts";
import { type Consumer, createConsumer } from "./consumer.ts";
import type { OffsetCommit, OutgoingRecord, PartitionAssignment } from "./driver.ts";
import { isConsumerError } from "./errors.ts";
import type { Logger } from "./observe/logger.ts";
import type { ConsumerOptions } from "./options.ts";
import type { Sink, SinkBatch } from "./sink.ts";

/** Every way to consume. */
const modes = {
  "concurrency 1": { delivery: {}, attach: "handler" },
  "concurrency 4": { delivery: { concurrency: 4 }, attach: "handler" },
  "concurrency 16": { delivery: { concurrency: 16 }, attach: "handler" },
  "batch handlers": { delivery: {}, attach: "batch" },
  "batch handlers with limits": { delivery: { concurrency: 4, batch: { maxEvents: 3, maxMs: 10 } }, attach: "batch" },
  stream: { delivery: {}, attach: "stream" },
  sink: { delivery: {}, attach: "sink" },
  pipe: { delivery: {}, attach: "pipe" },
} as const;

type Mode = keyof typeof modes;
const allModes = Object.keys(modes) as Mode[];
const callingModes = allModes.filter((mode) => mode !== "stream"); // there, the loop is the user's own

const rows = Array.from({ length: 12 }, (_, i) => String(i));
const poisonRow = "5";

const outgoing: OutgoingRecord = { topic: "out", key: null, value: Buffer.from("x"), headers: [] };

/** What a test hands over instead of something that works. */
interface Faults {
  /** Around the user's code that takes events: a handler, a batch handler, a sink's `apply`, a pipe function. */
  readonly handle?: (isPoison: boolean) => unknown;
  readonly options?: Partial<ConsumerOptions>;
  readonly clock?: (clock: Clock) => Clock;
  readonly sink?: Partial<Sink>;
  readonly piped?: unknown;
  readonly decodeAt?: (cursor: RecordCursor, decoded: readonly CdcEvent[]) => unknown;
}

interface Outcome {
  /** What `run()` rejected with. Null if it ran to the end. */
  readonly error: unknown;
  readonly health: ReturnType<Consumer["health"]>;
}

function rowOf(event: CdcEvent): string {
  return event.kind === "row" ? String(event.row["n"] ?? poisonRow) : poisonRow;
}

class Trial {
  readonly clock = virtualClock();
  readonly broker = new MemoryBroker({ t: 1, dead: 1, out: 1 }, { clock: this.clock });
  readonly handled = new Set<string>();

  constructor() {
    this.broker.append("t", ...rows.map((n) => ({ key: `k${n}`, value: JSON.stringify({ n: Number(n) }) })));
  }

  /** Runs until everything is committed, the consumer has halted, or nothing is left to run. */
  async run(mode: Mode, faults: Faults, withinMs = 600_000): Promise<Outcome> {
    const { delivery, attach } = modes[mode];
    const consumer = createConsumer({
      driver: memory({ broker: this.broker, maxBatchRecords: 4 }),
      groupId: "g",
      topics: ["t"],
      decoder: faults.decodeAt === undefined ? { topics: { t: { table: { schema: "s", name: "t" } } } } : decoderOf(faults.decodeAt),
      signals: false,
      clock: faults.clock?.(this.clock) ?? this.clock,
      random: () => 0.5,
      delivery,
      ...faults.options,
    });
    const ended = attach === "stream" ? this.#stream(consumer) : this.#run(consumer, attach, faults);
    this.#stopAtTheEnd(consumer);
    const error = await this.clock.run(
      ended.then(
        () => null,
        (thrown: unknown) => thrown ?? new Error("rejected with nothing"),
      ),
      { withinMs },
    );
    return { error, health: consumer.health() };
  }

  #stopAtTheEnd(consumer: Consumer): void {
    this.clock.after(50, () => {
      if (this.broker.committed("g", "t", 0) === this.broker.endOffset("t", 0)) {
        void consumer.stop();
      } else if (consumer.health().phase !== "stopped") {
        this.#stopAtTheEnd(consumer);
      }
    });
  }

  #run(consumer: Consumer, attach: "handler" | "batch" | "sink" | "pipe", faults: Faults): Promise<void> {
    const take = (events: readonly CdcEvent[]): unknown => {
      const result = faults.handle?.(events.some((event) => rowOf(event) === poisonRow));
      for (const event of events) {
        this.handled.add(rowOf(event));
      }
      return result;
    };
    if (attach === "handler") {
      consumer.on("*", (event) => take([event]) as undefined);
    } else if (attach === "batch") {
      consumer.on("s.t", { batch: (events) => take(events) as undefined });
    } else if (attach === "sink") {
      consumer.to(this.#sink(take, faults.sink));
    } else {
      consumer.pipe("s.t", (events) => {
        const result = take(events as readonly CdcEvent[]);
        return (result ?? ("piped" in faults ? faults.piped : events.map(piped))) as OutgoingRecord[];
      });
    }
    return consumer.run();
  }

  #sink(take: (events: readonly CdcEvent[]) => unknown, faults: Partial<Sink> = {}): Sink {
    return {
      name: "probe",
      claim: async (_group, assignments) => assignments.map((assignment): OffsetCommit => ({ assignment, offset: 0n })),
      apply: ({ events }: SinkBatch) => take(events) as Promise<void>,
      close: async () => {},
      ...faults,
    };
  }

  async #stream(consumer: Consumer): Promise<void> {
    for await (const { event, done } of bound(consumer.stream())) {
      this.handled.add(rowOf(event));
      done();
    }
  }

  /** Rows that were neither handled nor set aside, and that nobody will read again. */
  lost(): string[] {
    const committed = Number(this.broker.committed("g", "t", 0) ?? 0n);
    const dead = this.broker.read("dead", 0, 0n, 100).map(({ value }) => String(JSON.parse(Buffer.from(value ?? []).toString()).n));
    return rows.slice(0, committed).filter((row) => !this.handled.has(row) && !dead.includes(row));
  }
}

async function* bound(deliveries: AsyncIterable<{ readonly event: CdcEvent; done(): void }>) {
  for await (const delivery of deliveries) {
    yield { event: delivery.event, done: () => delivery.done() };
  }
}

function piped(): OutgoingRecord {
  return outgoing;
}

function decoderOf(decodeAt: NonNullable<Faults["decodeAt"]>): Decoder {
  const inner = createDecoder({ topics: { t: { table: { schema: "s", name: "t" } } } });
  return {
    decode: (record) => inner.decode(record),
    explain: (record) => inner.explain(record),
    decodeAt: (cursor) => decodeAt(cursor, inner.decodeAt(cursor) as readonly CdcEvent[]) as readonly CdcEvent[],
  };
}

function isPoison({ batch, record }: RecordCursor): boolean {
  return batch.offsetAt(record) === BigInt(poisonRow);
}

const fails = (): never => {
  throw new Error("a trap");
};

/** What code may throw that is no error. */
const thrownValues: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  "a number": () => 5,
  "a symbol": () => Symbol("thrown"),
  "a function": () => fails,
  "a frozen error": () => Object.freeze(new Error("frozen")),
  "an object without a prototype": () => Object.create(null) as unknown,
  "an object whose toString throws": () => ({ toString: fails, [Symbol.toPrimitive]: fails }),
  "an error whose code throws": () => Object.defineProperty(new Error("code"), "code", { get: fails }),
  "an error whose message throws": () => Object.defineProperty(new Error("message"), "message", { get: fails }),
  "an error whose name throws": () => Object.defineProperty(new Error("name"), "name", { get: fails }),
  "an error whose cause throws": () => Object.defineProperty(new Error("cause"), "cause", { get: fails }),
  "an error whose stack throws": () => Object.defineProperty(new Error("stack"), "stack", { get: fails }),
  "an error whose status throws": () => Object.defineProperty(new Error("status"), "status", { get: fails }),
  "an error whose members are of other types": () => Object.assign(new Error("x"), { message: 5, name: {}, stack: [], code: {}, cause: 7 }),
  "an error that is its own cause": () => {
    const error = new Error("circle");
    return Object.assign(error, { cause: error });
  },
  "a proxy whose traps throw": () =>
    new Proxy(new Error("proxy"), { get: fails, has: fails, getPrototypeOf: fails, ownKeys: fails, getOwnPropertyDescriptor: fails }),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "what calls itself a DecodeError": () => Object.assign(new Error("forged"), { [Symbol.for("@cdckit/decode/DecodeError")]: true }),
  "what calls itself a DecodeError of an unknown code": () =>
    Object.assign(new Error("forged"), { [Symbol.for("@cdckit/decode/DecodeError")]: true, code: "__proto__" }),
  "what calls itself a ConsumerError": () =>
    Object.defineProperty(Object.assign(new Error("forged"), { [Symbol.for("@cdckit/consumer/ConsumerError")]: true }), "code", {
      get: fails,
    }),
};

const thenName = ["th", "en"].join(""); // the linter refuses the word itself

function thenable(then: unknown): object {
  return Object.fromEntries([[thenName, then]]);
}

/** What a function may return that is to be awaited, and is no promise of the language's own. */
const thenables: Readonly<Record<string, () => unknown>> = {
  "whose then throws": () => thenable(fails),
  "whose getter of then throws": () => Object.defineProperty({}, thenName, { get: fails }),
  "that calls both callbacks": () =>
    thenable((resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
      reject(new Error("first"));
      resolve(undefined);
      reject(new Error("third"));
    }),
  "that throws after it has resolved": () =>
    thenable((resolve: (value: unknown) => void) => {
      resolve(undefined);
      throw new Error("late");
    }),
  "that rejects with nothing": () => Promise.reject(undefined),
  "that is a proxy of a promise": () => new Proxy(Promise.resolve(), {}),
  "whose constructor throws": () => Object.defineProperty(Promise.resolve(), "constructor", { get: fails }),
};

const halt: Partial<ConsumerOptions> = {};
const setAside: Partial<ConsumerOptions> = {
  failure: { poison: "dead-letter", deadLetterTopic: "dead", breaker: false, retry: { attempts: 2 } },
};

const unhandled: unknown[] = [];
const remember = (error: unknown): void => void unhandled.push(error);

describe("user code that fails", () => {
  beforeAll(() => void process.on("unhandledRejection", remember));
  afterAll(() => void process.off("unhandledRejection", remember));

  /** Runs with the faults, then without: nothing may be lost, nobody left waiting, no rejection unhandled. */
  async function tryOut(
    mode: Mode,
    faults: Faults,
    expected: { readonly codes?: readonly string[]; readonly halts?: boolean },
  ): Promise<Outcome> {
    unhandled.length = 0;
    const trial = new Trial();
    const outcome = await trial.run(mode, faults);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    expect(trial.lost()).toEqual([]);
    if (outcome.error !== null) {
      expect(isConsumerError(outcome.error) ? outcome.error.code : outcome.error).toBeOneOf([...(expected.codes ?? [])]);
    }
    if (expected.halts !== undefined) {
      expect(outcome.error !== null).toBe(expected.halts);
    }
    expect(outcome.health.phase).toBe("stopped");
    const { error } = await trial.run(mode, {});
    expect(error).toBe(null);
    expect(trial.lost()).toEqual([]);
    expect(trial.broker.committed("g", "t", 0)).toBe(BigInt(rows.length));
    return outcome;
  }

  for (const mode of callingModes) {
    for (const [name, make] of Object.entries(thrownValues)) {
      test(`${mode}: what takes events throws ${name}, or rejects with it`, async () => {
        const throws = (poison: boolean): void => {
          if (poison) {
            throw make();
          }
        };
        const rejects = (poison: boolean): unknown => (poison ? Promise.reject(make()) : undefined);
        await tryOut(mode, { handle: throws, options: halt }, { codes: ["handler-failed", "sink-failed"], halts: true });
        await tryOut(mode, { handle: rejects, options: setAside }, { halts: false });
      });
    }
    for (const [name, make] of Object.entries(thenables)) {
      test(`${mode}: what takes events returns a thenable ${name}`, async () => {
        const handle = (poison: boolean): unknown => (poison ? make() : undefined);
        await tryOut(mode, { handle, options: setAside }, { codes: ["sink-failed"] });
      });
    }
  }

  for (const mode of callingModes) {
    test(`${mode}: a function with a then is awaited, as an object with one is: nothing is committed before it is done`, async () => {
      const trial = new Trial();
      const committedBefore: (bigint | null)[] = [];
      const later = (resolve: (value: unknown) => void): void =>
        void trial.clock.after(60_000, () => {
          committedBefore.push(trial.broker.committed("g", "t", 0));
          resolve([]);
        });
      const returned = (): object => Object.defineProperty(() => {}, thenName, { value: later });
      const { error } = await trial.run(mode, { handle: (isPoison) => (isPoison ? returned() : undefined) });
      expect(error).toBe(null);
      expect(committedBefore).toHaveLength(1);
      expect(committedBefore[0] ?? 0n).toBeLessThanOrEqual(BigInt(poisonRow));
    });
  }

  test("an isRetriable that throws or gives no answer that it may ends the run with a typed error", async () => {
    const throws = (error: unknown): boolean => (error as { response: { status: number } }).response.status >= 500;
    const givesPromise = (): never => Promise.reject(new Error("asynchronous")) as never;
    const givesNull = (): never => null as never; // as false, it would make a dead letter of what is retried
    const givesText = (): never => "no" as never;
    const handle = (poison: boolean): void => {
      if (poison) {
        throw new Error("no response");
      }
    };
    for (const mode of callingModes) {
      for (const isRetriable of [throws, givesPromise, givesNull, givesText]) {
        const { error } = await tryOut(
          mode,
          { handle, options: { failure: { isRetriable } } },
          { codes: ["callback-failed"], halts: true },
        );
        expect(String(error), mode).toContain("failure.isRetriable");
        expect(String(error), mode).toContain("t[0]@");
      }
    }
  });

  for (const mode of allModes) {
    for (const [name, make] of Object.entries(thrownValues)) {
      test(`${mode}: a decoder throws ${name}, or rejects with it`, async () => {
        const throws: Faults["decodeAt"] = (cursor, decoded) => {
          if (isPoison(cursor)) {
            throw make();
          }
          return decoded;
        };
        const rejects: Faults["decodeAt"] = (cursor, decoded) => (isPoison(cursor) ? Promise.reject(make()) : decoded);
        await tryOut(mode, { decodeAt: rejects, options: halt }, { codes: ["decoder-failed"], halts: true });
        await tryOut(mode, { decodeAt: throws, options: setAside }, { halts: false });
      });
    }
    test(`${mode}: a decoder gives what are no events`, async () => {
      for (const given of [
        ...Object.values(thenables).map((make) => make),
        () => undefined,
        () => null,
        () => 5,
        () => Promise.resolve("no"),
      ]) {
        const decodeAt: Faults["decodeAt"] = (cursor, decoded) => (isPoison(cursor) ? given() : decoded);
        await tryOut(mode, { decodeAt, options: setAside }, { codes: [], halts: false });
      }
    });
    test(`${mode}: an event's members throw`, async () => {
      for (const member of ["kind", "table", "record", "op", "schemaId"]) {
        for (const kind of ["row", "change"]) {
          const event = Object.defineProperty({ kind, row: {}, table: { name: "t", schema: "s" } }, member, { get: fails });
          const decodeAt: Faults["decodeAt"] = (cursor, decoded) => (isPoison(cursor) ? [event] : decoded);
          if (modes[mode].attach !== "stream") {
            await tryOut(mode, { decodeAt, options: setAside }, { codes: [] });
          }
        }
      }
    });
    test(`${mode}: a logger throws, or rejects`, async () => {
      for (const method of ["debug", "info", "warn", "error"] as const) {
        for (const log of [fails, () => Promise.reject(new Error("no disk"))]) {
          const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
          const logger = { ...silent, [method]: log };
          const handle = once(() => new Error("not yet"));
          const { health } = await tryOut(mode, { handle, options: { logger } }, { codes: [], halts: false });
          expect(health.reasons.some((reason) => reason.includes("logger"))).toBe(
            method === "debug" || method === "info" || (method === "warn" && mode !== "stream"),
          );
        }
      }
    });
    test(`${mode}: what is logged cannot be read`, async () => {
      const lines: unknown[] = [];
      const log = (fields: unknown): void =>
        void lines.push(JSON.stringify(fields, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
      const logger: Logger = { debug: log, info: log, warn: log, error: log };
      for (const make of Object.values(thrownValues)) {
        await tryOut(mode, { handle: once(make), options: { logger, failure: { isRetriable: () => true } } }, { codes: [], halts: false });
      }
    });
    for (const method of ["nowMs", "wallMs", "after", "yieldToEventLoop"] as const) {
      test(`${mode}: the clock's ${method} throws`, async () => {
        const handle = once(() => new Error("not yet"));
        await tryOut(mode, { handle, clock: (clock) => clockWith(clock, { [method]: fails }) }, { codes: ["callback-failed"] });
      });
    }
    test(`${mode}: the clock and random give no numbers`, async () => {
      const handle = once(() => new Error("not yet"));
      for (const random of [() => Number.NaN, () => 1, fails]) {
        await tryOut(mode, { handle, options: { random } }, { codes: ["callback-failed"] });
      }
      for (const broken of [
        { nowMs: () => Number.NaN },
        { after: () => undefined as never },
        { yieldToEventLoop: () => Promise.reject(undefined) },
      ]) {
        await tryOut(mode, { handle, clock: (clock) => clockWith(clock, broken) }, { codes: ["callback-failed"] });
      }
    });
    test(`${mode}: telemetry throws wherever it is asked`, async () => {
      for (const place of ["startSpan", "with", "setStatus", "end", "add", "record", "extract"]) {
        await tryOut(
          mode,
          { handle: once(() => new Error("not yet")), options: { telemetry: { opentelemetry: telemetryThatFailsAt(place) } } },
          { codes: [], halts: false },
        );
      }
    });
    test(`${mode}: a source of schemas throws`, async () => {
      for (const registry of [
        { peek: fails, load: fails },
        { peek: () => undefined, load: () => Promise.reject(Object.defineProperty(new Error("no"), "code", { get: fails })) },
      ]) {
        const trial = new Trial();
        trial.broker.append("t", { key: null, value: Buffer.from([0, 0, 0, 0, 1, 2]) });
        const outcome = trial.run(mode, { options: { registry } }, 30_000);
        if (registry.peek === fails) {
          expect((await outcome).error).toMatchObject({ code: "decoder-failed", cause: { code: "callback-failed" } });
        } else {
          await expect(outcome).rejects.toThrow(/within/); // an outage is waited for
        }
        expect(trial.lost()).toEqual([]);
      }
    });
  }

  for (const [name, make] of Object.entries(thrownValues)) {
    test(`a sink's claim throws, rejects with, or gives ${name}`, async () => {
      for (const claim of [
        () => {
          throw make();
        },
        () => Promise.reject(make()),
        () => Promise.resolve(make()),
        make,
      ] as unknown as Sink["claim"][]) {
        await tryOut("sink", { sink: { claim } }, { codes: ["sink-failed"] });
      }
    });
    test(`a sink's close and schemaSeen throw ${name}`, async () => {
      const close = (): never => {
        throw make();
      };
      await tryOut("sink", { sink: { close } }, { halts: false });
      await tryOut("sink", { sink: { close: () => Promise.reject(make()) } }, { halts: false });
      await tryOut("sink", { sink: { close }, handle: () => fails() }, { codes: ["sink-failed"], halts: true });
    });
  }

  test("a sink's claim gives a checkpoint of an assignment that it was not given, or of a copy, two of one, or none that can be", async () => {
    const claims: Sink["claim"][] = [
      async (_, [assignment]) => [{ assignment: { ...(assignment as PartitionAssignment) }, offset: 3n }],
      async () => [{ topic: "t", partition: 0, offset: 3n } as unknown as OffsetCommit],
      async () => [{ assignment: { topic: "other", partition: 7 } as PartitionAssignment, offset: 3n }],
      async (_, [assignment]) => [0n, 3n].map((offset) => ({ assignment: assignment as PartitionAssignment, offset })),
      async (_, [assignment]) => [{ assignment: assignment as PartitionAssignment, offset: -5n }],
    ];
    for (const claim of claims) {
      const { error } = await tryOut("sink", { sink: { claim } }, { codes: ["sink-failed"], halts: true });
      expect(String((error as Error).cause)).toContain("not a copy");
    }
  });

  test("a sink rejects without a reason, and its error does not name a cause", async () => {
    const { error } = await tryOut("sink", { handle: () => Promise.reject(undefined) }, { codes: ["sink-failed"], halts: true });
    expect((error as Error).message).toMatch(/; it threw undefined, which does not say why, and/);
  });

  test("a pipe function returns something other than records", async () => {
    for (const piped of [
      null,
      undefined,
      5,
      "text",
      {},
      [null],
      [5],
      [{ topic: 5 }],
      [{ topic: "out", value: "text" }],
      [{ topic: "out", key: null, value: null, headers: 5 }],
      [{ ...outgoing, partition: "0" }],
      [{ ...outgoing, partition: -1 }],
      [{ ...outgoing, timestamp: 1_700_000_000_000 }],
      [{ ...outgoing, timestamp: 2n ** 63n }],
    ]) {
      await tryOut("pipe", { piped }, { codes: ["sink-failed"], halts: true });
    }
  });

  test("a validator throws, or returns nothing or a thenable", async () => {
    for (const validate of [fails, () => null, () => undefined, () => 5, () => thenable(fails), () => Promise.reject(undefined)]) {
      const trial = new Trial();
      const consumer = createConsumer({
        driver: memory({ broker: trial.broker }),
        groupId: "g",
        topics: ["t"],
        signals: false,
        clock: trial.clock,
        decoder: { topics: { t: { table: { schema: "s", name: "t" } } } },
        failure: { retry: false },
      });
      const schema = { "~standard": { version: 1, vendor: "test", validate: validate as never } } as const;
      const seen: unknown[] = [];
      consumer.on("s.t", { row: (event) => void seen.push(event.row) }, { row: schema, key: schema });
      unhandled.length = 0;
      await expect(trial.clock.run(consumer.run())).rejects.toMatchObject({ code: "handler-failed" });
      expect(seen).toEqual([]);
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    }
  });
});

/** Fails the first time and works from then on. */
function once(make: () => unknown): (isPoison: boolean) => void {
  let hasFailed = false;
  return (poison) => {
    if (poison && !hasFailed) {
      hasFailed = true;
      throw make();
    }
  };
}

function clockWith(clock: Clock, faults: Partial<Clock>): Clock {
  return {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    after: (delayMs, call) => clock.after(delayMs, call),
    yieldToEventLoop: () => clock.yieldToEventLoop(),
    ...faults,
  };
}

function telemetryThatFailsAt(place: string): never {
  const at = (name: string, works: unknown) => (place === name ? fails : works);
  const span = { setStatus: at("setStatus", () => {}), setAttribute: () => {}, end: at("end", () => {}) };
  return {
    trace: {
      getTracer: () => ({ startSpan: at("startSpan", () => span) }),
      getSpan: () => undefined,
      getSpanContext: () => ({}),
      setSpan: () => ({}),
      deleteSpan: () => ({}),
    },
    metrics: {
      getMeter: () => ({
        createCounter: () => ({ add: at("add", () => {}) }),
        createHistogram: () => ({ record: at("record", () => {}) }),
      }),
    },
    context: { active: () => ({}), with: at("with", (_: unknown, run: () => unknown) => run()) },
    propagation: { extract: at("extract", () => ({})), fields: () => ["traceparent"] },
  } as never;
}
